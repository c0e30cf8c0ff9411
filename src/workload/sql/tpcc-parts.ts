// What the transactions of TPC-C draw before they begin, and the new order, which is the same in
// both variants but for how the next number of an order is written.

import type { Random } from '../../base/random.ts'
import { add, insert, type SqlPart, type SqlSteps, select, update } from '../../sql/statement.ts'
import type { SqlRow } from '../../sql/value.ts'
import { chooserOf, type KeyChooser } from '../distributions.ts'
import type { SqlParameters } from './parameters.ts'
import { integer, type TransactionKind } from './plan.ts'
import { DISTRICT, STOCK } from './tpcc-tables.ts'

/** Lines of an order. The benchmark has 5 to 15; fewer keep histories small. */
const MIN_LINES = 1
const MAX_LINES = 5
/** One new order in a hundred names an item that is not there, and is rolled back. */
const BAD_ITEM_SHARE = 0.01
/** Stock is filled up when it would fall below 10. */
const MIN_STOCK = 10n
const REFILL = 91n

export const DISTRICT_KEY = 'd_w_id = $1 AND d_id = $2'
export const CUSTOMER_KEY = 'c_w_id = $1 AND c_d_id = $2 AND c_id = $3'
export const ORDER_KEY = 'o_w_id = $1 AND o_d_id = $2 AND o_id = $3'
export const NEW_ORDER_KEY = 'no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3'
export const LINE_KEY = 'ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4'
export const STOCK_KEY = 's_w_id = $1 AND s_i_id = $2'

/** Draws warehouses, districts, customers and items. */
export class TpccChoices {
  private readonly customers: KeyChooser
  private readonly items: KeyChooser

  constructor(readonly parameters: SqlParameters) {
    this.customers = chooserOf(parameters.distribution, parameters.keys)
    this.items = chooserOf(parameters.distribution, parameters.items)
  }

  warehouse(random: Random): bigint {
    return BigInt(1 + random.below(this.parameters.warehouses))
  }

  district(random: Random): bigint {
    return BigInt(1 + random.below(this.parameters.districts))
  }

  customer(random: Random): bigint {
    return BigInt(1 + this.customers.next(random))
  }

  item(random: Random): bigint {
    return BigInt(1 + this.items.next(random))
  }
}

/** Payments are between 1.00 and 5,000.00. */
export function amountOf(random: Random): bigint {
  return BigInt(100 + random.below(499_901))
}

/**
 * @param isExact write the order's number plus one, rather than add one to whatever is there: then
 *   every number below the one that is there has its order, at any level
 */
export function* newOrder(choices: TpccChoices, random: Random, isExact: boolean): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const customer = choices.customer(random)
  const lineCount = MIN_LINES + random.below(MAX_LINES - MIN_LINES + 1)
  const isBad = random.chance(BAD_ITEM_SHARE)

  yield select('warehouse', 'w_id = $1', w)
  yield select('customer', CUSTOMER_KEY, w, d, customer)
  const [district] = yield select('district', DISTRICT_KEY, w, d)
  const order = integer(district!, DISTRICT.at.d_next_o_id)
  const next = isExact ? order + 1n : add(1n)
  yield update('district', { d_next_o_id: next }, DISTRICT_KEY, w, d)
  yield insert('orders', [w, d, order, customer, null, BigInt(lineCount)])
  yield insert('new_order', [w, d, order, false])

  const lines: SqlRow[] = []
  for (let line = 1; line <= lineCount; line++) {
    const bad = isBad && line === lineCount
    const item = bad ? BigInt(choices.parameters.items + 1) : choices.item(random)
    const quantity = BigInt(1 + random.below(10))
    const [stock] = yield select('stock', STOCK_KEY, w, item)
    if (!stock) return 'abort'
    const left = integer(stock, STOCK.at.s_quantity) - quantity
    const s_quantity = left < MIN_STOCK ? left + REFILL : left
    yield update('stock', { s_quantity, s_orders: add(1n) }, STOCK_KEY, w, item)
    const price = BigInt(100 + random.below(9901))
    lines.push([w, d, order, BigInt(line), item, quantity, quantity * price, false])
  }
  yield insert('order_line', ...lines)
  return 'commit'
}

/** Pays into the books of the warehouse and of the district. */
export function* payIn(w: bigint, d: bigint, amount: bigint): SqlPart<void> {
  yield update('warehouse', { w_ytd: add(amount) }, 'w_id = $1', w)
  yield update('district', { d_ytd: add(amount) }, DISTRICT_KEY, w, d)
}

type Run = TransactionKind<TpccChoices>['run']

/** The five transactions in the benchmark's shares; those that take money matter most. */
export function tpccKinds(
  runs: Readonly<Record<'newOrder' | 'payment' | 'orderStatus' | 'delivery' | 'stockLevel', Run>>,
): readonly TransactionKind<TpccChoices>[] {
  return [
    { name: 'new order', weight: 45, isStrong: true, run: runs.newOrder },
    { name: 'payment', weight: 43, isStrong: true, run: runs.payment },
    { name: 'order status', weight: 4, isStrong: false, run: runs.orderStatus },
    { name: 'delivery', weight: 4, isStrong: false, run: runs.delivery },
    { name: 'stock level', weight: 4, isStrong: false, run: runs.stockLevel },
  ]
}
