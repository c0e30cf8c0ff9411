// Verifies bounds on staleness (docs/levels.md#bounded-staleness). Satisfied: goes through all
// reads in time and counts, for each, which newer versions had finished when it started; the
// worst of all must be what the verdict says, and within the bound. Violated: the read of the
// evidence missed what it is said to have missed, and that is beyond the bound. Main
// functions: certifyStaleness, certifyStaleRead.

import { Deadline } from '../base/deadline.ts'
import { IntColumn } from '../base/grow.ts'
import { placesByValue } from '../base/places.ts'
import { Elapsed, inUnit } from '../history/elapsed.ts'
import { type History, INITIAL, NONE } from '../history/history.ts'
import { hasCounters } from '../history/spans.ts'
import { parseBound } from '../levels/staleness.ts'
import { isLastWrite, isWrite } from './certify-reads.ts'
import { Precedence } from './precedence.ts'
import { type Edge, INITIAL_TXN, type LevelResult } from './verdict.ts'

/** @param history one with times and an order that was verified, within its sessions */
export function certifyStaleness(
  history: History,
  { bound, staleness }: Pick<LevelResult, 'bound' | 'staleness'>,
  deadline: Deadline = Deadline.none(),
): string[] {
  const worst = history.txnCounts.includes(1)
    ? new WorstReads(history, deadline).find()
    : { time: new Elapsed(history).nothing(), versions: 0, reader: NONE, missed: NONE }
  if (staleness === undefined) return ['it does not say how stale reads are']
  // What a read misses of a counter are shares of it, not versions.
  const versions = hasCounters(history) ? undefined : worst.versions
  if (staleness.time !== worst.time || staleness.versions !== versions) {
    return [`reads are ${worst.time} and ${worst.versions} versions behind, which it does not say`]
  }
  if (bound === undefined) return []
  const allowed = parseBound(bound)
  if (allowed.kind === 'versions') {
    if (versions === undefined) return ['counters have no versions to count']
    return worst.versions <= allowed.count ? [] : [`a read missed ${worst.versions} versions`]
  }
  if (history.timeUnit === null) return ['the history does not say what its times are']
  if (worst.reader === NONE) return []
  const limit = inUnit(allowed.amount, allowed.unit, history.timeUnit)
  const isBeyond = new Elapsed(history).exceeds(worst.missed, worst.reader, limit)
  return isBeyond ? [`a read missed what had been there for ${worst.time}`] : []
}

interface Worst {
  readonly time: string
  readonly versions: number
  readonly reader: number // who missed something for that long, or NONE
  readonly missed: number // what that was
}

/**
 * Lets transactions in by finish, and looks at what each had read when it started: at that time the
 * chain of a key holds who had written it and was over, the latest first. It is gone through as far
 * as who was over before the version that was read was begun, and for a version once: what was
 * found of it is kept for its later readers.
 */
class WorstReads {
  private readonly order: Precedence
  private readonly elapsed: Elapsed
  private readonly finish: Float64Array // txn -> finish, never if nobody knows that it committed
  private readonly newest: Int32Array // key -> its link of the chain, NONE while there is none
  private readonly write = new IntColumn() // link -> last write of the key by its transaction
  private readonly before = new IntColumn() // link -> the one before it of its key, or NONE
  private readonly lastFinish: Float64Array // key -> the finish of that
  private readonly alone: Int32Array // key -> its write, if all others were over when it began
  // Versions are writes, then the initial one of each key.
  private readonly seenUpTo: Int32Array // version -> first link that was not looked at
  private readonly newer: Int32Array // version -> how many newer ones are behind that
  private readonly oldest: Int32Array // version -> whose of these was there first, + 1
  private versions = 0
  private reader: number = NONE
  private missed: number = NONE

  constructor(
    private readonly history: History,
    private readonly deadline: Deadline,
  ) {
    const { txnCount, opCount, keyCount } = history
    this.order = new Precedence(history, deadline)
    this.elapsed = new Elapsed(history)
    this.finish = new Float64Array(txnCount)
    for (let txn = 0; txn < txnCount; txn++) this.finish[txn] = this.order.finishOf(txn)
    this.newest = new Int32Array(keyCount).fill(NONE)
    this.lastFinish = new Float64Array(keyCount).fill(Number.NEGATIVE_INFINITY)
    this.alone = new Int32Array(keyCount).fill(NONE)
    this.seenUpTo = new Int32Array(opCount + keyCount)
    this.newer = new Int32Array(opCount + keyCount)
    this.oldest = new Int32Array(opCount + keyCount)
  }

