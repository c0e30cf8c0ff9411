// When to start over, keeping what was learned.
//
// Two modes in turn, as in CaDiCaL (Biere, 2018; Oh, SAT 2015): in focused mode a restart is due
// when the glue of recent clauses is worse than the long-run average (Audemard and Simon 2012, with
// exponential averages after Biere and Fröhlich 2015), good for refutations; in stable mode
// restarts follow the Luby sequence (Luby, Sinclair, Zuckerman 1993) and are rare, good for finding
// models. Modes last for a number of conflicts that grows. Main class: RestartPolicy.

const FAST = 1 / 32 // weight of a new glue in the recent average
const SLOW = 1 / 8192
const MARGIN = 1.1
const FOCUSED_INTERVAL = 8 // conflicts between two restarts, at least
const STABLE_UNIT = 512 // conflicts per unit of the Luby sequence
const MODE_START = 1000 // conflicts of the first mode

export class RestartPolicy {
  stable = false
  restarts = 0
  private fast = 0
  private slow = 0
  private conflicts = 0
  private lastRestart = 0
  private modeEnd = MODE_START
  private modeLength = MODE_START
  private lubyIndex = 1

  onConflict(glue: number): void {
    this.conflicts++
    // Early on, plain averages: the weights start large and fall to their constants.
    this.fast += Math.max(FAST, 1 / this.conflicts) * (glue - this.fast)
    this.slow += Math.max(SLOW, 1 / this.conflicts) * (glue - this.slow)
    if (this.conflicts < this.modeEnd) return
    this.stable = !this.stable
    if (!this.stable) this.modeLength += MODE_START
    this.modeEnd = this.conflicts + this.modeLength
  }

  isDue(): boolean {
    const waited = this.conflicts - this.lastRestart
    if (this.stable) return waited >= STABLE_UNIT * luby(this.lubyIndex)
    return waited >= FOCUSED_INTERVAL && this.fast > MARGIN * this.slow
  }

  onRestart(): void {
    this.restarts++
    this.lastRestart = this.conflicts
    if (this.stable) this.lubyIndex++
  }
}

/** The Luby sequence 1 1 2 1 1 2 4 ..., from index 1. */
export function luby(index: number): number {
  let i = index
  while (true) {
    let power = 1
    while (2 * power <= i + 1) power *= 2
    // `power` is the largest power of two up to i + 1.
    if (power === i + 1) return power / 2
    i -= power - 1
  }
}
