// As ../../bank.mjs, with Sequelize.

import { transaction } from './database.mjs'

export { reset, schema } from '../../bank.mjs'

const transfer = (pool, from, to, amount, lock) =>
  transaction(pool, async ({ accounts }, transaction) => {
    const { balance } = await accounts.findByPk(from, { transaction, lock })
    if (balance < amount) return false
    await accounts.update({ balance: balance - amount }, { where: { id: from }, transaction })
    await accounts.increment({ balance: amount }, { where: { id: to }, transaction })
    return true
  })

const both = (lock) => (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, lock),
  bob: () => transfer(pool, 1, 3, 80, lock),
})
export const broken = both(false)
export const cured = both(true)
