// Kysely on the application's own pool of pg.

import { Kysely, PostgresDialect } from 'kysely'

export const open = (pool) => new Kysely({ dialect: new PostgresDialect({ pool }) })

export const transaction = (pool, work) => open(pool).transaction().execute(work)

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      return await open(pool).transaction().setIsolationLevel('serializable').execute(work)
    } catch (error) {
      if (error.code !== '40001' && error.code !== '40P01') throw error
    }
  }
}
