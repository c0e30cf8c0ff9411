// TypeORM on the application's own pool of pg. It makes a pool by itself unless it is told to take
// one; the one that it made is `dataSource.driver.master`, which a race takes as well.

import { DataSource, EntitySchema } from 'typeorm'

const table = (name, columns) => new EntitySchema({ name, columns })
const given = { type: 'int', primary: true }
const counted = { type: 'int', primary: true, generated: 'identity' }

const entities = [
  table('accounts', { id: given, balance: { type: 'int' } }),
  table('bookings', {
    id: counted,
    room: { type: 'int' },
    hour: { type: 'int' },
    guest: { type: 'text', nullable: true },
  }),
  table('doctors', { id: given, name: { type: 'text' }, on_call: { type: 'boolean' } }),
  table('pages', { id: given, visits: { type: 'int' } }),
  table('coupons', { id: given, used: { type: 'boolean' } }),
  table('discounts', {
    id: counted,
    coupon: { type: 'int', nullable: true },
    customer: { type: 'text', nullable: true },
  }),
  table('users', { id: counted, name: { type: 'text' } }),
  table('unique_users', { name: { type: 'text', primary: true } }),
]

const sources = new WeakMap()

/** Asks the server for its version and its schema at first, so it is done before a race. */
export async function open(pool) {
  if (!sources.has(pool)) {
    function Pool() {
      return pool
    }
    const source = new DataSource({ type: 'postgres', driver: { Pool }, entities })
    sources.set(pool, source.initialize())
  }
  return sources.get(pool)
}

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(source, work) {
  for (;;) {
    try {
      return await source.transaction('SERIALIZABLE', work)
    } catch (error) {
      if (error.code !== '40001' && error.code !== '40P01') throw error
    }
  }
}
