// Larger copies of typed arrays. Callers double, so that growth costs a constant per element.

export function resizeInt32(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length)
  larger.set(array)
  return larger
}

export function resizeInt8(array: Int8Array, length: number): Int8Array<ArrayBuffer> {
  const larger = new Int8Array(length)
  larger.set(array)
  return larger
}

export function resizeFloat64(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length)
  larger.set(array)
  return larger
}
