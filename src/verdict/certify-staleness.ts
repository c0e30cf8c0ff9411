// Verifies bounds on staleness (docs/levels.md#bounded-staleness). Satisfied: goes through the
// reads of each version and counts, for each, which newer ones had finished when it started; the
// worst of all must be what the verdict says, and within the bound. Violated: the read of the
// evidence missed what it is said to have missed, and that is beyond the bound. Main
// functions: certifyStaleness, certifyStaleRead.

import { Deadline } from '../base/deadline.ts'
import { addTo } from '../base/maps.ts'
import { firstWhere } from '../base/search.ts'
import { Elapsed, inUnit } from '../history/elapsed.ts'
import { type History, INITIAL, NONE } from '../history/history.ts'
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
  if (staleness.time !== worst.time || staleness.versions !== worst.versions) {
    return [`reads are ${worst.time} and ${worst.versions} versions behind, which it does not say`]
  }
  if (bound === undefined) return []
  const allowed = parseBound(bound)
  if (allowed.kind === 'versions') {
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
    const writers = Array.from({ length: keyCount }, (): number[] => [])
    const readsOf = Array.from({ length: keyCount }, () => new Map<number, number[]>())
    for (let op = 0; op < opCount; op++) {
      const key = opKey[op]!
      if (isWrite(this.history, op)) {
        const txn = opTxn[op]!
        if (this.history.txnCounts[txn] && writers[key]!.at(-1) !== txn) writers[key]!.push(txn)
        continue
      }
      const version = this.order.seen[op]!
      if (version === NONE) continue
      const source = version === INITIAL ? INITIAL_TXN : opTxn[version]!
      addTo(readsOf[key]!, source, op)
    }
    for (let key = 0; key < keyCount; key++) this.judge(writers[key]!, readsOf[key]!)
    const { versions, reader, missed } = this
    const time = reader === NONE ? this.elapsed.nothing() : this.elapsed.told(missed, reader)
    return { time, versions, reader, missed }
  }

  private judge(writers: number[], readsOf: ReadonlyMap<number, readonly number[]>): void {
    const { opTxn, txnStartTime } = this.history
    const byFinish = writers.toSorted((a, b) => this.order.finishOf(a) - this.order.finishOf(b))
    // Nothing that was over when a version was begun is newer.
    for (const [source, reads] of readsOf) {
      const first = source === INITIAL_TXN ? 0 : this.firstFrom(byFinish, txnStartTime![source]!)
      const newer: number[] = [] // by finish, as far as readers have come
      let at = first
      const starts = reads.map((read) => opTxn[read]!)
      starts.sort((a, b) => txnStartTime![a]! - txnStartTime![b]!)
      for (const reader of starts) {
        const start = txnStartTime![reader]!
        for (; at < byFinish.length && this.order.finishOf(byFinish[at]!) < start; at++) {
          this.deadline.step(1)
          const txn = byFinish[at]!
          if (txn === source) continue
          if (source === INITIAL_TXN || this.order.isBefore(source, txn)) newer.push(txn)
        }
        if (newer.length > 0) this.note(reader, newer)
      }
    }
  }

  private note(reader: number, newer: readonly number[]): void {
    this.versions = Math.max(this.versions, newer.length)
    const [oldest] = newer
    const isWorst =
      this.reader === NONE || this.elapsed.isLonger(oldest!, reader, this.missed, this.reader)
    if (isWorst) [this.reader, this.missed] = [reader, oldest!]
  }

  private firstFrom(byFinish: readonly number[], time: number): number {
    return firstWhere(0, byFinish.length, (at) => this.order.finishOf(byFinish[at]!) >= time)
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
