// As ../../rooms.mjs, with TypeORM.

import { open, serializable } from './database.mjs'

export { reset, schema } from '../../rooms.mjs'

const book = (room, hour, guest) => async (manager) => {
  const found = await manager.findBy('bookings', { room, hour })
  if (found.length > 0) return false
  await manager.insert('bookings', { room, hour, guest })
  return true
}

const both = (transact) => async (pool) => {
  const source = await open(pool)
  return {
    ann: () => transact(source, book(4, 10, 'ann')),
    bob: () => transact(source, book(4, 10, 'bob')),
  }
}
export const broken = both((source, work) => source.transaction(work))
export const cured = both(serializable)
