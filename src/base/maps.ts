// Maps whose entries are made when they are first asked for. Main functions: obtain, addTo.

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
