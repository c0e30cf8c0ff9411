// What sessions on a database in this process have in common: no port, no level but one, and
// standard SQL for what is there already. Main class: FileConnection.

import { type Dialect, RegisterConnection } from './registers.ts'
import { onConflict } from './rows.ts'

type OwnDialect = Pick<Dialect, 'same' | 'seeing'>

export abstract class FileConnection<Client> extends RegisterConnection {
  readonly localPort = 0
  isLost = false

  constructor(
    protected readonly client: Client,
    dialect: OwnDialect,
    keyCount: () => number,
  ) {
    const standard = {
      upsert: (insert: string) => `${insert} ON CONFLICT (k) DO UPDATE SET v = excluded.v`,
      concat: (one: string, other: string) => `${one} || ${other}`,
      forUpdate: null,
      upsertRows: onConflict,
    }
    super({ ...standard, ...dialect }, keyCount)
  }

  /** There is one level, and statements outside of transactions have it, too. */
  protected async setLevelAlone(): Promise<void> {}
}
