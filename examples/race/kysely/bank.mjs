// As ../bank.mjs, with Kysely.

import { sql } from 'kysely'
import { transaction } from './database.mjs'

export { reset, schema } from '../bank.mjs'

const transfer = (pool, from, to, amount, lock) =>
  transaction(pool, async (trx) => {
    const ask = trx.selectFrom('accounts').select('balance').where('id', '=', from)
    const { balance } = await (lock ? ask.forUpdate() : ask).executeTakeFirstOrThrow()
    if (balance < amount) return false
    const left = { balance: balance - amount }
    await trx.updateTable('accounts').set(left).where('id', '=', from).execute()
    const more = { balance: sql`balance + ${amount}` }
    await trx.updateTable('accounts').set(more).where('id', '=', to).execute()
    return true
  })

const both = (lock) => (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, lock),
  bob: () => transfer(pool, 1, 3, 80, lock),
})
export const broken = both(false)
export const cured = both(true)
