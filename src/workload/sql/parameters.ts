// What an SQL workload is asked to look like. By default the small clients of Bouajjani, Enea and
// Román-Calvo: a few sessions of ten transactions each, on one warehouse of ten districts or on a
// few users. Tables are far smaller than the benchmarks' own: what matters to a checker is how
// often transactions meet. More transactions than the clients' come with more warehouses, as in
// TPC-C, or users, so that what a statement returns does not grow with the history.

import { UsageError } from '../../base/errors.ts'
import type { Distribution } from '../distributions.ts'
import { expectChoices, expectCount } from '../parameters.ts'

export const SQL_SHAPES = ['tpcc', 'tpcc-pc', 'twitter', 'sql'] as const
/** What SQL transactions do. */
export type SqlShape = (typeof SQL_SHAPES)[number]

export interface SqlParameters {
  readonly shape: SqlShape
  readonly seed: number
  readonly sessions: number
  /** Transactions in all, dealt to the sessions in turn. */
  readonly transactions: number
  /** Which level each asks for: ser, si, rc, …, ser+rc, si+rc, mixed. */
  readonly levels: string
  /** Customers of a district, users, or rows of a table. */
  readonly keys: number
  /** How customers, items, users or rows are chosen. */
  readonly distribution: Distribution
  /** Shapes tpcc and tpcc-pc. */
  readonly warehouses: number
  readonly districts: number
  readonly items: number
  /** Shape sql: statements of a transaction, and the share of those that only read. */
  readonly ops: number
  readonly reads: number
}

const DEFAULTS: SqlParameters = {
  shape: 'tpcc',
  seed: 1,
  sessions: 10,
  transactions: 100,
  levels: 'ser',
  keys: 10,
  distribution: 'uniform',
  warehouses: 1,
  districts: 10,
  items: 20,
  ops: 3,
  reads: 0.5,
}

/** Transactions for each warehouse, and for each user, where their number is not given. */
const WAREHOUSE_TXNS = 5000
const USER_TXNS = 1000

export function isSqlShape(shape: string): shape is SqlShape {
  return (SQL_SHAPES as readonly string[]).includes(shape)
}

/** SQL transactions do not have all the settings of others. */
export function refuseForSql(
  shape: SqlShape,
  given: { readonly [Name in 'mix' | 'disjointWrites' | 'aim' | 'ops' | 'reads']?: unknown },
): void {
  const { mix = null, disjointWrites = false, aim = null } = given
  if (disjointWrites) throw new UsageError(`disjoint writes are for keys, not for ${shape}`)
  if (mix !== null) throw new UsageError(`a mix is for the general shape, not for ${shape}`)
  if (aim !== null) throw new UsageError(`an aim is for the shape aimed, not for ${shape}`)
  for (const name of ['ops', 'reads'] as const) {
    if (shape === 'sql' || given[name] === undefined) continue
    throw new UsageError(`${name} is not for ${shape}, whose transactions are given`)
  }
}

/** Rows and statements are objects, each of which takes a hundred times what an operation takes. */
const MOST = {
  sessions: 1e4,
  transactions: 1e6,
  keys: 1e6,
  warehouses: 1e4,
  districts: 1e4,
  items: 1e6,
  ops: 1e4,
} as const

/** Fills in the defaults of the shape and refuses what makes no sense. */
export function sqlParameters(given: Partial<SqlParameters>): SqlParameters {
  const shape = given.shape ?? DEFAULTS.shape
  if (!isSqlShape(shape)) {
    throw new UsageError(`unknown shape "${shape}"`, `there are ${SQL_SHAPES.join(', ')}`)
  }
  const { transactions } = { ...DEFAULTS, ...given }
  const grown = (least: number, per: number) => Math.max(least, Math.ceil(transactions / per))
  const keys = shape === 'twitter' ? grown(20, USER_TXNS) : shape === 'sql' ? 6 : DEFAULTS.keys
  const warehouses = grown(1, WAREHOUSE_TXNS)
  const parameters = { ...DEFAULTS, keys, warehouses, ...given }
  expectChoices(parameters)
  for (const [name, most] of Object.entries(MOST)) {
    expectCount(name, parameters[name as keyof typeof MOST], most)
  }
  const rows = parameters.warehouses * parameters.districts * parameters.keys
  if (rows > 1e6) {
    const message = `warehouses, districts and keys make ${rows.toLocaleString('en')} rows`
    throw new UsageError(message, 'ask for at most 1,000,000')
  }
  return parameters
}
