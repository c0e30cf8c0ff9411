// Every schedule must begin in the same state: `before` is run before each, and what the tables
// hold then is compared with the first time. Tables of many megabytes are not looked at. Main
// function: StartingState.restore.

import { UsageError } from '../../base/errors.ts'
import type { Observer } from './observer.ts'

export class StartingState {
  private first: Map<string, string> | null = null // table -> what it held
  private readonly names = new Set<string>()

  constructor(
    private readonly observer: Observer,
    private readonly before: (() => unknown) | undefined,
  ) {}

  /** Throws UsageError if the tables hold something else than the first time. */
  async restore(): Promise<void> {
    if (this.before) {
      try {
        await this.before()
      } catch (error) {
        throw new UsageError(`race: \`before\` failed: ${(error as Error).message}`)
      }
    }
    if (this.first === null) {
      for (const name of await this.observer.smallTables()) this.names.add(name)
      this.first = await this.observer.signs([...this.names])
      return
    }
    const now = await this.observer.signs([...this.names])
    const changed = [...now].filter(([table, sign]) => this.first!.get(table) !== sign)
    if (changed.length === 0) return
    const tables = changed.map(([table]) => table).join(' and ')
    throw this.before
      ? new UsageError(
          `race: \`before\` does not reset the database: ${tables} did not hold the same as the first time`,
          'every schedule must begin in the same state: have `before` delete and insert, or TRUNCATE, whatever actors change',
        )
      : new UsageError(
          `race: the actors change ${tables}, and nothing resets it`,
          'every schedule must begin in the same state: race(pool, actors, { before: () => … })',
        )
  }
}
