// The terminal: how much is said and in which colours, and a closed pipe that ends the program
// quietly.

import pc from 'picocolors'
import { unwritable } from '../files/write.ts'
import type { Colours } from '../report/text.ts'
import { EXIT } from './exit-codes.ts'

export const COLOUR_MODES = ['auto', 'always', 'never'] as const
export type ColourMode = (typeof COLOUR_MODES)[number]

/** What the options of every command say. */
export interface TerminalSettings {
  quiet: boolean
  colour: ColourMode
}

let settings: TerminalSettings = { quiet: false, colour: 'auto' }

/** For the commands that follow. */
export function configureTerminal(given: Partial<TerminalSettings> = {}): void {
  settings = { quiet: false, colour: 'auto', ...given }
}

export function isQuiet(): boolean {
  return settings.quiet
}

/** Colours where the user wants them: by option, else by environment, else on a terminal. */
export function coloursFor(stream: { isTTY?: boolean }): Colours {
  const { green, red, yellow, bold, dim } = pc.createColors(wantsColours(stream))
  return { good: green, bad: red, unsure: yellow, strong: bold, faint: dim }
}

/** An option goes before NO_COLOR, that before FORCE_COLOR (no-color.org, force-color.org). */
function wantsColours(stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (settings.colour !== 'auto') return settings.colour === 'always'
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return stream.isTTY === true && TERM !== 'dumb'
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

/** As print, for what nobody asked for by an option of its own: not where quiet is wanted. */
export async function tell(text: string | Iterable<string>): Promise<void> {
  if (!settings.quiet) await print(text)
}

const PRINTED_AT_ONCE = 1 << 16 // characters
