// A name that nobody else may have, without a constraint that says so. Two who sign up at the same
// time both find it free. Cured by letting the database decide: a unique key, and one who is refused.

import { transaction } from './transaction.mjs'

export const schema = `
CREATE TABLE users (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
CREATE TABLE unique_users (name text PRIMARY KEY)`

export async function reset(pool) {
  await pool.query('DELETE FROM users')
  await pool.query('DELETE FROM unique_users')
}

function signUp(pool, name) {
  return transaction(pool, async (client) => {
    const { rows } = await client.query('SELECT id FROM users WHERE name = $1', [name])
    if (rows.length > 0) return false
    await client.query('INSERT INTO users (name) VALUES ($1)', [name])
    return true
  })
}

async function signUpOnce(pool, name) {
  try {
    await pool.query('INSERT INTO unique_users (name) VALUES ($1)', [name])
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
