// As ../../rooms.mjs, with Sequelize.

import { serializable, transaction } from './database.mjs'

export { reset, schema } from '../../rooms.mjs'

const book =
  (room, hour, guest) =>
  async ({ bookings }, transaction) => {
    const found = await bookings.findAll({ where: { room, hour }, transaction })
    if (found.length > 0) return false
    await bookings.create({ room, hour, guest }, { transaction })
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
