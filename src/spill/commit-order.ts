// An order of all transactions of a history on disk. The file's own order takes no memory.

export interface CommitOrder {
  readonly txnAt: Int32Array | null // position -> transaction; null: the same number
  readonly position: Int32Array | null // transaction -> position; null: the same number
}

export const FILE_ORDER: CommitOrder = { txnAt: null, position: null }

export function orderOf(txnAt: Int32Array): CommitOrder {
  const position = new Int32Array(txnAt.length)
  for (let at = 0; at < txnAt.length; at++) position[txnAt[at]!] = at
  return { txnAt, position }
}

/** Transactions of a bucket, by their positions. */
export function sortByPosition(txns: Int32Array, { position }: CommitOrder): Int32Array {
  const count = txns.length
  // Position and number as one number, of at most 53 bits.
  const keys = new Float64Array(count)
  let isSorted = true
  for (let i = 0; i < count; i++) {
    const at = position === null ? txns[i]! : position[txns[i]!]!
    keys[i] = at * 2 ** 22 + (i & (2 ** 22 - 1))
    if (i > 0 && keys[i]! < keys[i - 1]!) isSorted = false
  }
  const sorted = new Int32Array(count)
  if (isSorted) {
    for (let i = 0; i < count; i++) sorted[i] = i
    return sorted
  }
  if (count > 2 ** 22) return Int32Array.from(txns.keys()).sort(byPosition(txns, position))
  keys.sort()
  for (let i = 0; i < count; i++) sorted[i] = keys[i]! % 2 ** 22
  return sorted
}

function byPosition(txns: Int32Array, position: Int32Array | null) {
  return (a: number, b: number) =>
    position === null ? txns[a]! - txns[b]! : position[txns[a]!]! - position[txns[b]!]!
}
