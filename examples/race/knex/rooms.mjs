// As ../rooms.mjs, with Knex.

import { serializable, transaction } from './database.mjs'

export { reset, schema } from '../rooms.mjs'

const book = (room, hour, guest) => async (trx) => {
  const found = await trx('bookings').select('id').where({ room, hour })
  if (found.length > 0) return false
  await trx('bookings').insert({ room, hour, guest })
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
