// The line that shows how long work is getting on, on standard error: on a terminal it is rewritten
// in place, elsewhere a whole line is written every ten seconds, so that a log says that something
// still happens. Silent if the user asked for quiet. Main class: StatusLine.

import { nowMs } from '../base/deadline.ts'
import { isQuiet } from './terminal.ts'

const REFRESH_MS = 200
const LINE_EVERY_MS = 10_000

export class StatusLine {
  private readonly isTerminal: boolean
  private lastMs = Number.NEGATIVE_INFINITY // when it was last rewritten
  private lineMs: number // when the last whole line was written
  private isShown = false

  constructor(isTerminal = process.stderr.isTTY === true) {
    this.isTerminal = isTerminal
    this.lineMs = nowMs()
  }

  /** Whether it is time to say something again; call as often as you like. */
  isDue(): boolean {
    if (isQuiet()) return false
    const now = nowMs()
    return this.isTerminal ? now - this.lastMs >= REFRESH_MS : now - this.lineMs >= LINE_EVERY_MS
  }

  /** Shows it at once on a terminal, and when a line is due elsewhere. */
  show(text: string): void {
    if (isQuiet() || (!this.isTerminal && !this.isDue())) return
    if (this.isTerminal) {
      this.lastMs = nowMs()
      this.isShown = true
      process.stderr.write(`\r\u001b[K${text}`)
      return
    }
    this.lineMs = nowMs()
    process.stderr.write(`isobar: ${text}\n`)
  }

  /** Takes it away again. */
  done(): void {
    if (this.isShown) process.stderr.write('\r\u001b[K')
    this.isShown = false
  }
}
