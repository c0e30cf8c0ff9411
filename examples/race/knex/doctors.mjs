// As ../doctors.mjs, with Knex.

import { transaction } from './database.mjs'

export { reset, schema } from '../doctors.mjs'

const leave = (pool, id, lock) =>
  transaction(pool, async (trx) => {
    const ask = trx('doctors').select('id').where({ on_call: true }).orderBy('id')
    const found = await (lock ? ask.forUpdate() : ask)
    if (found.length < 2) return false
    await trx('doctors').where({ id }).update({ on_call: false })
    return true
  })

export const broken = (pool) => ({ ann: () => leave(pool, 1), bob: () => leave(pool, 2) })
export const cured = (pool) => ({
  ann: () => leave(pool, 1, true),
  bob: () => leave(pool, 2, true),
})
