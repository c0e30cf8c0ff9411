// As ../bank.mjs, with Knex.

import { transaction } from './database.mjs'

export { reset, schema } from '../bank.mjs'

const transfer = (pool, from, to, amount, lock) =>
  transaction(pool, async (trx) => {
    const ask = trx('accounts').select('balance').where({ id: from })
    const [{ balance }] = await (lock ? ask.forUpdate() : ask)
    if (balance < amount) return false
    await trx('accounts')
      .where({ id: from })
      .update({ balance: balance - amount })
    await trx('accounts').where({ id: to }).increment('balance', amount)
    return true
  })

const both = (lock) => (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, lock),
  bob: () => transfer(pool, 1, 3, 80, lock),
})
export const broken = both(false)
export const cured = both(true)
