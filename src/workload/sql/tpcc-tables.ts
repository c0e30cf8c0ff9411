// The tables of TPC-C that its five transactions need, and what they hold at first. Amounts are
// whole cents. Items are known by number only; what is sold stands in the stock. Two columns serve
// only the variant without conflicts (TPC-C PC), where nothing is ever deleted or searched for.

import type { Random } from '../../base/random.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { SqlParameters } from './parameters.ts'
import { table } from './plan.ts'

/** Columns of integers, which most are. */
function integers<Column extends string>(...names: Column[]) {
  return Object.fromEntries(names.map((name) => [name, 'integer'])) as Record<Column, 'integer'>
}

const WAREHOUSE = table('warehouse', integers('w_id', 'w_ytd'), ['w_id'])

/** The next delivery, of the oldest order that was not delivered, is for PC only. */
export const DISTRICT = table(
  'district',
  integers('d_w_id', 'd_id', 'd_next_o_id', 'd_ytd', 'd_next_delivery'),
  ['d_w_id', 'd_id'],
)

export const CUSTOMER = table(
  'customer',
  {
    ...integers('c_w_id', 'c_d_id', 'c_id'),
    c_last: 'text',
    ...integers('c_balance', 'c_payments', 'c_deliveries'),
  },
  ['c_w_id', 'c_d_id', 'c_id'],
)

/** The carrier is NULL until it is delivered. */
export const ORDERS = table(
  'orders',
  integers('o_w_id', 'o_d_id', 'o_id', 'o_c_id', 'o_carrier', 'o_lines'),
  ['o_w_id', 'o_d_id', 'o_id'],
)

/** That it was delivered stands for a deleted row; PC only. */
export const NEW_ORDER = table(
  'new_order',
  { ...integers('no_w_id', 'no_d_id', 'no_o_id'), no_delivered: 'boolean' },
  ['no_w_id', 'no_d_id', 'no_o_id'],
)

const LINE_COLUMNS = ['ol_w_id', 'ol_d_id', 'ol_o_id', 'ol_number'] as const
export const ORDER_LINE = table(
  'order_line',
  { ...integers(...LINE_COLUMNS, 'ol_i_id', 'ol_quantity', 'ol_amount'), ol_delivered: 'boolean' },
  LINE_COLUMNS,
)

export const STOCK = table('stock', integers('s_w_id', 's_i_id', 's_quantity', 's_orders'), [
  's_w_id',
  's_i_id',
])

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
