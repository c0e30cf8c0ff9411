// Every schedule must begin in the same state: `before` is run before each, and what the tables
// hold then is compared with the first time. Tables of many megabytes are not looked at. Main
// function: StartingState.restore.

import { UsageError } from '../../base/errors.ts'
import type { Observer } from './observer.ts'

export class StartingState {
  private first: ReadonlyMap<string, string> | null = null // table -> what it held
  private query: string | null = null // what asks for that, once it is known

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
      this.query = await this.observer.signQuery()
      this.first = await this.look()
      return
    }
    const now = await this.look()
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

  private async look(): Promise<ReadonlyMap<string, string>> {
    const rows = this.query === null ? [] : await this.observer.ask(this.query)
    return new Map(rows.map(({ name, sign }) => [String(name), String(sign)]))
  }
}
