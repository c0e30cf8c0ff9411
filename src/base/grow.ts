// Growable typed columns: arrays that are appended to while parsing and trimmed once at the end.
// Hot loops hoist `.data` into a local and call `grow` themselves; everyone else uses `push`. And
// larger copies of typed arrays, and plain lists that take in others of any length.

/** A copy with room for `length` entries, of which those that are new hold `fill`. */
export function enlarged<A extends Int8Array | Uint8Array | Int32Array | Float64Array>(
  array: A,
  length: number,
  fill = 0,
): A {
  const larger = new (array.constructor as new (length: number) => A)(length)
  if (fill !== 0) larger.fill(fill, array.length)
  larger.set(array)
  return larger
}

type Column = Int32Array | Uint8Array | Float64Array

/** What columns share. Each has a `push` of its own, which so meets arrays of one type alone. */
abstract class GrowingColumn<A extends Column> {
  length = 0

  constructor(public data: A) {}

  /** Makes room for at least `capacity` entries; growth is geometric. */
  grow(capacity: number): void {
    if (capacity <= this.data.length) return
    this.data = enlarged(this.data, Math.max(capacity, Math.ceil(this.data.length * 1.75)))
  }

  /** The entries so far, without copying. */
  view(): A {
    return this.data.subarray(0, this.length) as A
  }
}

export class IntColumn extends GrowingColumn<Int32Array> {
  constructor(capacity = 1024) {
    super(new Int32Array(Math.max(16, capacity)))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }
}

export class ByteColumn extends GrowingColumn<Uint8Array> {
  constructor(capacity = 1024) {
    super(new Uint8Array(Math.max(16, capacity)))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }
}

export class FloatColumn extends GrowingColumn<Float64Array> {
  constructor(capacity = 1024) {
    super(new Float64Array(Math.max(16, capacity)))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }
}

/** Adds any number of items; `list.push(...items)` overflows the stack from some 100,000 on. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}

/** The largest number, or `least` if none is larger; `Math.max(...numbers)` overflows likewise. */
export function largest(numbers: Iterable<number>, least: number): number {
  let most = least
  for (const number of numbers) if (number > most) most = number
  return most
}
