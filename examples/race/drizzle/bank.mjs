// As ../bank.mjs, with Drizzle.

import { eq, sql } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { transaction } from './database.mjs'

export { reset, schema } from '../bank.mjs'

const accounts = pgTable('accounts', { id: integer().primaryKey(), balance: integer().notNull() })

const transfer = (pool, from, to, amount, lock) =>
  transaction(pool, async (tx) => {
    const ask = tx.select().from(accounts).where(eq(accounts.id, from))
    const [{ balance }] = await (lock ? ask.for('update') : ask)
    if (balance < amount) return false
    await tx
      .update(accounts)
      .set({ balance: balance - amount })
      .where(eq(accounts.id, from))
    const more = { balance: sql`${accounts.balance} + ${amount}` }
    await tx.update(accounts).set(more).where(eq(accounts.id, to))
    return true
  })

const both = (lock) => (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, lock),
  bob: () => transfer(pool, 1, 3, 80, lock),
})
export const broken = both(false)
export const cured = both(true)
