// How long whoever waits for a night waits before the next look at it. Looking costs the server
// time that jobs could have, so looks are rare while much is left; but the end should not go
// unnoticed for long, so they are frequent at first, when the night may be a short one, and again
// when the end is near by the pace so far. Main class: Looks.

const LEAST_MS = 50
const MOST_MS = 1000

export class Looks {
  private wait = LEAST_MS
  private first: { readonly ms: number; readonly done: number } | null = null

  /** @param done jobs of the night that have a result, at the moment `ms` */
  next(ms: number, done: number, jobs: number): number {
    this.first ??= { ms, done }
    this.wait = Math.min(2 * this.wait, MOST_MS)
    const doneSince = done - this.first.done
    if (doneSince === 0) return this.wait
    const leftMs = ((ms - this.first.ms) / doneSince) * (jobs - done)
    // Half of it: if the pace has changed, the next look corrects it.
    return Math.min(this.wait, Math.max(LEAST_MS, leftMs / 2))
  }
}
