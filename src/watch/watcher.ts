// Judges a history while it grows: takes bytes as they come, judges a window of transactions now
// and then by the same deciders as `isobar check`, and lets go of what can no longer matter. What
// it says and why it may say so: docs/watch.md. Knows no clock and no file. Main class: Watcher.

import { assert, InputError } from '../base/errors.ts'
import { FloatColumn } from '../base/grow.ts'
import { checkLevels } from '../check/check.ts'
import { detectFormat, HEAD_BYTES } from '../formats/parse.ts'
import { type FormatReader, findReader } from '../formats/readers.ts'
import { OF_ALL } from '../formats/source.ts'
import { checkTimes } from '../history/check-times.ts'
import type { History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import type { LevelResult, Outcome } from '../verdict/verdict.ts'
import { buildKnownPart } from './known-part.ts'
import { addBystanders, chooseSettled, type Judged, orderOfArrival } from './let-go.ts'
import { Settled } from './settled.ts'
import { latenessOf, type Standing, standOn } from './stand.ts'
import { type Parsed, Window } from './window.ts'

/** Levels that can be watched, the strongest first: an order for one serves those behind it. */
export const WATCHED_LEVELS = ['cc', 'ra', 'rc'] as const
export type WatchedLevel = (typeof WATCHED_LEVELS)[number]

export const WATCHED_FORMATS = ['native', 'plume'] as const

export const DEFAULT_WINDOW = 50_000
const WINDOWS_A_STEP = 2 // so many windows of new transactions are judged at once if they are there
const GUESSED_TXN_BYTES = 100

export interface WatchOptions {
  readonly levels: readonly WatchedLevel[]
  /** Transactions that are kept at least, before one is let go. */
  readonly window?: number
  /** By content unless given. */
  readonly format?: string | null
}

export interface LevelState {
  readonly level: WatchedLevel
  /** Of all that was judged; `violated` is final, `unknown` may still become `violated`. */
  verdict: Outcome
  /** Why it is unknown. */
  reason: string | null
}

/** A violation, shown on transactions that are at hand. */
export interface Alarm {
  readonly history: History
  readonly results: readonly LevelResult[]
}

export class Watcher {
  readonly states: readonly LevelState[]
  window = new Window()
  settled = new Settled()
  format: FormatReader | null = null
  readonly windowTxns: number
  /** Transactions that were judged, those that were let go included. */
  judgedTxns = 0
  /** Transactions that wait for what they read to be written. */
  waitingTxns = 0
  /** How many transactions a writer came after its reader at most, so far. */
  latenessTxns = 0
  /** The last line was not whole when the input ended. */
  tornEnd = false
  private numbers = new FloatColumn(16) // transaction of the window -> which one of the input
  private arrived = 0 // transactions of the input that were parsed
  private lastInitial = 0 // number of the last initial transaction
  private judgedBytes = 0 // bytes of the window that were judged
  private txnBytes = GUESSED_TXN_BYTES

  constructor(options: WatchOptions) {
    const asked = new Set(options.levels)
    this.states = WATCHED_LEVELS.filter((level) => asked.has(level)).map((level) => ({
      level,
      verdict: 'satisfied',
      reason: null,
    }))
    assert(this.states.length > 0, 'something is to be judged')
    this.windowTxns = options.window ?? DEFAULT_WINDOW
    if (options.format) this.format = expectWatchable(findReader(options.format))
  }

  /** All that is needed to go on elsewhere. */
  save() {
    const { text, ...window } = this.window.save()
    return {
      text,
      window,
      states: this.states.map((state) => ({ ...state })),
      settled: this.settled.save(),
      format: (this.format?.id ?? null) as string | null,
      windowTxns: this.windowTxns,
      judgedTxns: this.judgedTxns,
      latenessTxns: this.latenessTxns,
      numbers: Array.from(this.numbers.view()),
      arrived: this.arrived,
      lastInitial: this.lastInitial,
      judgedBytes: this.judgedBytes,
      txnBytes: this.txnBytes,
    }
  }

  static restore(saved: ReturnType<Watcher['save']>): Watcher {
    const levels = saved.states.map(({ level }) => level)
    const watcher = new Watcher({ levels, window: saved.windowTxns, format: saved.format })
    watcher.states.forEach((state, i) => {
      Object.assign(state, saved.states[i])
    })
    watcher.window = Window.restore({ ...saved.window, text: saved.text })
    watcher.settled = Settled.restore(saved.settled)
    watcher.judgedTxns = saved.judgedTxns
    watcher.latenessTxns = saved.latenessTxns
    for (const number of saved.numbers) watcher.numbers.push(number)
    watcher.arrived = saved.arrived
    watcher.lastInitial = saved.lastInitial
    watcher.judgedBytes = saved.judgedBytes
    watcher.txnBytes = saved.txnBytes
    return watcher
  }

  /** Whether nothing can change any more. */
  get isDecided(): boolean {
    return this.states.every(({ verdict }) => verdict === 'violated')
  }

  /** Bytes that came and were not judged. */
  get newBytes(): number {
    return this.window.byteCount - this.judgedBytes
  }

  /** Whether so much has come that it should be judged before more comes. */
  get isFull(): boolean {
    return this.newBytes >= this.windowTxns * WINDOWS_A_STEP * this.txnBytes
  }

  push(bytes: Uint8Array): void {
    this.window.push(bytes)
  }

  /**
   * Judges what has come. Returns what is violated by now and was not before.
   * @param isEnd nothing follows
   */
  judge(isEnd = false): Alarm | null {
    if (this.isDecided) return null
    if (this.format === null && !this.findFormat(isEnd)) return null
    if (isEnd) this.tornEnd = !this.window.endLine(this.format!)
    const parsed = this.parse()
    this.expectTimes(parsed.history)
    const oldCount = isEnd ? 0 : this.countOld(parsed.history.txnCount)
    const standing = standOn(parsed.history, this.settled, { oldCount, isEnd })
    this.latenessTxns = Math.max(this.latenessTxns, latenessOf(standing.history))
    if (standing.undecided.length > 0) this.doubt(readReason(standing, this.windowTxns, isEnd))
    const { alarm, judged } = this.decide(standing, isEnd)
    this.judgedTxns = this.arrived
    this.waitingTxns = standing.waits?.reduce((sum, waits) => sum + waits, 0) ?? 0
    this.txnBytes = this.window.byteCount / Math.max(1, parsed.history.txnCount)
    if (oldCount > 0) this.letGo(parsed, standing, judged, oldCount)
    this.judgedBytes = this.window.byteCount
    return alarm
  }

  /** Those that were let go had their clocks, too. */
  private expectTimes(history: History): void {
    const { times } = this.settled
    checkTimes(history, (session) => times.before(session))
    if (times.mayHaveForgotten(history)) this.doubt(TIMES_GONE)
  }

  /** How many transactions have been here long enough; none unless it is worth the trouble. */
  private countOld(txnCount: number): number {
    const surplus = txnCount - this.windowTxns
    return surplus > this.windowTxns >> 2 ? surplus : 0
  }

  private findFormat(isEnd: boolean): boolean {
    const head = this.window.head(HEAD_BYTES)
    if (head.length < HEAD_BYTES && !isEnd && head.indexOf(10) < 0) return false
    if (head.length === 0) return false
    const found = detectFormat(head)
    if (found === null) {
      const hint = `force one with --format ${WATCHED_FORMATS.join('|')}`
      throw new InputError('unknown-format', 'the input is in no known format', null, hint)
    }
    this.format = expectWatchable(found)
    return true
  }

  /** The window as a history, without what speaks of transactions that were let go. */
  private parse(): Parsed {
    for (;;) {
      try {
        const parsed = this.window.parse(this.format!)
        const late = this.findLate(parsed)
        if (late === null) return this.number(parsed)
        this.doubt('a transaction was spoken of again after it had been let go')
        this.window.keep(late)
      } catch (error) {
        // An outcome whose transaction was let go; the file may well be right.
        const isLate = error instanceof InputError && error.code === 'unknown-id'
        const line = isLate && this.settled.txnCount > 0 ? error.place!.line : null
        if (line === null) throw error
        this.doubt(`the outcome at line ${line} came after its transaction had been let go`)
        const at = this.window.lineNumbered(line)
        const isKept = new Uint8Array(this.window.countLines()).fill(1)
        isKept[at] = 0
        this.window.keep(isKept)
      }
    }
  }

  /** Lines to keep, if others speak of transactions that were let go. */
  private findLate({ history, lineTxn }: Parsed): Uint8Array | null {
    const { ids } = this.settled
    if (ids.isFull) this.doubt('transaction ids are in no order, so that none can be told from new')
    if (ids.rangeCount === 0) return null
    const isLate = new Uint8Array(history.txnCount)
    let any = false
    for (let txn = this.numbers.length; txn < history.txnCount; txn++) {
      const label = history.txnLabel(txn)
      if (typeof label !== 'number' || !ids.has(label)) continue
      isLate[txn] = 1
      any = true
      this.settled.lose(history, txn)
    }
    return any ? Uint8Array.from(lineTxn, (txn) => (txn >= 0 && isLate[txn] ? 0 : 1)) : null
  }

  /** Gives new transactions their numbers, and all that have no name of their own a lasting one. */
  private number({ history, lineTxn }: Parsed): Parsed {
    while (this.numbers.length < history.txnCount) this.numbers.push(++this.arrived)
    this.expectInitialFirst(history)
    return { history: this.withNames(history, []), lineTxn }
  }

  private withNames(history: History, before: readonly number[]): History {
    const numbers = this.numbers.data
    const numberOf = (txn: number) => before[txn] ?? numbers[txn - before.length]!
    const txnName = (txn: number) => {
      const name = history.txnName(txn)
      return history.txnLabel(txn) === null ? `${name[0]}${numberOf(txn)}` : name
    }
    return { ...history, txnName }
  }

  /** What leads a window need not lead the input. */
  private expectInitialFirst({ txnIsInitial, txnCount, placeOf, txnOpStart }: History): void {
    for (let txn = 0; txn < txnCount && txnIsInitial[txn]; txn++) {
      const number = this.numbers.data[txn]!
      if (number > this.lastInitial + 1) {
        throw new InputError(
          'duplicate-value',
          'the initial value of a key is written again',
          placeOf(txnOpStart[txn]!),
          'only transactions that lead the input may spell out the initial state',
        )
      }
      this.lastInitial = Math.max(this.lastInitial, number)
    }
  }

  /** Levels that are satisfied so far become unknown. */
  private doubt(reason: string): void {
    for (const state of this.states) this.doubtLevel(state, reason)
  }

  private doubtLevel(state: LevelState, reason: string): void {
    if (state.verdict !== 'satisfied') return
    state.verdict = 'unknown'
    state.reason = reason
  }

  /** Judges the window on what is settled; where that fails, what is known for certain. */
  private decide(
    standing: Standing,
    isEnd: boolean,
  ): { alarm: Alarm | null; judged: Judged | null } {
    const { history } = standing
    const live = this.states.filter(({ verdict }) => verdict !== 'violated')
    const [strongest] = checkLevels(history, [live[0]!.level])
    const judged = judgedBy(history, strongest!)
    if (judged && standing.undecided.length === 0) return { alarm: null, judged }
    const alarm = this.confirm(standing, live, isEnd)
    const left = live.filter(({ verdict }) => verdict !== 'violated')
    let found: Judged | null = null
    for (const state of left) {
      const [result] = state === live[0] ? [strongest!] : checkLevels(history, [state.level])
      const order = judgedBy(history, result!)
      found ??= order
      if (order === null) this.doubtLevel(state, result!.reason ?? BEYOND)
    }
    return { alarm, judged: found }
  }

  /** What is violated by transactions that are known. */
  private confirm(standing: Standing, live: readonly LevelState[], isEnd: boolean): Alarm | null {
    const { window, settled, format } = this
    const part = buildKnownPart(window, settled, standing.readKeys, format!, isEnd)
    const history = this.withNames(part.history, part.settledNumbers)
    const results = checkLevels(
      history,
      live.map(({ level }) => level),
    ).filter(({ verdict }) => verdict === 'violated')
    for (const state of live) {
      if (!results.some(({ level }) => level === state.level)) continue
      state.verdict = 'violated'
      state.reason = null
    }
    // The weakest level first: its story is the simplest.
    return results.length > 0 ? { history, results: results.reverse() } : null
  }

  private letGo(
    { lineTxn }: Parsed,
    { history, keyOf, waits }: Standing,
    judged: Judged | null,
    oldCount: number,
  ): void {
    const { numbers, settled } = this
    const chosen = judged
      ? chooseSettled(judged, oldCount, waits)
      : orderOfArrival(history, oldCount)
    const goes = new Uint8Array(history.txnCount)
    for (const txn of chosen) goes[txn] = 1
    const bystanders = addBystanders(history, goes, waits, oldCount)
    settled.times.add(history, goes)
    const ids = new FloatColumn(chosen.length + bystanders.length)
    for (const txn of bystanders) if (!history.txnIsInitial[txn]) settled.lose(history, txn)
    settled.add(history, chosen, numbers.data, keyOf)
    for (const txns of [bystanders, chosen]) {
      for (const txn of txns) {
        const label = history.txnLabel(txn)
        if (typeof label === 'number') ids.push(label)
        else if (typeof label === 'bigint' && this.format!.id === 'plume') this.doubt(LARGE_ID)
        if (history.txnAudit?.[txn]) this.doubt(AUDIT_GONE)
      }
    }
    settled.ids.add(ids.view())
    settled.txnCount += chosen.length + bystanders.length
    const isTold = new Uint8Array(history.txnCount) // whether a line that stays speaks of it
    const isKept = new Uint8Array(lineTxn.length)
    for (let line = 0; line < lineTxn.length; line++) {
      const txn = lineTxn[line]!
      if (txn < 0 ? txn !== OF_ALL : goes[txn]) continue
      isKept[line] = 1
      if (txn >= 0) isTold[txn] = 1
    }
    const kept = new FloatColumn(history.txnCount)
    for (let txn = 0; txn < isTold.length; txn++) if (isTold[txn]) kept.push(numbers.data[txn]!)
    this.numbers = kept
    this.window.keep(isKept)
  }
}

const BEYOND =
  'a version from before the window was read where a later one had to be seen; whether an order allows it depends on transactions that were let go'

const LARGE_ID =
  'transactions with ids beyond 2^53 were let go, and a line that adds to one could not be told from a new one'

const TIMES_GONE =
  'there are too many sessions, and a transaction starts so early that one before it in its session may have ended later'

const AUDIT_GONE = 'an audit was let go, and a commit that it should have shown may be told later'

function readReason({ undecided }: Standing, window: number, isEnd: boolean): string {
  const when = isEnd ? 'by the end' : `within ${window} transactions`
  return `${undecided.join(', ')}: no transaction in sight wrote it ${when}, and one that was let go may have`
}

function judgedBy(history: History, { level, verdict, proof }: LevelResult): Judged | null {
  if (verdict !== 'satisfied' || proof?.kind !== 'commit-order') return null
  return { history, level: level as LevelId, order: proof.order }
}

/** Throws InputError where a format cannot be read piece by piece. */
function expectWatchable(format: FormatReader | null): FormatReader {
  if (format && (WATCHED_FORMATS as readonly string[]).includes(format.id)) return format
  const hint = `watch reads ${WATCHED_FORMATS.join(' and ')}; isobar convert makes either of any format`
  const message = format ? `${format.name} cannot be watched` : 'the format is not known'
  throw new InputError('unwatchable', message, null, hint)
}
