// As ../coupon.mjs, with Knex.

import { transaction } from './database.mjs'

export { reset, schema } from '../coupon.mjs'

const grant = (trx, customer) => trx('discounts').insert({ coupon: 7, customer })

const redeem = (pool, customer) =>
  transaction(pool, async (trx) => {
    const [{ used }] = await trx('coupons').select('used').where({ id: 7 })
    if (used) return false
    await trx('coupons').where({ id: 7 }).update({ used: true })
    await grant(trx, customer)
    return true
  })

const redeemOnce = (pool, customer) =>
  transaction(pool, async (trx) => {
    const taken = await trx('coupons').where({ id: 7, used: false }).update({ used: true })
    if (taken === 0) return false
    await grant(trx, customer)
    return true
  })

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
