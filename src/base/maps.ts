// Maps whose entries are made when they are first asked for, and maps by several parts at once,
// which are compared one by one: glued together to a text, two keys could be the same. Main
// functions: obtain, addTo; main structures: TupleMap, TupleSet.

interface Entries<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** The entry of that key, made on first use. */
export function obtain<K, V>(map: Entries<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** Adds an item to the list of that key. */
export function addTo<K, V>(map: Map<K, V[]>, key: K, item: V): void {
  obtain(map, key, (): V[] => []).push(item)
}

/** The beginning of keys: what may come next, and what that leads to. */
interface Beginning extends Map<unknown, Beginning> {}

export class TupleMap<K extends readonly unknown[], V> {
  private readonly root: Beginning = new Map()
  private readonly entries = new Map<Beginning, V>() // a whole key -> its value

  get size(): number {
    return this.entries.size
  }

  get(key: K): V | undefined {
    let at: Beginning | undefined = this.root
    for (const part of key) at = at?.get(part)
    return at && this.entries.get(at)
  }

  set(key: K, value: V): void {
    let at = this.root
    for (const part of key) at = obtain(at, part, (): Beginning => new Map())
    this.entries.set(at, value)
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  /** In the order in which their keys came. */
  values(): Iterable<V> {
    return this.entries.values()
  }
}

export class TupleSet<K extends readonly unknown[]> extends TupleMap<K, true> {
  add(key: K): void {
    this.set(key, true)
  }
}
