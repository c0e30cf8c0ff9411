// The three error channels: findings are values (see verdict/), the world's fault is one of the
// typed errors here, our own fault is a failed `assert`. Only cli/main.ts turns them into exit codes.

/** Where in an input something stands; lines and columns count from 1. */
export interface Place {
  line: number
  column: number
}

/** The input is bad: malformed, contradictory, too large, missing. */
export class InputError extends Error {
  override readonly name = 'InputError'
  /** File the input came from; filled in by whoever opened it. */
  path: string | null = null

  constructor(
    /** Stable machine-readable name, e.g. `duplicate-value`. */
    readonly code: string,
    message: string,
    readonly place: Place | null = null,
    readonly hint: string | null = null,
  ) {
    super(message)
  }

  /** `history.txt:812:14: message`, as compilers print it. */
  describe(): string {
    const where = this.place ? `:${this.place.line}:${this.place.column}` : ''
    return `${this.path ?? 'input'}${where}: ${this.message}`
  }
}

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError'

  constructor(
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message)
  }
}

/** A database could not be reached, set up or used. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'

  constructor(
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message)
  }
}

/** Work was given up because a time or memory budget ran out; becomes an `unknown` verdict. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded'
}

export class InternalError extends Error {
  override readonly name = 'InternalError'
}

/** States a truth the code relies on; a failure is our bug, never the user's. */
export function assert(condition: boolean, truth: string): asserts condition {
  if (!condition) throw new InternalError(`expected: ${truth}`)
}
