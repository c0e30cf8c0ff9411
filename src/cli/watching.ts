// Watching a history, as commands do it: when what has come is judged, what is said about it on
// the terminal or as lines of JSON, and a server of metrics. Main class: Watching.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nowMs } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { renderText } from '../report/text.ts'
import { renderMetrics } from '../watch/metrics.ts'
import type { Alarm, LevelState, Watcher } from '../watch/watcher.ts'
import { EXIT } from './exit-codes.ts'
import { StatusLine } from './status-line.ts'
import { coloursFor, print, tell } from './terminal.ts'

const QUIET_MS = 100 // what has come is judged when nothing followed for so long
const JUDGE_EVERY_MS = 500 // and at the latest after so long, if that is cheap
const JUDGED_SHARE = 0.25 // of the time may go into judging what has come since
const STATUS_EVERY_MS = 1000

export interface WatchingOptions {
  readonly path: string
  readonly json: boolean
  /** Tell nothing: somebody else does. */
  readonly quiet?: boolean
  /** Called with every alarm: what is violated, after so many transactions. */
  readonly onAlarm?: (levels: readonly LevelId[], transactions: number) => void
}

export class Watching {
  readBytes = 0
  alarms = 0
  lastNewsMs = nowMs()
  private firstUnjudgedMs: number | null = null // when the first of what is not judged came
  private judgedMs = nowMs() // when was judged last
  private tookMs = 0 // how long that took
  private statusMs = nowMs()
  private readonly line = new StatusLine()
  private printed: Promise<unknown> = Promise.resolve() // kept once all that was said is written
  private server: Server | null = null

  constructor(
    readonly watcher: Watcher,
    private readonly options: WatchingOptions,
  ) {}

  take(chunk: Uint8Array): void {
    this.readBytes += chunk.length
    this.lastNewsMs = nowMs()
    this.firstUnjudgedMs ??= this.lastNewsMs
    this.watcher.push(chunk)
    if (this.watcher.isFull) this.judge()
  }

  /** To be called now and then. */
  tick(): void {
    const now = nowMs()
    if (this.watcher.newBytes > 0) {
      const isQuiet = now - this.lastNewsMs >= QUIET_MS
      const isDue = now - (this.firstUnjudgedMs ?? now) >= JUDGE_EVERY_MS
      const isCheap = now - this.judgedMs >= this.tookMs / JUDGED_SHARE
      if ((isQuiet || isDue) && isCheap) this.judge()
    }
    if (now - this.statusMs < STATUS_EVERY_MS) return
    this.statusMs = now
    if (this.options.quiet) return
    if (this.options.json) this.say(stringify({ event: 'status', ...this.describe() }))
    this.line.show(this.tellStatus())
  }

  /** Judges all that has come. @param isEnd nothing follows */
  judge(isEnd = false): void {
    const started = nowMs()
    const doubted = this.countUnknown()
    const alarm = this.watcher.judge(isEnd)
    this.judgedMs = nowMs()
    this.tookMs = this.judgedMs - started
    this.firstUnjudgedMs = null
    if (alarm) {
      this.alarms += alarm.results.length
      const levels = alarm.results.map(({ level }) => level)
      this.options.onAlarm?.(levels, this.watcher.judgedTxns)
    }
    if (this.options.quiet) return
    if (alarm) this.tellAlarm(alarm)
    if (this.countUnknown() > doubted) this.tellDoubt()
  }

  /** Says what is known in the end; returns the exit code. @param isEnd the input has ended */
  async finish(isEnd: boolean): Promise<number> {
    this.line.done()
    const levels = this.statesAtEnd()
    if (this.options.json) this.say(stringify({ event: 'end', isEnd, ...this.describe(), levels }))
    else this.keep(tell(`${this.tellEnd(isEnd, levels)}\n`))
    await this.close()
    const has = (verdict: string) => levels.some((state) => state.verdict === verdict)
    return has('violated') ? EXIT.violated : has('unknown') ? EXIT.unknown : EXIT.satisfied
  }

  /** Says no more. */
  async close(): Promise<void> {
    this.line.done()
    await this.printed
    this.server?.close()
    this.server?.closeAllConnections()
  }

