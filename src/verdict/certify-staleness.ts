// Verifies bounds on staleness (docs/levels.md#bounded-staleness). Satisfied: goes through the
// reads of each version and counts, for each, which newer ones had finished when it started; the
// worst of all must be what the verdict says, and within the bound. Violated: the read of the
// evidence missed what it is said to have missed, and that is beyond the bound. Main
// functions: certifyStaleness, certifyStaleRead.

import { Deadline } from '../base/deadline.ts'
import { placesByValue } from '../base/places.ts'
import { lowerBound } from '../base/search.ts'
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

/** Who writes each key, by finish. */
interface Writers {
  readonly start: Int32Array // key -> its first slot; one more at the end
  readonly txns: Int32Array
  readonly finish: Float64Array
}

/** Who read each version, by start: versions are writes, then the initial one of each key. */
interface Readings {
  readonly start: Int32Array // version -> its first slot; one more at the end
  readonly readers: Int32Array
}

class WorstReads {
  private readonly order: Precedence
  private readonly elapsed: Elapsed
  private versions = 0
  private reader: number = NONE
  private missed: number = NONE

  constructor(
    private readonly history: History,
    private readonly deadline: Deadline,
  ) {
    this.order = new Precedence(history, deadline)
    this.elapsed = new Elapsed(history)
  }

  find(): Worst {
    const { opCount, opKey, opTxn, keyCount } = this.history
    const writers = this.findWriters()
    const readings = this.findReaders()
    const { start } = readings
    for (let version = 0; version < opCount + keyCount; version++) {
      if (start[version] === start[version + 1]) continue
      const isInitial = version >= opCount
      const key = isInitial ? version - opCount : opKey[version]!
      const source = isInitial ? INITIAL_TXN : opTxn[version]!
      this.judge(source, writers, key, readings, version)
    }
    const { versions, reader, missed } = this
    const time = reader === NONE ? this.elapsed.nothing() : this.elapsed.told(missed, reader)
    return { time, versions, reader, missed }
  }

  private findWriters(): Writers {
    const { txnCount, keyCount } = this.history
    const finishes = new Float64Array(txnCount)
    for (let txn = 0; txn < txnCount; txn++) finishes[txn] = this.order.finishOf(txn)
    const order = placesByValue(finishes)
    const start = new Int32Array(keyCount + 1)
    this.forEachWriter(order, (key) => start[key + 1]!++)
    for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
    const txns = new Int32Array(start[keyCount]!)
    const finish = new Float64Array(txns.length)
    const next = start.slice()
    this.forEachWriter(order, (key, txn) => {
      const slot = next[key]!++
      txns[slot] = txn
      finish[slot] = finishes[txn]!
    })
    return { start, txns, finish }
  }

  /** Each key that a transaction writes, once. */
  private forEachWriter(order: Int32Array, visit: (key: number, txn: number) => void): void {
    const { txnCounts, txnOpStart, opKey, keyCount } = this.history
    const last = new Int32Array(keyCount).fill(NONE) // key -> who was seen to write it last
    for (const txn of order) {
      if (!txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const key = opKey[op]!
        if (!isWrite(this.history, op) || last[key] === txn) continue
        last[key] = txn
        visit(key, txn)
      }
    }
  }

  private findReaders(): Readings {
    const { txnStartTime, txnOpStart, opCount, opKey, keyCount } = this.history
    const { seen } = this.order
    const versionOf = (op: number) => (seen[op] === INITIAL ? opCount + opKey[op]! : seen[op]!)
    const start = new Int32Array(opCount + keyCount + 1)
    for (let op = 0; op < opCount; op++) if (seen[op] !== NONE) start[versionOf(op) + 1]!++
    for (let i = 1; i < start.length; i++) start[i]! += start[i - 1]!
    const readers = new Int32Array(start.at(-1)!)
    const next = start.slice()
    for (const txn of placesByValue(txnStartTime!)) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (seen[op] !== NONE) readers[next[versionOf(op)]!++] = txn
      }
    }
    return { start, readers }
  }

  private judge(
    source: number,
    { start, txns, finish }: Writers,
    key: number,
    readings: Readings,
    version: number,
  ): void {
    const startTime = this.history.txnStartTime!
    const end = start[key + 1]!
    // Nothing that was over when a version was begun is newer.
    let at = start[key]!
    if (source !== INITIAL_TXN) at = lowerBound(finish, startTime[source]!, at, end)
    let newer = 0 // how many, as far as readers have come
    let oldest: number = NONE
    for (let slot = readings.start[version]!; slot < readings.start[version + 1]!; slot++) {
      const reader = readings.readers[slot]!
      for (; at < end && finish[at]! < startTime[reader]!; at++) {
        this.deadline.step(1)
        const txn = txns[at]!
        if (txn === source) continue
        if (source !== INITIAL_TXN && !this.order.isBefore(source, txn)) continue
        if (newer++ === 0) oldest = txn
      }
      if (newer > 0) this.note(reader, oldest, newer)
    }
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
