// The targets `duckdb:FILE` and `duckdb::memory:`: DuckDB in this process.

import { fileTarget } from '../file-database.ts'
import { parseFilePlace } from '../file-place.ts'
import type { TargetKind } from '../target.ts'
import { DUCKDB_LEVELS } from './connection.ts'
import { DuckDatabase } from './database.ts'
import { DRIVER, openInstance, query } from './driver.ts'

export const DUCKDB: TargetKind = {
  form: 'duckdb:FILE',
  about: 'DuckDB on a file, in this process, or in memory (duckdb::memory:)',
  pattern: /^duckdb:/,
  driver: DRIVER,
  trial: {
    product: 'DuckDB',
    tryOut: async () => {
      const instance = await openInstance(':memory:')
      const client = await instance.connect()
      const { rows } = await query(client, 'SELECT version()')
      client.closeSync()
      instance.closeSync()
      return `opened and closed ${String(rows[0]![0]).replace(/^v/, '')}`
    },
  },
  parse: (text) => {
    const place = parseFilePlace(text, 'duckdb:FILE or duckdb::memory:', {})
    const about = { product: 'DuckDB', levels: DUCKDB_LEVELS, usualLevel: 'si' } as const
    return fileTarget(about, () => DuckDatabase.open(place))
  },
}
