// As ../../names.mjs, with Sequelize.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../../names.mjs'

const signUp = (pool, name) =>
  transaction(pool, async ({ users }, transaction) => {
    const found = await users.findAll({ where: { name }, transaction })
    if (found.length > 0) return false
    await users.create({ name }, { transaction })
    return true
  })

async function signUpOnce(pool, name) {
  try {
    await open(pool).models.unique_users.create({ name })
    return true
  } catch (error) {
    if (error.parent?.code !== '23505') throw error
    return false
  }
}

export const broken = (pool) => ({ ann: () => signUp(pool, 'kim'), bob: () => signUp(pool, 'kim') })
export const cured = (pool) => ({
  ann: () => signUpOnce(pool, 'kim'),
  bob: () => signUpOnce(pool, 'kim'),
})
