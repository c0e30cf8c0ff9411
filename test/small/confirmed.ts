// Counts the verdicts that brute force confirmed, by level, for bench/brute-force.md: each
// comparison adds its own to the file that ISOBAR_CONFIRMED names, if it names one. A comparison
// that ends in a difference tells nothing. Main class: Confirmed.

import { appendFileSync } from 'node:fs'

const FILE = process.env['ISOBAR_CONFIRMED']

/** What a line of the file has. */
export interface ConfirmedCount {
  /** What histories were made of. */
  readonly what: string
  readonly level: string
  /** Whether they were gone through, or drawn by seed. */
  readonly isDrawn: boolean
  readonly verdict: string
  readonly count: number
}

export class Confirmed {
  private readonly counts = new Map<string, number>()

  constructor(private readonly what: string) {}

  add(level: string, isDrawn: boolean, verdict: string, count = 1): void {
    const { what } = this
    const about = JSON.stringify({ what, level, isDrawn, verdict })
    this.counts.set(about, (this.counts.get(about) ?? 0) + count)
  }

  tell(): void {
    if (FILE === undefined) return
    const lines = Array.from(this.counts, ([about, count]) => {
      return `${JSON.stringify({ ...JSON.parse(about), count } satisfies ConfirmedCount)}\n`
    })
    appendFileSync(FILE, lines.join(''))
  }
}

/** Of where a history came from, as draftsFor says it. */
export const isDrawn = (source: string): boolean => source.startsWith('seed')
