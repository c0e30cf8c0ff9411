// As ../../doctors.mjs, with Prisma.

import { transaction } from './database.mjs'

export { reset, schema } from '../../doctors.mjs'

const look = (tx) =>
  tx.doctors.findMany({ where: { on_call: true }, select: { id: true }, orderBy: { id: 'asc' } })
const lock = (tx) =>
  tx.$queryRaw`SELECT id FROM doctors WHERE on_call = TRUE ORDER BY id FOR UPDATE`

const leave = (pool, id, ask) =>
  transaction(pool, async (tx) => {
    const found = await ask(tx)
    if (found.length < 2) return false
    await tx.doctors.update({ where: { id }, data: { on_call: false } })
    return true
  })

const both = (ask) => (pool) => ({ ann: () => leave(pool, 1, ask), bob: () => leave(pool, 2, ask) })
export const broken = both(look)
export const cured = both(lock)
