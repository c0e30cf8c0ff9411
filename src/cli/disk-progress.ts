// How far a file has come that is judged on disk: what part of the work is done, as far as that can
// be told, and how long the rest takes. Levels and orders that do not hold make rounds: how many
// there will be nobody knows, so from the second on only their number is told. Main class:
// DiskProgress.

/** What part of the time of a first round each phase takes, about; phases may come again. */
const SHARES: Readonly<Record<string, readonly [number, number]>> = {
  streaming: [0, 1], // all there is, where it is enough
  reading: [0, 0.42],
  matching: [0.42, 0.64],
  comparing: [0.64, 0.72],
  ordering: [0.72, 0.74],
  verifying: [0.74, 1],
  loading: [0.6, 1], // what violates a level
}
const LEAST_SHARE = 0.02 // before that nothing can be said about the rest

export class DiskProgress {
  private phase = ''
  private done = 0
  private round = 0
  private share = 0 // the most so far
  private beganMs = 0

  /** What to show: words, and the share that is done, which never falls; null once nobody knows. */
  tell(phase: string, done: number, all: number, nowMs: number): [string, number | null] {
    const isAnew = phase !== this.phase || (phase === 'streaming' && done < this.done)
    if (this.phase === '' || (isAnew && this.phase === 'streaming' && phase !== 'streaming')) {
      // Streaming was not enough, and the work begins.
      this.beganMs = nowMs
      this.share = 0
      this.round = 0
    }
    if (isAnew && (phase === 'streaming' || phase === 'matching')) this.round++
    this.phase = phase
    this.done = done
    if (this.round > 1) return [`${phase}, round ${this.round}`, null]
    const [from, to] = SHARES[phase] ?? [0, 1]
    this.share = Math.max(this.share, from + ((to - from) * done) / Math.max(1, all))
    const { share } = this
    const leftMs = ((nowMs - this.beganMs) * (1 - share)) / share
    const left = share > LEAST_SHARE ? `, about ${Math.ceil(leftMs / 1000)} s left` : ''
    return [`${phase}${left}`, share]
  }
}
