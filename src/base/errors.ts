// The three error channels: findings are values (see verdict/), the world's fault is one of the
// typed errors here, our own fault is a failed `assert`. Only cli/main.ts turns them into exit
// codes. What they say may quote the world, so it is made fit to be shown when they are made.

import { cut, inert, sentence } from './inert.ts'

/** Where in an input something stands; lines and columns count from 1. */
export interface Place {
  line: number
  column: number
}

const MAX_PATH = 400

/** One that may say what to do about it. */
export abstract class HintedError extends Error {
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super(sentence(message))
    this.hint = hint === null ? null : sentence(hint)
  }
}

/**
 * The input is bad: malformed, contradictory, too large, missing.
 *
 * @example
 * try {
 *   parseHistory(text)
 * } catch (error) {
 *   if (error instanceof InputError) report(error.describe(), error.hint)
 * }
 */
export class InputError extends HintedError {
  override readonly name = 'InputError'
  /** File the input came from; filled in by whoever opened it. */
  path: string | null = null

  /** @param code stable machine-readable name, e.g. `duplicate-value` */
  constructor(
    readonly code: string,
    message: string,
    readonly place: Place | null = null,
    hint: string | null = null,
  ) {
    super(message, hint)
  }

  /** `history.txt:812:14: message`, as compilers print it. */
  describe(): string {
    const where = this.place ? `:${this.place.line}:${this.place.column}` : ''
    return `${inert(cut(this.path ?? 'input', MAX_PATH))}${where}: ${this.message}`
  }
}

/**
 * The command was called wrongly.
 *
 * @example
 * try {
 *   await check(text, 'si', { limit: 0 })
 * } catch (error) {
 *   if (error instanceof UsageError) report(error.message, error.hint)
 * }
 */
export class UsageError extends HintedError {
  override readonly name = 'UsageError'
}

/** A database could not be reached, set up or used. */
export class DatabaseError extends HintedError {
  override readonly name = 'DatabaseError'
}

/**
 * Work was given up because a time or memory budget ran out; becomes an `unknown` verdict.
 *
 * @example
 * error instanceof BudgetExceeded // what `check` tells as an `unknown` verdict
 */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded'

  /** @param limit what ran out; @param progress how far the work had come */
  constructor(
    readonly limit: string,
    readonly progress: readonly string[] = [],
  ) {
    super(sentence([limit, ...progress].join('; ')))
  }
}

/**
 * A fault of this package.
 *
 * @example
 * error instanceof InternalError // please report it
 */
export class InternalError extends Error {
  override readonly name = 'InternalError'
}

/** States a truth the code relies on; a failure is our bug, never the user's. */
export function assert(condition: boolean, truth: string): asserts condition {
  if (!condition) throw new InternalError(`expected: ${truth}`)
}
