// As ../../doctors.mjs, with TypeORM.

import { open } from './database.mjs'

export { reset, schema } from '../../doctors.mjs'

const leave = (source, id, options) =>
  source.transaction(async (manager) => {
    const ask = { where: { on_call: true }, order: { id: 'ASC' }, ...options }
    const found = await manager.find('doctors', ask)
    if (found.length < 2) return false
    await manager.update('doctors', { id }, { on_call: false })
    return true
  })

const both = (options) => async (pool) => {
  const source = await open(pool)
  return { ann: () => leave(source, 1, options), bob: () => leave(source, 2, options) }
}
export const broken = both({})
export const cured = both({ lock: { mode: 'pessimistic_write' } })