  find(): Worst {
    const { txnStartTime, txnCounts, txnOpStart, opKey } = this.history
    const { finish, alone } = this
    const { seen } = this.order
    const byFinish = placesByValue(finish)
    let done = 0
    for (const txn of placesByValue(txnStartTime!)) {
      if (!txnCounts[txn]) continue
      this.deadline.step(1)
      while (done < byFinish.length && finish[byFinish[done]!]! < txnStartTime![txn]!) {
        this.letIn(byFinish[done++]!)
      }
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        // Who saw the latest, which began when all others were over, missed nothing.
        if (seen[op] !== NONE && alone[opKey[op]!] !== seen[op]) this.judge(op, txn)
      }
    }
    const { versions, reader, missed } = this
    const time = reader === NONE ? this.elapsed.nothing() : this.elapsed.told(missed, reader)
    return { time, versions, reader, missed }
  }

  private letIn(txn: number): void {
    const { txnCounts, txnOpStart, opKey, txnStartTime } = this.history
    const { newest, write, before, alone, lastFinish } = this
    if (!txnCounts[txn]) return
    const begun = txnStartTime![txn]!
    const finish = this.finish[txn]!
    const first = write.length
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (!isWrite(this.history, op)) continue
      const key = opKey[op]!
      const link = newest[key]!
      if (link >= first) {
        write.data[link] = op
        if (alone[key] !== NONE) alone[key] = op
        continue
      }
      alone[key] = lastFinish[key]! < begun ? op : NONE
      lastFinish[key] = finish
      newest[key] = write.length
      write.push(op)
      before.push(link)
    }
  }

  private judge(read: number, reader: number): void {
    const { opTxn, opKey, opCount, txnStartTime } = this.history
    const { finish, seenUpTo, newer, oldest } = this
    const key = opKey[read]!
    const seen = this.order.seen[read]!
    const version = seen === INITIAL ? opCount + key : seen
    const source = seen === INITIAL ? INITIAL_TXN : opTxn[seen]!
    const begun = seen === INITIAL ? Number.NEGATIVE_INFINITY : txnStartTime![source]!
    const latest = this.newest[key]!
    const end = seenUpTo[version]!
    let first: number = NONE
    for (let link = latest; link >= end; link = this.before.data[link]!) {
      const write = this.write.data[link]!
      const txn = opTxn[write]!
      // Nothing that was over when a version was begun is newer.
      if (finish[txn]! < begun) break
      this.deadline.step(1)
      if (txn === source || !this.isNewer(write, seen)) continue
      newer[version]!++
      first = txn
    }
    seenUpTo[version] = latest + 1
    if (newer[version] === 0) return
    // What was looked at earlier was there earlier.
    if (oldest[version] === 0) oldest[version] = first + 1
    this.note(reader, oldest[version]! - 1, newer[version]!)
  }

  /** Whether a write comes after a version for sure, where each is its transaction's last one. */
  private isNewer(write: number, than: number): boolean {
    if (than === INITIAL) return true
    const { versions, opTxn } = this.history
    if (versions !== null) {
      // Where the store numbered both, the order that was verified goes by that.
      const [one, other] = [versions.opVersion[than]!, versions.opVersion[write]!]
      if (one < other || one > other) return one < other
    }
    return this.order.isBefore(opTxn[than]!, opTxn[write]!)
  }

  private note(reader: number, oldest: number, newer: number): void {
    this.versions = Math.max(this.versions, newer)
    const isWorst =
      this.reader === NONE || this.elapsed.isLonger(oldest, reader, this.missed, this.reader)
    if (isWorst) [this.reader, this.missed] = [reader, oldest]
  }
}

/**
 * What is wrong with a circle that is to show a stale read, each edge of which holds.
 * @param replayed the history with reads in the place of session order beyond sessions
 */
export function certifyStaleRead(
  history: History,
  replayed: History,
  edges: readonly Edge[],
  bound: string | undefined,
): string[] {
  const forced = edges.filter(({ kind }) => kind === 'CO')
  const [stale] = forced
  if (stale === undefined) return []
  if (forced.length > 1) return ['one read by itself is stale']
  if (bound === undefined) return ['without a bound no read is too stale']
  const reader = stale.premises[0]!.to
  const missed = stale.premises.slice(1).map(({ from }) => from)
  const allowed = parseBound(bound)
  if (allowed.kind === 'time') {
    if (history.timeUnit === null) return ['the history does not say what its times are']
    const limit = inUnit(allowed.amount, allowed.unit, history.timeUnit)
    const isBeyond = new Elapsed(history).exceeds(stale.from, reader, limit)
    return isBeyond ? [] : [`${stale.from} was missed within the bound`]
  }
  if (hasCounters(history)) return ['counters have no versions to count']
  if (new Set(missed).size !== missed.length) return ['it names a version twice']
  if (missed.length <= allowed.count) return [`only ${missed.length} versions were missed`]
  const order = new Precedence(replayed, Deadline.none())
  const isNewer = (txn: number) =>
    writes(history, txn, stale.key) &&
    txn !== stale.to &&
    (stale.to === INITIAL_TXN || order.isBefore(stale.to, txn))
  const wrong = missed.find((txn) => !isNewer(txn))
  return wrong === undefined ? [] : [`nothing says that the version of ${wrong} is newer`]
}

function writes(history: History, txn: number, key: number): boolean {
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    if (history.opKey[op] === key && isWrite(history, op) && isLastWrite(history, op)) return true
  }
  return false
}
