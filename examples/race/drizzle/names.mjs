// As ../names.mjs, with Drizzle.

import { eq } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { open, transaction } from './database.mjs'

export { reset, schema } from '../names.mjs'

const users = pgTable('users', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull(),
})
const uniqueUsers = pgTable('unique_users', { name: text().primaryKey() })

const signUp = (pool, name) =>
  transaction(pool, async (tx) => {
    const found = await tx.select({ id: users.id }).from(users).where(eq(users.name, name))
    if (found.length > 0) return false
    await tx.insert(users).values({ name })
    return true
  })

async function signUpOnce(pool, name) {
  try {
    await open(pool).insert(uniqueUsers).values({ name })
    return true
  } catch (error) {
    if (error.cause?.code !== '23505') throw error
    return false
  }
}

export const broken = (pool) => ({ ann: () => signUp(pool, 'kim'), bob: () => signUp(pool, 'kim') })
export const cured = (pool) => ({
  ann: () => signUpOnce(pool, 'kim'),
  bob: () => signUpOnce(pool, 'kim'),
})
