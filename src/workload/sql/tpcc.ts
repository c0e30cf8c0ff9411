// An online shop after TPC-C: new orders (45 %), payments (43 %), order status, delivery and stock
// level (4 % each). Rows are searched for by what changes: the orders of a customer, the oldest new
// order of a district, items of which the stock runs low. Minimum, maximum and joins are the
// program's own work: it selects the rows and looks at them.

import type { Random } from '../../base/random.ts'
import {
  add,
  deleteFrom,
  type SqlPart,
  type SqlSteps,
  select,
  update,
} from '../../sql/statement.ts'
import type { SqlRow } from '../../sql/value.ts'
import { integer, placeholders } from './plan.ts'
import {
  amountOf,
  CUSTOMER_KEY,
  DISTRICT_KEY,
  NEW_ORDER_KEY,
  newOrder,
  ORDER_KEY,
  payIn,
  type TpccChoices,
  tpccKinds,
} from './tpcc-parts.ts'
import {
  CUSTOMER,
  DISTRICT,
  lastName,
  lastNameCount,
  NEW_ORDER,
  ORDER_LINE,
  ORDERS,
} from './tpcc-tables.ts'

/** Share of the customers that are looked up by their last name. */
const BY_NAME_SHARE = 0.6
/** How many of the last orders the stock level looks at. */
const LAST_ORDERS = 20n

export const TPCC = tpccKinds({
  newOrder: (choices, random) => newOrder(choices, random, false),
  payment,
  orderStatus,
  delivery,
  stockLevel,
})

/** The customer of a number or, of all those of a last name, the one in the middle. */
function* findCustomer(
  choices: TpccChoices,
  random: Random,
  w: bigint,
  d: bigint,
): SqlPart<bigint> {
  const { c_id } = CUSTOMER.at
  if (!random.chance(BY_NAME_SHARE)) {
    const customer = choices.customer(random)
    yield select('customer', CUSTOMER_KEY, w, d, customer)
    return customer
  }
  const name = lastName(random.below(lastNameCount(choices.parameters.keys)))
  const rows = yield select('customer', 'c_w_id = $1 AND c_d_id = $2 AND c_last = $3', w, d, name)
  // A name that nobody of the district has stands for its first customer.
  return rows.length === 0 ? 1n : integer(rows[rows.length >> 1]!, c_id)
}

function* payment(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const amount = amountOf(random)
  yield* payIn(w, d, amount)
  const customer = yield* findCustomer(choices, random, w, d)
  const set = { c_balance: add(-amount), c_payments: add(1n) }
  yield update('customer', set, CUSTOMER_KEY, w, d, customer)
  return 'commit'
}

function* orderStatus(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const customer = yield* findCustomer(choices, random, w, d)
  const where = 'o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3'
  const last = extreme(yield select('orders', where, w, d, customer), ORDERS.at.o_id, 1)
  if (!last) return 'commit'
  const order = integer(last, ORDERS.at.o_id)
  yield select('order_line', 'ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3', w, d, order)
  return 'commit'
}

/** Delivers the oldest new order of each district. */
function* delivery(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const carrier = BigInt(1 + random.below(10))
  for (let d = 1n; d <= choices.parameters.districts; d++) {
    const waiting = yield select('new_order', 'no_w_id = $1 AND no_d_id = $2', w, d)
    const oldest = extreme(waiting, NEW_ORDER.at.no_o_id, -1)
    if (!oldest) continue
    const order = integer(oldest, NEW_ORDER.at.no_o_id)
    yield deleteFrom('new_order', NEW_ORDER_KEY, w, d, order)
    const [delivered] = yield update('orders', { o_carrier: carrier }, ORDER_KEY, w, d, order)
    const open = 'ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND NOT ol_delivered'
    const lines = yield update('order_line', { ol_delivered: true }, open, w, d, order)
    if (!delivered) continue
    const total = lines.reduce((sum, line) => sum + integer(line, ORDER_LINE.at.ol_amount), 0n)
    const set = { c_balance: add(total), c_deliveries: add(1n) }
    const customer = integer(delivered, ORDERS.at.o_c_id)
    yield update('customer', set, CUSTOMER_KEY, w, d, customer)
  }
  return 'commit'
}

function* stockLevel(choices: TpccChoices, random: Random): SqlSteps {
  const w = choices.warehouse(random)
  const d = choices.district(random)
  const threshold = BigInt(10 + random.below(11))
  const [district] = yield select('district', DISTRICT_KEY, w, d)
  const next = integer(district!, DISTRICT.at.d_next_o_id)
  const recent = 'ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4'
  const lines = yield select('order_line', recent, w, d, next - LAST_ORDERS, next)
  const items = [...new Set(lines.map((line) => integer(line, ORDER_LINE.at.ol_i_id)))]
  if (items.length === 0) return 'commit'
  const where = `s_w_id = $1 AND s_quantity < $2 AND s_i_id IN (${placeholders(2, items)})`
  yield select('stock', where, w, threshold, ...items)
  return 'commit'
}

/** The row with the largest (sign 1) or smallest (sign -1) integer in the column. */
function extreme(rows: readonly SqlRow[], column: number, sign: 1 | -1): SqlRow | null {
  let found: SqlRow | null = null
  for (const row of rows) {
    const isFarther = found && integer(row, column) > integer(found, column) === sign > 0
    if (!found || isFarther) found = row
  }
  return found
}
