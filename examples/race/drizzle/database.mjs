// Drizzle on the application's own pool of pg.

import { drizzle } from 'drizzle-orm/node-postgres'

export const open = (pool) => drizzle(pool)

export const transaction = (pool, work) => open(pool).transaction(work)

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      return await open(pool).transaction(work, { isolationLevel: 'serializable' })
    } catch (error) {
      // The driver's own error is the cause of Drizzle's, except for that of COMMIT.
      const code = error.cause?.code ?? error.code
      if (code !== '40001' && code !== '40P01') throw error
    }
  }
}
