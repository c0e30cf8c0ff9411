// As ../../rooms.mjs, with Prisma.

import { serializable, transaction } from './database.mjs'

export { reset, schema } from '../../rooms.mjs'

const book = (room, hour, guest) => async (tx) => {
  const found = await tx.bookings.findMany({ where: { room, hour }, select: { id: true } })
  if (found.length > 0) return false
  await tx.bookings.create({ data: { room, hour, guest } })
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
