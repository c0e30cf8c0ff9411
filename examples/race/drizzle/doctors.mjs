// As ../doctors.mjs, with Drizzle.

import { eq } from 'drizzle-orm'
import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { transaction } from './database.mjs'

export { reset, schema } from '../doctors.mjs'

const doctors = pgTable('doctors', {
  id: integer().primaryKey(),
  name: text().notNull(),
  onCall: boolean('on_call').notNull(),
})

const leave = (pool, id, lock) =>
  transaction(pool, async (tx) => {
    const ask = tx.select({ id: doctors.id }).from(doctors).where(eq(doctors.onCall, true))
    const found = await (lock ? ask.orderBy(doctors.id).for('update') : ask.orderBy(doctors.id))
    if (found.length < 2) return false
    await tx.update(doctors).set({ onCall: false }).where(eq(doctors.id, id))
    return true
  })

export const broken = (pool) => ({ ann: () => leave(pool, 1), bob: () => leave(pool, 2) })
export const cured = (pool) => ({
  ann: () => leave(pool, 1, true),
  bob: () => leave(pool, 2, true),
})
