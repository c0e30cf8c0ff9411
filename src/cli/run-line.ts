// The line that shows how a run is getting on: on a terminal it is rewritten in place on standard
// error, elsewhere it is written every ten seconds.

import { nowMs } from '../base/deadline.ts'
import type { RunOptions, RunPhase } from '../pipeline/run.ts'
import type { RunProgress } from '../record/runner.ts'

const REFRESH_MS = 200
const LINE_EVERY_MS = 10_000

const PHASES: Record<RunPhase, string> = {
  starting: 'starting the database',
  running: 'running',
  reading: 'reading the history',
  checking: 'judging',
}

export class RunLine {
  private readonly isTerminal: boolean
  private lineMs = nowMs() // when the last whole line was written
  private label = ''
  private phaseMs = nowMs()
  private lastMs = 0
  private isShown = false

  constructor(isTerminal = process.stderr.isTTY === true) {
    this.isTerminal = isTerminal
  }

  /** @param part the part of the work that it is a phase of, where there are several */
  phase(phase: RunPhase, part: string | null = null): void {
    this.label = part === null ? PHASES[phase] : `${part}: ${PHASES[phase]}`
    this.phaseMs = nowMs()
    this.show(this.label)
  }

  /** Call as often as you like during long work. */
  readonly tick = (): void => {
    const now = nowMs()
    if (now - this.lastMs < REFRESH_MS) return
    this.show(`${this.label} ${seconds(now - this.phaseMs)}`)
  }

  progress(progress: RunProgress, options: RunOptions): void {
    const { committed, aborted, indeterminate, elapsedMs } = progress
    const count = committed + aborted + indeterminate
    const rate = Math.round((committed * 1000) / Math.max(elapsedMs, 1))
    const parts = [
      `${count} transactions`,
      `${rate} commits/s`,
      `${aborted} aborted`,
      `${indeterminate} indeterminate`,
      seconds(elapsedMs),
    ]
    const leftMs = this.left(count, elapsedMs, options)
    if (leftMs !== null) parts.push(`${seconds(leftMs)} left`)
    this.show(parts.join(', '))
  }

  done(): void {
    if (this.isShown) process.stderr.write('\r\u001b[K')
    this.isShown = false
  }

  private left(count: number, elapsedMs: number, options: RunOptions): number | null {
    if (options.durationMs !== null) return Math.max(0, options.durationMs - elapsedMs)
    const all = options.workload.transactions
    if (all === undefined || count === 0) return null
    return Math.max(0, (elapsedMs * (all - count)) / count)
  }

  private show(text: string): void {
    this.lastMs = nowMs()
    if (!this.isTerminal) {
      if (this.lastMs - this.lineMs < LINE_EVERY_MS) return
      this.lineMs = this.lastMs
      process.stderr.write(`isobar: ${text}\n`)
      return
    }
    this.isShown = true
    process.stderr.write(`\r\u001b[K${text}`)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
