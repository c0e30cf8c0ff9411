// As ../rooms.mjs, with Kysely.

import { serializable, transaction } from './database.mjs'

export { reset, schema } from '../rooms.mjs'

const book = (room, hour, guest) => async (trx) => {
  const taken = trx.selectFrom('bookings').select('id').where('room', '=', room)
  const found = await taken.where('hour', '=', hour).execute()
  if (found.length > 0) return false
  await trx.insertInto('bookings').values({ room, hour, guest }).execute()
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
