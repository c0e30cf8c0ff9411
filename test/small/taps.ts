// Which reads show which of Plume's 14 patterns, straight from the definitions. CO is hb; CM is the
// transitive closure of so, wr and the order forced at the level in question (rc for i, ra for l,
// cc for n). A read of x by t3 from t1 shows a pattern when some other writer t2 of x stands before
// t3 in the sense of the pattern's level and t1 is before t2 in CO, or else in CM. h is a special
// case of k and reported beside it; m and n are for reads that show neither k nor l. Main function:
// tapOracle.

import type { Draft } from './draft.ts'
import { INIT, judge, type Offence, type OuterRead, type Situation, settle } from './judge.ts'
import { closure, happensBefore } from './oracle.ts'

export type Tap = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n'

export const TAPS: readonly Tap[] = [...'abcdefghijklmn'] as Tap[]

const TAP_OF_OFFENCE: Partial<Record<Offence, Tap>> = {
  ThinAirRead: 'a',
  AbortedRead: 'b',
  FutureRead: 'c',
  NotMyOwnWrite: 'd',
  NotMyLastWrite: 'e',
  IntermediateRead: 'f',
}

/**
 * Pattern -> the reads that show it (operations of the draft); for g the transactions on a cycle.
 */
export type TapReads = Record<Tap, number[]>

export interface TapOptions {
  readonly sessionOrder?: boolean
}

/** Registers only: an observed list order can violate a level without any of the patterns. */
export function tapOracle(draft: Draft, options: TapOptions = {}): TapReads {
  const situation = judge(draft, settle(draft), { sessionOrder: options.sessionOrder ?? true })
  const taps = Object.fromEntries(TAPS.map((tap) => [tap, [] as number[]])) as TapReads
  for (const { op, name } of situation.offences) {
    const tap = TAP_OF_OFFENCE[name]
    if (tap) taps[tap].push(op)
  }
  const hb = happensBefore(situation)
  const onCycle = (txn: number) => txn >= 0 && ((hb[txn]! >> txn) & 1) === 1
  situation.txnOf.forEach((txn, number) => {
    if (onCycle(txn)) taps.g.push(number)
  })

  const { so, wr, reads } = situation
  const direct = (read: OuterRead) => so[read.reader]! | wr[read.reader]!
  const causal = (read: OuterRead) => hb[read.reader]!
  addPair(situation, taps, 'hi', (read) => earlierSources(situation, read))
  addPair(situation, taps, 'kl', direct)
  for (const read of reads) if (isNonRepeatable(situation, read)) taps.j.push(read.op)
  for (const op of taps.d) if (hasReadItsOwn(draft, op)) taps.j.push(op)
  // After a cycle in so ∪ wr everything on it causes everything else: cc stops there.
  if (taps.g.length > 0) return taps
  const known = new Set([...taps.k, ...taps.l])
  addPair(situation, taps, 'mn', causal, (read) => (known.has(read.op) ? 0 : causal(read)))
  return taps
}

/**
 * The same by the letters of Plume's paper: one CM for all, by the axiom of cc; t2 is somebody whom
 * another key was read from before (h, i), at any time or who precedes in the session (k, l), or
 * who happens before (m, n). Null after a cycle in so ∪ wr.
 */
export function plumeTapOracle(
  draft: Draft,
): Record<'h' | 'i' | 'k' | 'l' | 'm' | 'n', number[]> | null {
  const situation = judge(draft, settle(draft), { sessionOrder: true })
  const { so, reads } = situation
  const co = happensBefore(situation)
  if (co.some((mask, t) => (mask >> t) & 1)) return null
  const cm = forcedOrder(situation, (read) =>
    read.from === INIT ? 0 : co[read.reader]! & otherWriters(situation, read),
  )
  const taps = { h: [], i: [], k: [], l: [], m: [], n: [] } as Record<string, number[]>
  for (const read of reads) {
    const others = reads.filter(({ reader, key }) => reader === read.reader && key !== read.key)
    const sources = (found: readonly OuterRead[]) =>
      found.reduce((mask, other) => mask | (1 << other.from), 0)
    const earlier = sources(others.filter(({ op }) => op < read.op))
    const premises = [
      ['h', 'i', earlier],
      ['k', 'l', sources(others) | so[read.reader]!],
      ['m', 'n', co[read.reader]!],
    ] as const
    for (const [inCo, inCm, premise] of premises) {
      const t2s = premise & otherWriters(situation, read)
      const isCo = hasAfter(co, read.from, t2s)
      if (isCo) taps[inCo]!.push(read.op)
      if (isCo || hasAfter(cm, read.from, t2s)) taps[inCm]!.push(read.op)
    }
  }
  return taps as ReturnType<typeof plumeTapOracle>
}

