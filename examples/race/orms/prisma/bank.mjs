// As ../../bank.mjs, with Prisma, which has no word for FOR UPDATE of its own.

import { transaction } from './database.mjs'

export { reset, schema } from '../../bank.mjs'

const look = (tx, id) => tx.accounts.findUniqueOrThrow({ where: { id } })

async function lock(tx, id) {
  const [found] = await tx.$queryRaw`SELECT balance FROM accounts WHERE id = ${id} FOR UPDATE`
  return found
}

const transfer = (pool, from, to, amount, ask) =>
  transaction(pool, async (tx) => {
    const { balance } = await ask(tx, from)
    if (balance < amount) return false
    await tx.accounts.update({ where: { id: from }, data: { balance: balance - amount } })
    await tx.accounts.update({ where: { id: to }, data: { balance: { increment: amount } } })
    return true
  })

const both = (ask) => (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, ask),
  bob: () => transfer(pool, 1, 3, 80, ask),
})
export const broken = both(look)
export const cured = both(lock)
