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

/** An appendable Int32Array. */
export class IntColumn {
  data: Int32Array
  length = 0

  constructor(capacity = 1024) {
    this.data = new Int32Array(Math.max(16, capacity))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }

  /** Makes room for at least `capacity` entries; growth is geometric. */
  grow(capacity: number): void {
    if (capacity <= this.data.length) return
    this.data = enlarged(this.data, Math.max(capacity, Math.ceil(this.data.length * 1.75)))
  }

  /** The entries so far, without copying. */
  view(): Int32Array {
    return this.data.subarray(0, this.length)
  }
}

/** An appendable Uint8Array. */
export class ByteColumn {
  data: Uint8Array
  length = 0

  constructor(capacity = 1024) {
    this.data = new Uint8Array(Math.max(16, capacity))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }

  grow(capacity: number): void {
    if (capacity <= this.data.length) return
    this.data = enlarged(this.data, Math.max(capacity, Math.ceil(this.data.length * 1.75)))
  }

  view(): Uint8Array {
    return this.data.subarray(0, this.length)
  }
}

/** An appendable Float64Array. */
export class FloatColumn {
  data: Float64Array
  length = 0

  constructor(capacity = 1024) {
    this.data = new Float64Array(Math.max(16, capacity))
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1)
    this.data[this.length++] = value
  }

  grow(capacity: number): void {
    if (capacity <= this.data.length) return
    this.data = enlarged(this.data, Math.max(capacity, Math.ceil(this.data.length * 1.75)))
  }

  view(): Float64Array {
    return this.data.subarray(0, this.length)
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
