// How a run is getting on: its phase, how many transactions, how long still. Main class: RunLine.

import { counted } from '../base/counted.ts'
import { nowMs, type Stage } from '../base/deadline.ts'
import type { RunOptions, RunPhase } from '../pipeline/run-options.ts'
import type { RunProgress } from '../record/runner.ts'
import { StatusLine } from './status-line.ts'

const PHASES: Record<RunPhase, string> = {
  starting: 'starting the database',
  running: 'running',
  reading: 'reading the history',
  checking: 'judging',
}

export class RunLine {
  private readonly line: StatusLine
  private label = ''
  private phaseMs = nowMs()

  constructor(isTerminal?: boolean) {
    this.line = new StatusLine(isTerminal)
  }

  /** @param part the part of the work that it is a phase of, where there are several */
  phase(phase: RunPhase, part: string | null = null): void {
    this.label = part === null ? PHASES[phase] : `${part}: ${PHASES[phase]}`
    this.phaseMs = nowMs()
    this.line.show(this.label)
  }

  /** Call as often as you like during long work. */
  readonly tick = (stage?: Readonly<Stage>): void => {
    if (!this.line.isDue()) return
    const at = stage?.level == null ? '' : ` ${stage.level}, ${stage.phase}`
    this.line.show(`${this.label}${at} ${seconds(nowMs() - this.phaseMs)}`)
  }

  progress(progress: RunProgress, options: RunOptions): void {
    const { committed, aborted, indeterminate, elapsedMs } = progress
    const count = committed + aborted + indeterminate
    const rate = Math.round((committed * 1000) / Math.max(elapsedMs, 1))
    const parts = [
      counted(count, 'transaction'),
      `${rate} commits/s`,
      `${aborted} aborted`,
      `${indeterminate} indeterminate`,
      seconds(elapsedMs),
    ]
    const leftMs = this.left(count, elapsedMs, options)
    if (leftMs !== null) parts.push(`${seconds(leftMs)} left`)
    this.line.show(parts.join(', '))
  }

  done(): void {
    this.line.done()
  }

  private left(count: number, elapsedMs: number, options: RunOptions): number | null {
    if (options.durationMs !== null) return Math.max(0, options.durationMs - elapsedMs)
    const all = options.workload.transactions
    if (all === undefined || count === 0) return null
    return Math.max(0, (elapsedMs * (all - count)) / count)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
