// As ../coupon.mjs, with Kysely.

import { transaction } from './database.mjs'

export { reset, schema } from '../coupon.mjs'

const grant = (trx, customer) =>
  trx.insertInto('discounts').values({ coupon: 7, customer }).execute()

const redeem = (pool, customer) =>
  transaction(pool, async (trx) => {
    const coupon = trx.selectFrom('coupons').select('used').where('id', '=', 7)
    const { used } = await coupon.executeTakeFirstOrThrow()
    if (used) return false
    await trx.updateTable('coupons').set({ used: true }).where('id', '=', 7).execute()
    await grant(trx, customer)
    return true
  })

const redeemOnce = (pool, customer) =>
  transaction(pool, async (trx) => {
    const take = trx.updateTable('coupons').set({ used: true }).where('id', '=', 7)
    const { numUpdatedRows } = await take.where('used', '=', false).executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    await grant(trx, customer)
    return true
  })

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
