// The target `sqlite:FILE`: SQLite in this process, on a file.

import { fileTarget } from '../file-database.ts'
import { parseFilePlace } from '../file-place.ts'
import type { TargetKind } from '../target.ts'
import { SQLITE_LEVELS } from './connection.ts'
import { SqliteDatabase } from './database.ts'
import { DRIVER, openClient, query } from './driver.ts'

const JOURNALS = ['wal', 'delete', 'truncate', 'persist']

export const SQLITE: TargetKind = {
  form: 'sqlite:FILE',
  about: 'SQLite on a file, in this process',
  pattern: /^sqlite:/,
  driver: DRIVER,
  trial: {
    product: 'SQLite',
    tryOut: async () => {
      const client = await openClient(':memory:')
      const version = query(client, 'SELECT sqlite_version()').rows[0]![0]
      client.close()
      return `opened and closed ${version} (libSQL)`
    },
  },
  parse: (text) => {
    const place = parseFilePlace(text, 'sqlite:FILE', { journal: JOURNALS })
    const about = { product: 'SQLite', levels: SQLITE_LEVELS, usualLevel: 'ser' } as const
    return fileTarget(about, () => SqliteDatabase.open(place))
  },
}
