// TPC-C without conflicts (Bouajjani, Enea, Román-Calvo: TPC-C PC): every WHERE fixes a primary
// key, and the row of that key is there. A row that would be deleted is marked in a column, and
// what would be searched for is reached number by number. Orders below a district's next number are
// there whenever that number is, so no statement passes over a row that another version of it would
// have made it return.

import type { Random } from '../../base/random.ts'
import { add, type SqlSteps, select, update } from '../../sql/statement.ts'
import { integer } from './plan.ts'
import {
  amountOf,
  CUSTOMER_KEY,
  DISTRICT_KEY,
  LINE_KEY,
  NEW_ORDER_KEY,
  newOrder,
  ORDER_KEY,
  payIn,
  STOCK_KEY,
  type TpccChoices,
  tpccKinds,
} from './tpcc-parts.ts'
import { DISTRICT, ORDER_LINE, ORDERS } from './tpcc-tables.ts'

/** How many orders back the status of one is looked for, and the stock level looks at. */
const MOST_STEPS_BACK = 5n

export const TPCC_PC = tpccKinds({
  newOrder: (choices, random) => newOrder(choices, random, true),
  payment,
  orderStatus,
  delivery,
  stockLevel,
})

function* payment(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const customer = choices.customer(random)
  const amount = amountOf(random)
  yield* payIn(w, d, amount)
  const set = { c_balance: add(-amount), c_payments: add(1n) }
  yield update('customer', set, CUSTOMER_KEY, w, d, customer)
  return 'commit'
}

function* orderStatus(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const customer = choices.customer(random)
  yield select('customer', CUSTOMER_KEY, w, d, customer)
  const [district] = yield select('district', DISTRICT_KEY, w, d)
  const next = integer(district!, DISTRICT.at.d_next_o_id)
  for (let order = next - 1n; order > 0n && order >= next - MOST_STEPS_BACK; order--) {
    const [found] = yield select('orders', ORDER_KEY, w, d, order)
    // Only a store that misbehaves does not have it.
    if (!found || integer(found, ORDERS.at.o_c_id) !== customer) continue
    const lineCount = integer(found, ORDERS.at.o_lines)
    for (let line = 1n; line <= lineCount; line++) {
      yield select('order_line', LINE_KEY, w, d, order, line)
    }
    break
  }
  return 'commit'
}

function* delivery(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const carrier = BigInt(1 + random.below(10))
  for (let d = 1n; d <= choices.parameters.districts; d++) {
    const [district] = yield select('district', DISTRICT_KEY, w, d)
    const order = integer(district!, DISTRICT.at.d_next_delivery)
    if (order >= integer(district!, DISTRICT.at.d_next_o_id)) continue
    yield update('district', { d_next_delivery: order + 1n }, DISTRICT_KEY, w, d)
    yield update('new_order', { no_delivered: true }, NEW_ORDER_KEY, w, d, order)
    const [delivered] = yield update('orders', { o_carrier: carrier }, ORDER_KEY, w, d, order)
    if (!delivered) continue
    let total = 0n
    const lineCount = integer(delivered, ORDERS.at.o_lines)
    for (let n = 1n; n <= lineCount; n++) {
      const [line] = yield update('order_line', { ol_delivered: true }, LINE_KEY, w, d, order, n)
      if (line) total += integer(line, ORDER_LINE.at.ol_amount)
    }
    const set = { c_balance: add(total), c_deliveries: add(1n) }
    const customer = integer(delivered, ORDERS.at.o_c_id)
    yield update('customer', set, CUSTOMER_KEY, w, d, customer)
  }
  return 'commit'
}

function* stockLevel(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const [district] = yield select('district', DISTRICT_KEY, w, d)
  const next = integer(district!, DISTRICT.at.d_next_o_id)
  const items = new Set<bigint>()
  for (let order = next - 1n; order > 0n && order >= next - MOST_STEPS_BACK; order--) {
    const [found] = yield select('orders', ORDER_KEY, w, d, order)
    const lineCount = found ? integer(found, ORDERS.at.o_lines) : 0n
    for (let n = 1n; n <= lineCount; n++) {
      const [line] = yield select('order_line', LINE_KEY, w, d, order, n)
      if (line) items.add(integer(line, ORDER_LINE.at.ol_i_id))
    }
  }
  for (const item of items) yield select('stock', STOCK_KEY, w, item)
  return 'commit'
}
