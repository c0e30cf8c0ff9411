// Sequelize on the application's own pool of pg: it makes connections by itself unless it is told
// where they come from.

import pg from 'pg'
import { DataTypes, Sequelize } from 'sequelize'

const { BOOLEAN, INTEGER, TEXT } = DataTypes
const given = { type: INTEGER, primaryKey: true }
const counted = { type: INTEGER, primaryKey: true, autoIncrement: true }

const TABLES = {
  accounts: { id: given, balance: INTEGER },
  bookings: { id: counted, room: INTEGER, hour: INTEGER, guest: TEXT },
  doctors: { id: given, name: TEXT, on_call: BOOLEAN },
  pages: { id: given, visits: INTEGER },
  coupons: { id: given, used: BOOLEAN },
  discounts: { id: counted, coupon: INTEGER, customer: TEXT },
  users: { id: counted, name: TEXT },
  unique_users: { name: { type: TEXT, primaryKey: true } },
}

const opened = new WeakMap()

export function open(pool) {
  if (!opened.has(pool)) {
    const define = { freezeTableName: true, timestamps: false }
    const options = { dialect: 'postgres', dialectModule: pg, logging: false, define }
    const sequelize = new Sequelize(options)
    Object.assign(sequelize.connectionManager, {
      getConnection: () => pool.connect(),
      releaseConnection: (connection) => connection.release(),
      destroyConnection: (connection) => connection.release(true),
    })
    for (const [name, columns] of Object.entries(TABLES)) sequelize.define(name, columns)
    opened.set(pool, sequelize)
  }
  return opened.get(pool)
}

/** The work gets the models, and the transaction that each call must be told of. */
export const transaction = (pool, work, options = {}) => {
  const sequelize = open(pool)
  return sequelize.transaction(options, (transaction) => work(sequelize.models, transaction))
}

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      return await transaction(pool, work, { isolationLevel: 'SERIALIZABLE' })
    } catch (error) {
      // The driver's own error is the parent of Sequelize's, except for that of COMMIT.
      const code = error.parent?.code ?? error.code
      if (code !== '40001' && code !== '40P01') throw error
    }
  }
}
