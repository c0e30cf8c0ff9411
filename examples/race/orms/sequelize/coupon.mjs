// As ../../coupon.mjs, with Sequelize.

import { transaction } from './database.mjs'

export { reset, schema } from '../../coupon.mjs'

const grant = ({ discounts }, customer, transaction) =>
  discounts.create({ coupon: 7, customer }, { transaction })

const redeem = (pool, customer) =>
  transaction(pool, async (models, transaction) => {
    const { used } = await models.coupons.findByPk(7, { transaction })
    if (used) return false
    await models.coupons.update({ used: true }, { where: { id: 7 }, transaction })
    await grant(models, customer, transaction)
    return true
  })

const redeemOnce = (pool, customer) =>
  transaction(pool, async (models, transaction) => {
    const where = { id: 7, used: false }
    const [count] = await models.coupons.update({ used: true }, { where, transaction })
    if (count === 0) return false
    await grant(models, customer, transaction)
    return true
  })

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
