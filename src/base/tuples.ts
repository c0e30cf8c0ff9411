// Maps and sets by several parts at once, compared one by one: nothing is glued together to a text
// that another key could have, too. Main structures: TupleMap, TupleSet.

import { obtain } from './maps.ts'

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
