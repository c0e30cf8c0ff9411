// TPC-C as reads and writes of keys: one warehouse, 10 districts, 3,000 customers each unless told,
// 100,000 items with their stock, and the five transactions in the shares of the benchmark. A
// transaction that would search knows the keys; money and numbers are not kept.

import type { Random } from '../../base/random.ts'
import type { Application, Rows } from './application.ts'

const DISTRICTS = 10
const ITEMS = 100_000
const MIN_LINES = 5
const MAX_LINES = 15
/** How many of the last orders the stock level looks at. */
const LAST_ORDERS = 20

interface Order {
  readonly row: number
  readonly entry: number // its row among the new orders
  readonly customer: number
  readonly lines: readonly number[]
  readonly items: readonly number[]
}

export const TPCC_KV: Application = (rows, random, customersOfDistrict) => {
  const shop = new Shop(rows, random, customersOfDistrict)
  return [
    { share: 45, perform: () => shop.newOrder() },
    { share: 43, perform: () => shop.payment() },
    { share: 4, perform: () => shop.orderStatus() },
    { share: 4, perform: () => shop.delivery() },
    { share: 4, perform: () => shop.stockLevel() },
  ]
}

class Shop {
  private readonly warehouse: number
  private readonly districts: number
  private readonly customers: number
  private readonly items: number
  private readonly stock: number
  private readonly lastOrders: Order[][] // district -> its last orders
  private readonly undelivered: Order[][] // district -> its orders that wait
  private readonly delivered: Int32Array // district -> how many of those do not wait any more
  private readonly orderOf = new Map<number, Order>() // customer -> the last order

  constructor(
    private readonly rows: Rows,
    private readonly random: Random,
    private readonly customersOfDistrict: number,
  ) {
    this.warehouse = rows.table(1)
    this.districts = rows.table(DISTRICTS)
    this.customers = rows.table(DISTRICTS * customersOfDistrict)
    this.items = rows.table(ITEMS)
    this.stock = rows.table(ITEMS)
    this.lastOrders = Array.from({ length: DISTRICTS }, () => [])
    this.undelivered = Array.from({ length: DISTRICTS }, () => [])
    this.delivered = new Int32Array(DISTRICTS)
  }

  newOrder(): void {
    const { rows, random } = this
    const district = random.below(DISTRICTS)
    const customer = this.customer(district)
    rows.read(this.warehouse)
    rows.read(customer)
    rows.change(this.districts + district)
    const row = rows.make()
    const entry = rows.make()
    const lines: number[] = []
    const items: number[] = []
    for (let left = between(MIN_LINES, MAX_LINES, random); left > 0; left--) {
      const item = unevenly(8191, ITEMS, random)
      rows.read(this.items + item)
      rows.change(this.stock + item)
      lines.push(rows.make())
      items.push(item)
    }
    const order = { row, entry, customer, lines, items }
    this.orderOf.set(customer, order)
    this.undelivered[district]!.push(order)
    const last = this.lastOrders[district]!
    last.push(order)
    if (last.length > LAST_ORDERS) last.shift()
  }

  payment(): void {
    const { rows } = this
    const district = this.random.below(DISTRICTS)
    rows.change(this.warehouse)
    rows.change(this.districts + district)
    rows.change(this.customer(district))
    rows.make()
  }

  orderStatus(): void {
    const { rows } = this
    const customer = this.customer(this.random.below(DISTRICTS))
    rows.read(customer)
    const order = this.orderOf.get(customer)
    if (order === undefined) return
    rows.read(order.row)
    for (const line of order.lines) rows.read(line)
  }

  /** Of each district, the order that has waited longest. */
  delivery(): void {
    const { rows } = this
    rows.read(this.warehouse)
    for (let district = 0; district < DISTRICTS; district++) {
      const order = this.undelivered[district]![this.delivered[district]!]
      if (order === undefined) continue
      this.delivered[district]!++
      rows.change(order.entry)
      rows.change(order.row)
      for (const line of order.lines) rows.change(line)
      rows.change(order.customer)
    }
  }

  stockLevel(): void {
    const { rows } = this
    const district = this.random.below(DISTRICTS)
    rows.read(this.districts + district)
    const seen = new Set<number>()
    for (const { lines, items } of this.lastOrders[district]!) {
      for (const line of lines) rows.read(line)
      for (const item of items) seen.add(item)
    }
    for (const item of seen) rows.read(this.stock + item)
  }

  private customer(district: number): number {
    const number = unevenly(1023, this.customersOfDistrict, this.random)
    return this.customers + district * this.customersOfDistrict + number
  }
}

function between(least: number, most: number, random: Random): number {
  return least + random.below(most - least + 1)
}

/** The benchmark's way to prefer some: of two random numbers, the bits of either. */
function unevenly(bits: number, count: number, random: Random): number {
  return (random.below(bits + 1) | random.below(count)) % count
}
