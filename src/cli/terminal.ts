// The terminal: colours only where a person looks, a progress line on standard error for long work,
// and a closed pipe that ends the program quietly.

import pc from 'picocolors'
import { nowMs } from '../base/deadline.ts'
import { unwritable } from '../files/write.ts'
import type { Colours } from '../report/text.ts'
import { EXIT } from './exit-codes.ts'

/** Colours if the stream is a terminal and nobody asked for none. */
export function coloursFor(stream: { isTTY?: boolean }): Colours {
  const wanted = stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'
  const { green, red, yellow, bold, dim } = pc.createColors(wanted)
  return { good: green, bad: red, unsure: yellow, strong: bold, faint: dim }
}

/** Ends quietly when whoever reads our output has seen enough, and says why it cannot be written. */
export function surviveLostOutput(): void {
  const end = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.unread)
    const { message } = unwritable(error, 'standard output')
    process.stderr.write(`isobar: standard output ${message}\n`, () => process.exit(EXIT.usage))
  }
  process.stdout.on('error', end)
  process.stderr.on('error', () => process.exit(EXIT.unread))
}

/** Writes and waits, so that the exit never cuts the output short and pieces never pile up. */
export async function print(text: string | Iterable<string>): Promise<void> {
  if (typeof text !== 'string') {
    let gathered = ''
    for (const piece of text) {
      gathered += piece
      if (gathered.length < PRINTED_AT_ONCE) continue
      await print(gathered)
      gathered = ''
    }
    return print(gathered)
  }
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve())
  })
}

const PRINTED_AT_ONCE = 1 << 16 // characters

const QUIET_MS = 2000
const REFRESH_MS = 200

/** One line on standard error, rewritten in place, for work that takes more than two seconds. */
export class Progress {
  private readonly startMs = nowMs()
  private lastMs = 0
  private shown = false
  private label = ''
  private fraction: number | null = null

  constructor(private readonly enabled = process.stderr.isTTY === true) {}

  /** Call as often as you like. */
  report(label: string, fraction: number | null = null): void {
    this.label = label
    this.fraction = fraction
    this.tick()
  }

  readonly tick = (): void => {
    if (!this.enabled) return
    const now = nowMs()
    if (now - this.startMs < QUIET_MS || now - this.lastMs < REFRESH_MS) return
    this.lastMs = now
    this.shown = true
    const seconds = ((now - this.startMs) / 1000).toFixed(1)
    process.stderr.write(`\r\u001b[K${this.bar()}${this.label} ${seconds} s`)
  }

  done(): void {
    if (this.shown) process.stderr.write('\r\u001b[K')
    this.shown = false
  }

  private bar(): string {
    if (this.fraction === null) return ''
    const filled = Math.round(Math.min(1, Math.max(0, this.fraction)) * 20)
    const percent = `${Math.round(this.fraction * 100)}%`.padStart(4)
    return `[${'='.repeat(filled)}${' '.repeat(20 - filled)}]${percent} `
  }
}
