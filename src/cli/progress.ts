// How far a command has come with a history: reading, judging a level, writing. Shown once the work
// has taken two seconds. Main class: Progress.

import { nowMs, type Stage } from '../base/deadline.ts'
import { StatusLine } from './status-line.ts'

const SILENT_MS = 2000

export class Progress {
  private readonly startMs = nowMs()
  private readonly line: StatusLine
  private label = ''
  private fraction: number | null = null

  constructor(isTerminal?: boolean) {
    this.line = new StatusLine(isTerminal)
  }

  /** Call as often as you like. */
  report(label: string, fraction: number | null = null): void {
    this.label = label
    this.fraction = fraction
    this.tick()
  }

  /** Call as often as you like; what judging calls on its way. */
  readonly tick = (stage?: Readonly<Stage>): void => {
    const spentMs = nowMs() - this.startMs
    if (spentMs < SILENT_MS || !this.line.isDue()) return
    const at = stage?.level == null ? '' : `: ${stage.level}, ${stage.phase}`
    this.line.show(`${this.bar()}${this.label}${at} ${(spentMs / 1000).toFixed(1)} s`)
  }

  done(): void {
    this.line.done()
  }

  private bar(): string {
    if (this.fraction === null) return ''
    const share = Math.min(1, Math.max(0, this.fraction))
    const filled = Math.round(share * 20)
    const percent = `${Math.round(share * 100)}%`.padStart(4)
    return `[${'='.repeat(filled)}${' '.repeat(20 - filled)}]${percent} `
  }
}

/** What writing a history calls on its way. */
export function showWriting(path: string, progress: Progress): (bytes: number) => void {
  const name = path === '-' ? 'standard output' : path
  return (bytes) => progress.report(`writing ${name}: ${(bytes / 1e6).toFixed(1)} MB,`)
}
