// As ../../names.mjs, with Prisma.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../../names.mjs'

const signUp = (pool, name) =>
  transaction(pool, async (tx) => {
    const found = await tx.users.findFirst({ where: { name }, select: { id: true } })
    if (found !== null) return false
    await tx.users.create({ data: { name } })
    return true
  })

async function signUpOnce(pool, name) {
  try {
    await open(pool).unique_users.create({ data: { name } })
    return true
  } catch (error) {
    if (error.code !== 'P2002') throw error
    return false
  }
}

export const broken = (pool) => ({ ann: () => signUp(pool, 'kim'), bob: () => signUp(pool, 'kim') })
export const cured = (pool) => ({
  ann: () => signUpOnce(pool, 'kim'),
  bob: () => signUpOnce(pool, 'kim'),
})
