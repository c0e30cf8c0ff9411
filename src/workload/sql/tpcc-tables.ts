// The tables of TPC-C that its five transactions need, and what they hold at first. Amounts are
// whole cents. Items are known by number only; what is sold stands in the stock. Two columns serve
// only the variant without conflicts (TPC-C PC), where nothing is ever deleted or searched for.

import type { Random } from '../../base/random.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { SqlParameters } from './parameters.ts'
import { table } from './plan.ts'

const WAREHOUSE = table('warehouse', { w_id: 'integer', w_ytd: 'integer' }, ['w_id'])

export const DISTRICT = table(
  'district',
  {
    d_w_id: 'integer',
    d_id: 'integer',
    d_next_o_id: 'integer',
    d_ytd: 'integer',
    d_next_delivery: 'integer', // the oldest order that was not delivered; PC only
  },
  ['d_w_id', 'd_id'],
)

export const CUSTOMER = table(
  'customer',
  {
    c_w_id: 'integer',
    c_d_id: 'integer',
    c_id: 'integer',
    c_last: 'text',
    c_balance: 'integer',
    c_payments: 'integer',
    c_deliveries: 'integer',
  },
  ['c_w_id', 'c_d_id', 'c_id'],
)

export const ORDERS = table(
  'orders',
  {
    o_w_id: 'integer',
    o_d_id: 'integer',
    o_id: 'integer',
    o_c_id: 'integer',
    o_carrier: 'integer', // NULL until it is delivered
    o_lines: 'integer',
  },
  ['o_w_id', 'o_d_id', 'o_id'],
)

export const NEW_ORDER = table(
  'new_order',
  {
    no_w_id: 'integer',
    no_d_id: 'integer',
    no_o_id: 'integer',
    no_delivered: 'boolean', // stands for a deleted row; PC only
  },
  ['no_w_id', 'no_d_id', 'no_o_id'],
)

export const ORDER_LINE = table(
  'order_line',
  {
    ol_w_id: 'integer',
    ol_d_id: 'integer',
    ol_o_id: 'integer',
    ol_number: 'integer',
    ol_i_id: 'integer',
    ol_quantity: 'integer',
    ol_amount: 'integer',
    ol_delivered: 'boolean',
  },
  ['ol_w_id', 'ol_d_id', 'ol_o_id', 'ol_number'],
)

export const STOCK = table(
  'stock',
  { s_w_id: 'integer', s_i_id: 'integer', s_quantity: 'integer', s_orders: 'integer' },
  ['s_w_id', 's_i_id'],
)

export const TPCC_TABLES = [
  WAREHOUSE,
  DISTRICT,
  CUSTOMER,
  ORDERS,
  NEW_ORDER,
  ORDER_LINE,
  STOCK,
] as const

/** Orders that a district has at first; the last one is still to be delivered. */
const FIRST_ORDERS = 3
const FIRST_LINES = 2

/** A few names, so that some customers of a district share theirs. */
const LAST_NAMES = ['BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING']

export function lastName(number: number): string {
  return LAST_NAMES[number % LAST_NAMES.length]!
}

/** The names there are among so many customers of a district. */
export function lastNameCount(customers: number): number {
  return Math.min(LAST_NAMES.length, Math.ceil(customers / 2))
}

/** table -> the rows it holds at first. */
export function tpccRows(parameters: SqlParameters, random: Random): SqlRow[][] {
  const { warehouses, districts, keys: customers, items } = parameters
  const rows: SqlRow[][] = TPCC_TABLES.map(() => [])
  const [warehouse, district, customer, orders, newOrder, orderLine, stock] = rows
  for (let w = 1n; w <= warehouses; w++) {
    warehouse!.push([w, 30_000_000n])
    for (let item = 1n; item <= items; item++) {
      stock!.push([w, item, BigInt(10 + random.below(91)), 0n])
    }
    for (let d = 1n; d <= districts; d++) {
      const next = BigInt(FIRST_ORDERS + 1)
      district!.push([w, d, next, 3_000_000n, BigInt(FIRST_ORDERS)])
      for (let c = 1; c <= customers; c++) {
        const last = lastName(c % lastNameCount(customers))
        customer!.push([w, d, BigInt(c), last, -1000n, 0n, 0n])
      }
      for (let o = 1; o <= FIRST_ORDERS; o++) {
        const isNew = o === FIRST_ORDERS
        const by = BigInt(1 + random.below(customers))
        const carrier = isNew ? null : BigInt(1 + random.below(10))
        orders!.push([w, d, BigInt(o), by, carrier, BigInt(FIRST_LINES)])
        if (isNew) newOrder!.push([w, d, BigInt(o), false])
        for (let line = 1; line <= FIRST_LINES; line++) {
          const item = BigInt(1 + random.below(items))
          const amount = BigInt(1 + random.below(999_999))
          orderLine!.push([w, d, BigInt(o), BigInt(line), item, 5n, amount, !isNew])
        }
      }
    }
  }
  return rows
}