/** Adds the CO and the CM pattern of one level. `shown`: for which t2 a read shows the pattern. */
function addPair(
  situation: Situation,
  taps: TapReads,
  letters: 'hi' | 'kl' | 'mn',
  premise: (read: OuterRead) => number,
  shown = premise,
): void {
  const co = happensBefore(situation)
  const forces = (read: OuterRead) => premise(read) & otherWriters(situation, read)
  const isCo = (read: OuterRead) => hasAfter(co, read.from, forces(read))
  const cm = forcedOrder(situation, (read) => (isCo(read) ? 0 : forces(read)))
  for (const read of situation.reads) {
    const t2s = shown(read) & otherWriters(situation, read)
    const opposed = situation.reads.some(
      // The other read forces this one's source before a t2 that happens before it.
      (other) =>
        (t2s >> other.from) & 1 &&
        (forces(other) >> read.from) & 1 &&
        hasAfter(co, other.from, 1 << read.from),
    )
    if (hasAfter(co, read.from, t2s)) taps[letters[0] as Tap].push(read.op)
    else if (opposed || hasAfter(cm, read.from, t2s)) taps[letters[1] as Tap].push(read.op)
  }
}

/** (so ∪ wr ∪ forced)+, where a read of x from t1 forces every t2 of its premise before t1. */
function forcedOrder(situation: Situation, premise: (read: OuterRead) => number): number[] {
  const order = situation.so.map((mask, t) => mask | situation.wr[t]! | situation.ww[t]!)
  for (const read of situation.reads) {
    order[read.from]! |= premise(read)
  }
  return closure(order)
}

/** Who may be t2. Never the initial transaction: it is before all others anyway. */
function otherWriters({ writers }: Situation, read: OuterRead): number {
  return writers.get(read.key)! & ~(1 << read.from) & ~(1 << read.reader) & ~(1 << INIT)
}

/** True if one of `txns` comes after t1. */
function hasAfter(order: readonly number[], t1: number, txns: number): boolean {
  return order.some((mask, t) => (txns >> t) & 1 && (mask >> t1) & 1)
}

/** Whom the reader read from before this read, whatever the key. */
function earlierSources({ reads }: Situation, read: OuterRead): number {
  let mask = 0
  for (const other of reads) {
    if (other.reader === read.reader && other.op < read.op) mask |= 1 << other.from
  }
  return mask
}

/** An earlier read of the same key in the same transaction saw somebody else. */
function isNonRepeatable({ reads }: Situation, read: OuterRead): boolean {
  return reads.some(
    (other) =>
      other.reader === read.reader &&
      other.key === read.key &&
      other.op < read.op &&
      other.from !== read.from,
  )
}

/** An earlier read of the same key and transaction saw the transaction's own latest write. */
function hasReadItsOwn(draft: Draft, op: number): boolean {
  let number = 0
  for (const txn of draft.sessions.flat()) {
    const at = op - number
    number += txn.ops.length
    if (at >= txn.ops.length) continue
    const { key } = txn.ops[at]!
    let own: unknown = Symbol('nothing written yet')
    for (const earlier of txn.ops.slice(0, at)) {
      if (earlier.key !== key || earlier.kind === 'list') continue
      if (earlier.kind === 'w') own = earlier.value
      else if (earlier.kind === 'r' && earlier.value === own) return true
    }
    return false
  }
  return false
}
