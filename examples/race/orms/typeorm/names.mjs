// As ../../names.mjs, with TypeORM.

import { open } from './database.mjs'

export { reset, schema } from '../../names.mjs'

const signUp = (source, name) =>
  source.transaction(async (manager) => {
    const found = await manager.findBy('users', { name })
    if (found.length > 0) return false
    await manager.insert('users', { name })
    return true
  })

async function signUpOnce(source, name) {
  try {
    await source.manager.insert('unique_users', { name })
    return true
  } catch (error) {
    if (error.code !== '23505') throw error
    return false
  }
}

const both = (act) => async (pool) => {
  const source = await open(pool)
  return { ann: () => act(source, 'kim'), bob: () => act(source, 'kim') }
}
export const broken = both(signUp)
export const cured = both(signUpOnce)
