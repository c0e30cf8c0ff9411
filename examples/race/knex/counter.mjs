// As ../counter.mjs, with Knex.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../counter.mjs'

const visit = (pool) =>
  transaction(pool, async (trx) => {
    const [{ visits }] = await trx('pages').select('visits').where({ id: 1 })
    await trx('pages')
      .where({ id: 1 })
      .update({ visits: visits + 1 })
  })

const visitAtomically = (pool) => open(pool)('pages').where({ id: 1 }).increment('visits', 1)

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool),
  bob: () => visitAtomically(pool),
})
