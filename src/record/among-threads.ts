// What the threads of a run have in common. Numbers that nobody else may hand out are dealt in
// turn, so that no thread has to ask another; where there is one thread it gets all of them, in
// order. Times are those of one clock. Main classes: Numbers, Places, RunClock.

/** Every so manieth number, from the first on. */
export class Numbers {
  private last: number

  constructor(
    first: number,
    private readonly step: number,
  ) {
    this.last = first - step
  }

  next(): number {
    this.last += this.step
    return this.last
  }
}

/** What only so many may do at once, whichever thread they are in. */
export class Places {
  private readonly taken: Int32Array

  constructor(readonly shared = new SharedArrayBuffer(4)) {
    this.taken = new Int32Array(shared)
  }

  /** Whether there was a place left of so many; then it is taken. */
  take(most: number): boolean {
    if (Atomics.add(this.taken, 0, 1) < most) return true
    this.leave()
    return false
  }

  leave(): void {
    Atomics.sub(this.taken, 0, 1)
  }
}

/** Seconds and nanoseconds of the monotonic clock that all threads of a process share. */
export type Instant = readonly [seconds: number, nanoseconds: number]

/**
 * Microseconds since the beginning of a run. Every thread makes the same whole number of the same
 * instant, and of a later one none that is less: so what is told to have ended before something
 * else began, did. (Of performance.now() neither is sure: each thread may count from an instant of
 * its own, in fractions that are rounded apart.)
 */
export class RunClock {
  constructor(readonly origin: Instant = process.hrtime()) {}

  nowUs(): number {
    return microsecondsBetween(this.origin, process.hrtime())
  }
}

/** Rounded down to a whole number; all on the way is whole, too. */
export function microsecondsBetween(from: Instant, to: Instant): number {
  return (to[0] - from[0]) * 1_000_000 + Math.floor((to[1] - from[1]) / 1000)
}
