// As ../../doctors.mjs, with Sequelize.

import { transaction } from './database.mjs'

export { reset, schema } from '../../doctors.mjs'

const leave = (pool, id, lock) =>
  transaction(pool, async ({ doctors }, transaction) => {
    const ask = { where: { on_call: true }, order: ['id'], transaction, lock }
    const found = await doctors.findAll(ask)
    if (found.length < 2) return false
    await doctors.update({ on_call: false }, { where: { id }, transaction })
    return true
  })

const both = (lock) => (pool) => ({
  ann: () => leave(pool, 1, lock),
  bob: () => leave(pool, 2, lock),
})
export const broken = both(false)
export const cured = both(true)
