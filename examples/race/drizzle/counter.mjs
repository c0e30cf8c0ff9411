// As ../counter.mjs, with Drizzle.

import { eq, sql } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { open, transaction } from './database.mjs'

export { reset, schema } from '../counter.mjs'

const pages = pgTable('pages', { id: integer().primaryKey(), visits: integer().notNull() })

const visit = (pool) =>
  transaction(pool, async (tx) => {
    const [page] = await tx.select().from(pages).where(eq(pages.id, 1))
    await tx
      .update(pages)
      .set({ visits: page.visits + 1 })
      .where(eq(pages.id, 1))
  })

const visitAtomically = (pool) =>
  open(pool)
    .update(pages)
    .set({ visits: sql`${pages.visits} + 1` })
    .where(eq(pages.id, 1))

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool).execute(),
  bob: () => visitAtomically(pool).execute(),
})
