// As ../../coupon.mjs, with Prisma.

import { transaction } from './database.mjs'

export { reset, schema } from '../../coupon.mjs'

const grant = (tx, customer) => tx.discounts.create({ data: { coupon: 7, customer } })

const redeem = (pool, customer) =>
  transaction(pool, async (tx) => {
    const { used } = await tx.coupons.findUniqueOrThrow({ where: { id: 7 } })
    if (used) return false
    await tx.coupons.update({ where: { id: 7 }, data: { used: true } })
    await grant(tx, customer)
    return true
  })

const redeemOnce = (pool, customer) =>
  transaction(pool, async (tx) => {
    const where = { id: 7, used: false }
    const { count } = await tx.coupons.updateMany({ where, data: { used: true } })
    if (count === 0) return false
    await grant(tx, customer)
    return true
  })

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
