// Knex on the application's own pool of pg: it makes connections by itself unless it is told where
// they come from.

import knex from 'knex'
import Postgres from 'knex/lib/dialects/postgres/index.js'

export function open(pool) {
  class OnPool extends Postgres {
    acquireConnection() {
      return pool.connect()
    }

    async releaseConnection(connection) {
      connection.release()
    }
  }
  return knex({ client: OnPool })
}

export const transaction = (pool, work) => open(pool).transaction(work)

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      return await open(pool).transaction(work, { isolationLevel: 'serializable' })
    } catch (error) {
      if (error.code !== '40001' && error.code !== '40P01') throw error
    }
  }
}
