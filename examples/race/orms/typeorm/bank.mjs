// As ../../bank.mjs, with TypeORM.

import { open } from './database.mjs'

export { reset, schema } from '../../bank.mjs'

const transfer = (source, from, to, amount, options) =>
  source.transaction(async (manager) => {
    const account = await manager.findOneOrFail('accounts', { where: { id: from }, ...options })
    if (account.balance < amount) return false
    await manager.update('accounts', { id: from }, { balance: account.balance - amount })
    await manager.increment('accounts', { id: to }, 'balance', amount)
    return true
  })

const both = (options) => async (pool) => {
  const source = await open(pool)
  return {
    ann: () => transfer(source, 1, 2, 80, options),
    bob: () => transfer(source, 1, 3, 80, options),
  }
}
export const broken = both({})
export const cured = both({ lock: { mode: 'pessimistic_write' } })
