// A coupon that may be redeemed once. Two orders at the same time both find it unused. Cured by one
// UPDATE that asks and writes at once: who finds no row any more was too late.

import { transaction } from './transaction.mjs'

export const schema = `CREATE TABLE coupons (id int PRIMARY KEY, used boolean NOT NULL);
CREATE TABLE discounts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, coupon int, customer text)`

export async function reset(pool) {
  await pool.query('DELETE FROM discounts')
  await pool.query('DELETE FROM coupons')
  await pool.query('INSERT INTO coupons VALUES (7, FALSE)')
}

const grant = (client, customer) =>
  client.query('INSERT INTO discounts (coupon, customer) VALUES ($1, $2)', [7, customer])

function redeem(pool, customer) {
  return transaction(pool, async (client) => {
    const { rows } = await client.query('SELECT used FROM coupons WHERE id = $1', [7])
    if (rows[0].used) return false
    await client.query('UPDATE coupons SET used = TRUE WHERE id = $1', [7])
    await grant(client, customer)
    return true
  })
}

function redeemOnce(pool, customer) {
  return transaction(pool, async (client) => {
    const take = 'UPDATE coupons SET used = TRUE WHERE id = $1 AND used = FALSE'
    const { rowCount } = await client.query(take, [7])
    if (rowCount === 0) return false
    await grant(client, customer)
    return true
  })
}

export const broken = (pool) => ({ ann: () => redeem(pool, 'ann'), bob: () => redeem(pool, 'bob') })
export const cured = (pool) => ({
  ann: () => redeemOnce(pool, 'ann'),
  bob: () => redeemOnce(pool, 'bob'),
})
