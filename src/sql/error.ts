// The one error of this folder, and who makes it.

/** Why a clause cannot be used: what it says, and where in its text that stands. */
export class SqlError extends Error {
  override readonly name = 'SqlError'

  constructor(
    message: string,
    /** Characters before the place, from 0; null if it is not known. */
    readonly offset: number | null = null,
  ) {
    super(message)
  }
}

/** Where an expression stands. */
export interface Place {
  /** An error that names the expression. */
  error(message: string): SqlError
}