  /** Shows metrics at that port of this machine. Returns the port. */
  async serveMetrics(port: number): Promise<number> {
    const server = createServer((request, response) => {
      const isKnown = request.url === '/metrics' || request.url === '/'
      const type = 'text/plain; version=0.0.4; charset=utf-8'
      response.writeHead(isKnown ? 200 : 404, { 'content-type': type })
      response.end(isKnown ? renderMetrics(this.watcher, this.measured()) : 'see /metrics\n')
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const hint = 'choose another port, or any that is free: --metrics 0'
        const why = PORT_TROUBLE[error.code!] ?? error.code
        reject(new UsageError(`cannot show metrics at port ${port}: ${why}`, hint))
      })
      server.listen(port, '127.0.0.1', resolve)
    })
    this.server = server
    return (server.address() as AddressInfo).port
  }

  private measured() {
    const { readBytes, alarms } = this
    return { readBytes, alarms, lagSeconds: this.lagMs() / 1000 }
  }

  private lagMs(): number {
    return this.firstUnjudgedMs === null ? 0 : nowMs() - this.firstUnjudgedMs
  }

  private countUnknown(): number {
    return this.watcher.states.filter(({ verdict }) => verdict === 'unknown').length
  }

  private tellAlarm(alarm: Alarm): void {
    this.line.done()
    const { path, json } = this.options
    const { watcher } = this
    const levels = alarm.results.map(({ level }) => level)
    if (json) {
      const context = { path, format: watcher.format!.id, parseMs: 0, command: null, asked: levels }
      const verdict = describeVerdict(alarm.history, [...alarm.results], context)
      const transactions = watcher.judgedTxns
      this.say(stringify({ event: 'alarm', levels, transactions, verdict }))
    } else {
      const title = `ALARM after ${count(watcher.judgedTxns)}: ${levels.join(', ')} violated`
      const colours = coloursFor(process.stdout)
      const text = renderText(alarm.history, alarm.results, { title: colours.bad(title), colours })
      this.keep(tell(`${text}\n`))
    }
  }

  private tellDoubt(): void {
    const { watcher, options } = this
    if (options.json) {
      const levels = watcher.states.filter(({ verdict }) => verdict === 'unknown')
      return this.say(stringify({ event: 'unknown', levels, transactions: watcher.judgedTxns }))
    }
    this.line.done()
    const [first] = watcher.states.filter(({ verdict }) => verdict === 'unknown')
    const title = coloursFor(process.stdout).unsure(`unknown after ${count(watcher.judgedTxns)}:`)
    this.keep(tell(`${title} ${first!.reason}\n`))
  }

  private say(line: string): void {
    this.keep(print(`${line}\n`))
  }

  /** To be waited for at the end. */
  private keep(printing: Promise<void>): void {
    this.printed = Promise.all([this.printed, printing])
  }

  /** Nobody may take for satisfied what was not judged, because it waits for a writer. */
  private statesAtEnd(): LevelState[] {
    const { states, waitingTxns } = this.watcher
    const reason = `${count(waitingTxns)} not judged: the writer of something read has not come`
    return states.map((state) => {
      const isOpen = state.verdict === 'satisfied' && waitingTxns > 0
      return isOpen ? { ...state, verdict: 'unknown', reason } : { ...state }
    })
  }

  private describe() {
    const { watcher } = this
    return {
      levels: watcher.states.map((state) => ({ ...state })),
      transactions: watcher.judgedTxns,
      final: watcher.settled.txnCount,
      waiting: watcher.waitingTxns,
      latenessTransactions: watcher.latenessTxns,
      windowTransactions: watcher.windowTxns,
      keys: watcher.settled.keyCount,
      readBytes: this.readBytes,
      unjudgedBytes: watcher.newBytes,
      tornBytes: watcher.window.tornBytes,
      lagMs: Math.round(this.lagMs()),
    }
  }

  private tellStatus(): string {
    const { watcher } = this
    const levels = watcher.states.map(({ level, verdict }) => `${level} ${verdict} so far`)
    const waiting = watcher.waitingTxns > 0 ? `, ${watcher.waitingTxns} wait for a writer` : ''
    const final = `${watcher.settled.txnCount.toLocaleString('en')} of them for good`
    return `${levels.join(', ')}: ${count(watcher.judgedTxns)}, ${final}${waiting}, ${(this.lagMs() / 1000).toFixed(1)} s behind`
  }

  private tellEnd(isEnd: boolean, levels: readonly LevelState[]): string {
    const { watcher } = this
    const colours = coloursFor(process.stdout)
    const paint = { satisfied: colours.good, violated: colours.bad, unknown: colours.unsure }
    const lines = levels.map(({ level, verdict, reason }) => {
      const soFar = isEnd || verdict === 'violated' ? '' : ' so far'
      const why = reason === null ? '' : `: ${reason}`
      return `  ${paint[verdict](`${level}  ${verdict}${soFar}`)}  ${levelName(level)}${why}`
    })
    const torn = isEnd ? 0 : watcher.window.tornBytes
    if (torn > 0) lines.push(`  ${torn} bytes of a line that is not whole yet are not judged`)
    if (watcher.tornEnd) lines.push('  the last line was cut short, and is left out')
    const late = watcher.latenessTxns
    const order =
      late === 0
        ? 'every writer came before its readers'
        : `writers came up to ${count(late)} after their readers`
    return [`${this.options.path}: ${count(watcher.judgedTxns)}, ${order}`, ...lines].join('\n')
  }
}

const PORT_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it',
  EACCES: 'this user may not use it',
}

function count(txns: number): string {
  return `${txns.toLocaleString('en')} transaction${txns === 1 ? '' : 's'}`
}
