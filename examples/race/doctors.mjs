// A doctor may go off call if another one stays. Two at the same time both see the other one, and
// both leave: write skew, though no row is written twice. Cured by locking what the rule is about.

import { transaction } from './transaction.mjs'

export const schema =
  'CREATE TABLE doctors (id int PRIMARY KEY, name text NOT NULL, on_call boolean NOT NULL)'

export async function reset(pool) {
  await pool.query('DELETE FROM doctors')
  await pool.query("INSERT INTO doctors VALUES (1, 'ann', TRUE), (2, 'bob', TRUE)")
}

function leave(pool, id, lock = '') {
  return transaction(pool, async (client) => {
    const ask = `SELECT id FROM doctors WHERE on_call = TRUE ORDER BY id${lock}`
    const { rows } = await client.query(ask)
    if (rows.length < 2) return false
    await client.query('UPDATE doctors SET on_call = FALSE WHERE id = $1', [id])
    return true
  })
}

export const broken = (pool) => ({ ann: () => leave(pool, 1), bob: () => leave(pool, 2) })
export const cured = (pool) => ({
  ann: () => leave(pool, 1, ' FOR UPDATE'),
  bob: () => leave(pool, 2, ' FOR UPDATE'),
})
