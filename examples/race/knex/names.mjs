// As ../names.mjs, with Knex.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../names.mjs'

const signUp = (pool, name) =>
  transaction(pool, async (trx) => {
    const found = await trx('users').select('id').where({ name })
    if (found.length > 0) return false
    await trx('users').insert({ name })
    return true
  })

async function signUpOnce(pool, name) {
  try {
    await open(pool)('unique_users').insert({ name })
    return true
  } catch (error) {
    if (error.code !== '23505') throw error
    return false
  }
}

export const broken = (pool) => ({ ann: () => signUp(pool, 'kim'), bob: () => signUp(pool, 'kim') })
export const cured = (pool) => ({
  ann: () => signUpOnce(pool, 'kim'),
  bob: () => signUpOnce(pool, 'kim'),
})
