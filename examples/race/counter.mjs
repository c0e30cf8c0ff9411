// A counter that is read, then written. Two visits at the same time count as one: a lost update.
// Cured by leaving the arithmetic to the database.

import { transaction } from './transaction.mjs'

export const schema = 'CREATE TABLE pages (id int PRIMARY KEY, visits int NOT NULL)'

export async function reset(pool) {
  await pool.query('DELETE FROM pages')
  await pool.query('INSERT INTO pages VALUES (1, 0)')
}

function visit(pool) {
  return transaction(pool, async (client) => {
    const { rows } = await client.query('SELECT visits FROM pages WHERE id = $1', [1])
    const visits = rows[0].visits + 1
    await client.query('UPDATE pages SET visits = $1 WHERE id = $2', [visits, 1])
  })
}

async function visitAtomically(pool) {
  await pool.query('UPDATE pages SET visits = visits + 1 WHERE id = $1', [1])
}

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool),
  bob: () => visitAtomically(pool),
})
