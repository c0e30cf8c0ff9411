// A bank transfer that looks at the balance, then takes the money. Two transfers from one account at
// the same time both find enough: a lost update, and money out of nothing. Cured by FOR UPDATE.

import { transaction } from './transaction.mjs'

export const schema = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)'

export async function reset(pool) {
  await pool.query('DELETE FROM accounts')
  await pool.query('INSERT INTO accounts VALUES (1, 100), (2, 0), (3, 0)')
}

function transfer(pool, from, to, amount, lock = '') {
  return transaction(pool, async (client) => {
    const ask = `SELECT balance FROM accounts WHERE id = $1${lock}`
    const { rows } = await client.query(ask, [from])
    if (rows[0].balance < amount) return false
    const left = rows[0].balance - amount
    await client.query('UPDATE accounts SET balance = $1 WHERE id = $2', [left, from])
    await client.query('UPDATE accounts SET balance = balance + $1 WHERE id = $2', [amount, to])
    return true
  })
}

export const broken = (pool) => ({
  ann: () => transfer(pool, 1, 2, 80),
  bob: () => transfer(pool, 1, 3, 80),
})
export const cured = (pool) => ({
  ann: () => transfer(pool, 1, 2, 80, ' FOR UPDATE'),
  bob: () => transfer(pool, 1, 3, 80, ' FOR UPDATE'),
})
