// Booking a room if nobody has it at that hour. Two guests at the same time both find it free: a
// phantom. There is no row to lock; cured by SERIALIZABLE, with a retry for whoever is refused.

import { serializable, transaction } from './transaction.mjs'

export const schema = `CREATE TABLE bookings (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, room int NOT NULL, hour int NOT NULL, guest text)`

export async function reset(pool) {
  await pool.query('DELETE FROM bookings')
}

const book = (room, hour, guest) => async (client) => {
  const ask = 'SELECT id FROM bookings WHERE room = $1 AND hour = $2'
  const { rows } = await client.query(ask, [room, hour])
  if (rows.length > 0) return false
  const insert = 'INSERT INTO bookings (room, hour, guest) VALUES ($1, $2, $3)'
  await client.query(insert, [room, hour, guest])
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
