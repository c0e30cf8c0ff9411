// Every small program of sessions, transactions and operations, the smallest first, up to renaming
// of keys and exchanging sessions: what is read is not chosen yet. An operation is a code,
// kind * KEYS + key. Main function: skeletons.

export const KEYS = 3

export interface Skeleton {
  /** Transactions, session by session; each a list of codes. */
  readonly txns: readonly (readonly number[])[]
  /** How many of them each session has. */
  readonly sessions: readonly number[]
}

export interface Bounds {
  /** Operations in all. */
  readonly ops: number
  readonly kinds: number
  /** Kinds that touch no single key: their key is always 0. */
  readonly keyless?: readonly number[]
  /** Whether transactions of one session differ from those of several. */
  readonly hasSessions: boolean
  /** Which transactions make sense. */
  readonly isSound?: (ops: readonly number[]) => boolean
}

/** All of `bounds.ops` operations, those of few transactions first. */
export function* skeletons(bounds: Bounds): Generator<Skeleton> {
  for (let count = 1; count <= bounds.ops; count++) {
    for (const sessions of sessionsOf(count, bounds.hasSessions)) {
      for (const sizes of splits(bounds.ops, count)) {
        if (!isOrdered(sizes, sessions)) continue
        for (const txns of fillings(sizes, bounds)) {
          if (isCanonical(txns, sizes, sessions)) yield { txns, sessions }
        }
      }
    }
  }
}

/** The ways to give transactions to sessions, longest first; all apart comes before the others. */
function sessionsOf(count: number, hasSessions: boolean): number[][] {
  const apart = new Array<number>(count).fill(1)
  if (!hasSessions) return [apart]
  return partitions(count, count).toReversed()
}

/** The ways to split `total` into parts, longest first: 3, 2 + 1, 1 + 1 + 1. */
export function partitions(total: number, largest: number): number[][] {
  if (total === 0) return [[]]
  const all: number[][] = []
  for (let first = Math.min(total, largest); first >= 1; first--) {
    for (const rest of partitions(total - first, first)) all.push([first, ...rest])
  }
  return all
}

/** The ways to give `total` operations to `count` transactions. */
function splits(total: number, count: number): number[][] {
  if (count === 1) return [[total]]
  const all: number[][] = []
  for (let first = total - count + 1; first >= 1; first--) {
    for (const rest of splits(total - first, count - 1)) all.push([first, ...rest])
  }
  return all
}

/** Whether sessions of one length stand by falling size of their transactions. */
function isOrdered(sizes: readonly number[], sessions: readonly number[]): boolean {
  return eachPair(sessions, (a, b, length) => {
    for (let i = 0; i < length; i++) {
      if (sizes[a + i]! !== sizes[b + i]!) return sizes[a + i]! > sizes[b + i]!
    }
    return true
  })
}

/** Whether sessions alike in all sizes stand by rising codes: their exchange is skipped. */
function isCanonical(
  txns: readonly (readonly number[])[],
  sizes: readonly number[],
  sessions: readonly number[],
): boolean {
  return eachPair(sessions, (a, b, length) => {
    for (let i = 0; i < length; i++) {
      if (sizes[a + i] !== sizes[b + i]) return true
      for (const [at, code] of txns[a + i]!.entries()) {
        const other = txns[b + i]![at]!
        if (code !== other) return code < other
      }
    }
    return true
  })
}

/** Asks of each two neighbours of one length where they begin. */
function eachPair(
  sessions: readonly number[],
  holds: (a: number, b: number, length: number) => boolean,
): boolean {
  let at = 0
  for (let i = 0; i + 1 < sessions.length; i++) {
    const length = sessions[i]!
    if (sessions[i + 1] === length && !holds(at, at + length, length)) return false
    at += length
  }
  return true
}

/** All codes in transactions of these sizes; a key that was not there before is the next one. */
function* fillings(sizes: readonly number[], bounds: Bounds): Generator<number[][]> {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const codes: number[] = []
  const used = [0] // position -> how many keys stand before it
  const limitAt = (at: number) => bounds.kinds * Math.min(KEYS, used[at]! + 1)
  const next: number[] = [0] // position -> choice to try
  for (;;) {
    const at = codes.length
    if (at === total) {
      const txns = cut(codes, sizes)
      if (!bounds.isSound || txns.every(bounds.isSound)) yield txns
    } else if (next[at]! < limitAt(at)) {
      const choice = next[at]!++
      const [kind, key] = [choice % bounds.kinds, Math.floor(choice / bounds.kinds)]
      const isKeyless = bounds.keyless?.includes(kind) ?? false
      if (isKeyless && key > 0) continue
      codes.push(kind * KEYS + key)
      used[at + 1] = isKeyless ? used[at]! : Math.max(used[at]!, key + 1)
      next[at + 1] = 0
      continue
    }
    if (codes.length === 0) return
    codes.pop()
  }
}

function cut(codes: readonly number[], sizes: readonly number[]): number[][] {
  let end = 0
  return sizes.map((size) => {
    end += size
    return codes.slice(end - size, end)
  })
}
