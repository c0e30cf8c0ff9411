// As ../../coupon.mjs, with TypeORM.

import { open } from './database.mjs'

export { reset, schema } from '../../coupon.mjs'

const grant = (manager, customer) => manager.insert('discounts', { coupon: 7, customer })

const redeem = (source, customer) =>
  source.transaction(async (manager) => {
    const { used } = await manager.findOneByOrFail('coupons', { id: 7 })
    if (used) return false
    await manager.update('coupons', { id: 7 }, { used: true })
    await grant(manager, customer)
    return true
  })

const redeemOnce = (source, customer) =>
  source.transaction(async (manager) => {
    const { affected } = await manager.update('coupons', { id: 7, used: false }, { used: true })
    if (affected === 0) return false
    await grant(manager, customer)
    return true
  })

const both = (act) => async (pool) => {
  const source = await open(pool)
  return { ann: () => act(source, 'ann'), bob: () => act(source, 'bob') }
}
export const broken = both(redeem)
export const cured = both(redeemOnce)
