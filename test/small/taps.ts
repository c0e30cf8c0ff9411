// Which reads show which of Plume's 14 patterns, straight from the definitions. CO is hb; CM is the
// transitive closure of so, wr and the order forced at the level in question (rc for i, ra for l, cc
// for n). A read of x by t3 from t1 shows a pattern when some other writer t2 of x stands before t3
// in the sense of the pattern's level and t1 is before t2 in CO, or else in CM. h is a special case
// of k and reported beside it; m and n are the cases in which t2 is before t3 in hb, but not in
// so ∪ wr. Main function: tapOracle.

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

/** Pattern -> the reads that show it (operations of the draft); for g the transactions on a cycle. */
export type TapReads = Record<Tap, number[]>

export interface TapOptions {
  readonly sessionOrder?: boolean
  /**
   * Sort faults apart instead of naming every pattern that fits, so that one fault is one finding: a
   * read that shows a CO pattern forces no order on others, a read that contradicts another one of
   * its transaction and key is j alone, and m and n are not repeated for a read that shows k or l.
   */
  readonly apart?: boolean
}

/** Registers only: an observed list order can violate a level without any of the patterns. */
export function tapOracle(draft: Draft, options: TapOptions = {}): TapReads {
  const situation = judge(draft, settle(draft), { sessionOrder: options.sessionOrder ?? true })
  const apart = options.apart ?? false
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
  const unless = (read: OuterRead) => (apart ? ~sourcesOfKey(situation, read) : -1)
  const direct = (read: OuterRead) => (so[read.reader]! | wr[read.reader]!) & unless(read)
  const causal = (read: OuterRead) => hb[read.reader]! & unless(read)
  addPair(situation, taps, 'hi', apart, (read) => earlierSources(situation, read))
  addPair(situation, taps, 'kl', apart, direct)
  for (const read of reads) if (isNonRepeatable(situation, read, apart)) taps.j.push(read.op)
  // After a cycle in so ∪ wr everything on it causes everything else: cc stops there.
  if (taps.g.length > 0) return taps
  const known = new Set(apart ? [...taps.k, ...taps.l] : [])
  addPair(situation, taps, 'mn', apart, causal, (read) => {
    if (apart) return known.has(read.op) ? 0 : causal(read)
    return causal(read) & ~direct(read)
  })
  return taps
}

/** Adds the CO and the CM pattern of one level. `shown`: for which t2 a read shows the pattern. */
function addPair(
  situation: Situation,
  taps: TapReads,
  letters: 'hi' | 'kl' | 'mn',
  apart: boolean,
  premise: (read: OuterRead) => number,
  shown = premise,
): void {
  const co = happensBefore(situation)
  const isCo = (read: OuterRead, t2s: number) =>
    hasAfter(co, read.from, t2s & otherWriters(situation, read))
  const cm = forcedOrder(situation, (read) =>
    apart && isCo(read, premise(read)) ? 0 : premise(read),
  )
  for (const read of situation.reads) {
    const t2s = shown(read) & otherWriters(situation, read)
    if (isCo(read, t2s)) taps[letters[0] as Tap].push(read.op)
    else if (hasAfter(cm, read.from, t2s)) taps[letters[1] as Tap].push(read.op)
  }
}

/** (so ∪ wr ∪ forced)+, where a read of x from t1 forces every t2 of its premise before t1. */
function forcedOrder(situation: Situation, premise: (read: OuterRead) => number): number[] {
  const order = situation.so.map((mask, t) => mask | situation.wr[t]! | situation.ww[t]!)
  for (const read of situation.reads) {
    order[read.from]! |= premise(read) & otherWriters(situation, read)
  }
  return closure(order)
}

/** From whom the reader got this key, in all its reads. */
function sourcesOfKey({ reads }: Situation, read: OuterRead): number {
  let mask = 0
  for (const other of reads) {
    if (other.reader === read.reader && other.key === read.key) mask |= 1 << other.from
  }
  return mask
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

/** An earlier read (apart: the first) of the same key in the same transaction saw somebody else. */
function isNonRepeatable({ reads }: Situation, read: OuterRead, apart: boolean): boolean {
  const ofKey = reads.filter((other) => other.reader === read.reader && other.key === read.key)
  const earlier = apart ? ofKey.slice(0, 1) : ofKey.filter((other) => other.op < read.op)
  return earlier.some((other) => other.from !== read.from)
}
