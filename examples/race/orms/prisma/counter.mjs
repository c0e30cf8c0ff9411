// As ../../counter.mjs, with Prisma.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../../counter.mjs'

const where = { id: 1 }

const visit = (pool) =>
  transaction(pool, async (tx) => {
    const { visits } = await tx.pages.findUniqueOrThrow({ where })
    await tx.pages.update({ where, data: { visits: visits + 1 } })
  })

const visitAtomically = (pool) =>
  open(pool).pages.update({ where, data: { visits: { increment: 1 } } })

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool),
  bob: () => visitAtomically(pool),
})
