// As ../coupon.mjs, with Drizzle.

import { and, eq } from 'drizzle-orm'
import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { transaction } from './database.mjs'

export { reset, schema } from '../coupon.mjs'

const coupons = pgTable('coupons', { id: integer().primaryKey(), used: boolean().notNull() })
const discounts = pgTable('discounts', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  coupon: integer(),
  customer: text(),
})

const grant = (tx, customer) => tx.insert(discounts).values({ coupon: 7, customer })

const redeem = (pool, customer) =>
  transaction(pool, async (tx) => {
    const [{ used }] = await tx.select().from(coupons).where(eq(coupons.id, 7))
    if (used) return false
    await tx.update(coupons).set({ used: true }).where(eq(coupons.id, 7))
    await grant(tx, customer)
    return true
  })

const redeemOnce = (pool, customer) =>
  transaction(pool, async (tx) => {
    const isFree = and(eq(coupons.id, 7), eq(coupons.used, false))
    const { rowCount } = await tx.update(coupons).set({ used: true }).where(isFree)
    if (rowCount === 0) return false
    await grant(tx, customer)
    return true
  })

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
