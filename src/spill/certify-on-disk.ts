// Verifies in bounded memory that an order proves a level of a history on disk. It must be an order
// of all transactions that contains session order; replayed by certify-replay.ts, no read may miss
// what the level had to show it. At rc and ra whom a reader skipped is compared with whom it read
// from. At si whoever was skipped must be later than the reader's snapshot, and at ser there is
// nobody. At cc whoever was skipped is followed along the order: which sessions it has come to be a
// cause of, and since when, until its last reader has passed. Shares the buckets with whoever
// decided, and nothing else. Main function: certifyOnDisk.

import type { Scratch } from '../files/scratch.ts'
import { NONE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { BucketOps } from './bucket-ops.ts'
import { type ReaderRange, ReaderRecords } from './by-position.ts'
import { BucketReplay } from './certify-replay.ts'
import type { CommitOrder } from './commit-order.ts'
import { Openings } from './openings.ts'
import type { SpilledHistory } from './spilled-history.ts'

export interface OnDiskCertification {
  /** What is wrong with the order; empty if it proves the level. */
  readonly problems: readonly string[]
  /** Why it could not be verified to the end; null if it could. */
  readonly gaveUp: string | null
}

export interface CertifyTools {
  readonly scratch: Scratch
  /** Called now and then. */
  readonly onStep: (done: number, all: number) => void
}

export function certifyOnDisk(
  spilled: SpilledHistory,
  level: LevelId & ('rc' | 'ra' | 'cc' | 'si' | 'ser'),
  order: CommitOrder,
  tools: CertifyTools,
): OnDiskCertification {
  const problems = certifySessions(spilled, order)
  if (problems.length > 0) return { problems, gaveUp: null }
  const plain = new BucketReplay(spilled, order, null, level)
  const { buckets } = spilled.sizes
  const ops = new BucketOps(spilled, order)
  for (let bucket = 0; bucket < buckets; bucket++) {
    tools.onStep(bucket, buckets)
    ops.read(bucket)
    plain.replay(ops)
    if (plain.hasSkipped) break
  }
  if (!plain.hasSkipped) return { problems: plain.problems, gaveUp: null }
  if (level === 'ser') return { problems: ['a read did not see the latest write'], gaveUp: null }
  const records = new ReaderRecords(spilled, tools.scratch)
  try {
    const replay = new BucketReplay(spilled, order, records, level)
    for (let bucket = 0; bucket < buckets; bucket++) {
      tools.onStep(bucket, 2 * buckets)
      ops.read(bucket)
      replay.replay(ops)
    }
    records.finish()
    if (replay.problems.length > 0) return { problems: replay.problems, gaveUp: null }
    if (level === 'si') {
      return { problems: certifySnapshots(spilled, order, records), gaveUp: null }
    }
    return level === 'cc'
      ? certifyCauses(spilled, order, records, tools)
      : { problems: certifyDirect(spilled, order, level === 'rc', records), gaveUp: null }
  } finally {
    records.close()
  }
}

/** The order has every transaction once, those of a session as they came. */
function certifySessions(spilled: SpilledHistory, { txnAt }: CommitOrder): string[] {
  if (txnAt === null) return [] // transactions are numbered as they came
  const { txnCount, txnSession, sessions } = spilled
  if (txnAt.length !== txnCount) return ['the order has not every transaction']
  const last = new Int32Array(sessions.size).fill(NONE)
  for (const txn of txnAt) {
    const session = txnSession.data[txn]!
    // Each is later than the one before, so none comes twice.
    if (txn <= last[session]!) return [`transaction ${txn} comes too late in its session`]
    last[session] = txn
  }
  return []
}

function certifyDirect(
  { txnSession, txnCount }: SpilledHistory,
  { txnAt }: CommitOrder,
  onlyEarlier: boolean,
  records: ReaderRecords,
): string[] {
  const sessionAt = (at: number) => txnSession.data[txnAt === null ? at : txnAt[at]!]!
  const problems: string[] = []
  for (let range = 0; range < records.rangeCount; range++) {
    if (!records.hasStale(range)) continue
    const readers = records.load(range)
    const end = Math.min(readers.headStale.length, txnCount - readers.start)
    for (let i = 0; i < end; i++) {
      const reader = readers.start + i
      forEachSkipped(readers, i, (writer, op) => {
        const isSeen = sourcesOf(readers, i).some(
          ([source, by]) => source === writer && (!onlyEarlier || by < op),
        )
        const isOwn = !onlyEarlier && sessionAt(writer) === sessionAt(reader)
        if (isSeen || isOwn) problems.push(`the transaction at ${reader} had to see ${writer}`)
      })
    }
    if (problems.length > 0) break
  }
  return problems
}

/**
 * At si: a transaction's snapshot has all up to the last one that it read from, that wrote a key
 * before it which it writes too, or that comes before it in its session. The former two are its
 * sources; no read of it may have skipped any up to there.
 */
function certifySnapshots(
  { txnSession, txnCount, txnCounts, sessions }: SpilledHistory,
  { txnAt }: CommitOrder,
  records: ReaderRecords,
): string[] {
  const lastOf = new Int32Array(sessions.size).fill(NONE) // session -> its last position so far
  for (let range = 0; range < records.rangeCount; range++) {
    const readers = records.load(range)
    const end = Math.min(readers.headStale.length, txnCount - readers.start)
    for (let i = 0; i < end; i++) {
      const at = readers.start + i
      const txn = txnAt === null ? at : txnAt[at]!
      if (!txnCounts[txn]) continue
      const session = txnSession.data[txn]!
      let snapshot = lastOf[session]!
      for (const [source] of sourcesOf(readers, i)) snapshot = Math.max(snapshot, source)
      let missed: number = NONE
      forEachSkipped(readers, i, (writer) => {
        if (writer <= snapshot) missed = writer
      })
      if (missed !== NONE) return [`the snapshot of the transaction at ${at} has ${missed}`]
      lastOf[session] = at
    }
  }
  return []
}

function forEachSkipped(
  { headStale, staleNext, staleOp, skipped, skippedStart }: ReaderRange,
  reader: number,
  visit: (writer: number, op: number) => void,
): void {
  for (let stale = headStale[reader]!; stale !== NONE; stale = staleNext.data[stale]!) {
    for (let i = skippedStart.data[stale]!; i < skippedStart.data[stale + 1]!; i++) {
      visit(skipped.data[i]!, staleOp.data[stale]!)
    }
  }
}

/** Pairs: whom the reader read from, by which operation. */
function sourcesOf(
  { headSource, sourceNext, sourceAt, sourceOp }: ReaderRange,
  reader: number,
): [number, number][] {
  const found: [number, number][] = []
  for (let i = headSource[reader]!; i !== NONE; i = sourceNext.data[i]!) {
    found.push([sourceAt.data[i]!, sourceOp.data[i]!])
  }
  return found
}

/** Somebody who was skipped, and whom it has come to be a cause of. */
interface Followed {
  readonly writer: number
  lastReader: number
  readonly since: Int32Array // session -> first position in it that it is a cause of
}

function certifyCauses(
  spilled: SpilledHistory,
  { txnAt }: CommitOrder,
  records: ReaderRecords,
  { scratch, onStep }: CertifyTools,
): OnDiskCertification {
  const { txnSession, txnCount, sizes } = spilled
  const sessionCount = spilled.sessions.size
  const sessionAt = (at: number) => txnSession.data[txnAt === null ? at : txnAt[at]!]!
  const openings = new Openings(spilled, records, scratch)
  const most = Math.floor(sizes.windowBytes / (64 + 4 * sessionCount))
  let followed: Followed[] = []
  try {
    for (let range = 0; range < records.rangeCount; range++) {
      onStep(records.rangeCount + range, 2 * records.rangeCount)
      const lastReaders = openings.load(range)
      const readers = records.load(range)
      const end = Math.min(readers.headStale.length, txnCount - readers.start)
      for (let i = 0; i < end; i++) {
        const at = readers.start + i
        const session = sessionAt(at)
        if (followed.length > 0) {
          const sources = sourcesOf(readers, i)
          for (const { since } of followed) {
            if (since[session]! <= at) continue
            if (sources.some(([source]) => since[sessionAt(source)]! <= source)) since[session] = at
          }
          let seen: number = NONE
          forEachSkipped(readers, i, (writer) => {
            const known = followed.find((each) => each.writer === writer)
            if (known === undefined || known.since[session]! <= at) seen = writer
          })
          if (seen !== NONE) {
            return { problems: [`the transaction at ${at} had to see ${seen}`], gaveUp: null }
          }
          if (followed.some(({ lastReader }) => lastReader === at)) {
            followed = followed.filter(({ lastReader }) => lastReader !== at)
          }
        }
        const lastReader = lastReaders[i]!
        if (lastReader === NONE) continue
        const since = new Int32Array(sessionCount).fill(0x7fffffff)
        since[session] = at
        followed.push({ writer: at, lastReader, since })
        if (followed.length > most) {
          return { problems: [], gaveUp: 'too many reads are stale at once to be verified' }
        }
      }
    }
    return { problems: [], gaveUp: null }
  } finally {
    openings.close()
  }
}
