// As ../rooms.mjs, with Drizzle.

import { and, eq } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { serializable, transaction } from './database.mjs'

export { reset, schema } from '../rooms.mjs'

const bookings = pgTable('bookings', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  room: integer().notNull(),
  hour: integer().notNull(),
  guest: text(),
})

const book = (room, hour, guest) => async (tx) => {
  const isTaken = and(eq(bookings.room, room), eq(bookings.hour, hour))
  const found = await tx.select({ id: bookings.id }).from(bookings).where(isTaken)
  if (found.length > 0) return false
  await tx.insert(bookings).values({ room, hour, guest })
  return true
}

export const broken = (pool) => ({
  ann: () => transaction(pool, book(4, 10, 'ann')),
  bob: () => transaction(pool, book(4, 10, 'bob')),
})
export const cured = (pool) => ({
  ann: () => serializable(pool, book(4, 10, 'ann')),
  bob: () => serializable(pool, book(4, 10, 'bob')),
})
