// An application over rows that are keys: what the transactions of tpcc-kv, twitter-kv and rubis
// have in common. Tables that are there at first have the first keys; rows made later get the next
// ones. What a transaction would look up (the last order of a customer, whom a user follows) is
// taken from what was planned before, since a plan cannot know what a database will answer. Main
// function: planApplication.

import { Random } from '../../base/random.ts'
import { READ, WRITE } from '../../history/history.ts'
import type { WorkloadParameters } from '../parameters.ts'
import { type Plan, PlanBuilder, PUT, UPDATE } from '../plan.ts'

export interface TransactionKind {
  /** How often it is, in percent. */
  readonly share: number
  readonly perform: () => void
}

/** Sets up its tables, and says which transactions it has. */
export type Application = (rows: Rows, random: Random, size: number) => readonly TransactionKind[]

export function planApplication(parameters: WorkloadParameters, open: Application): Plan {
  const { sessions, transactions } = parameters
  const random = new Random(parameters.seed)
  const builder = new PlanBuilder(transactions, transactions * parameters.ops)
  const rows = new Rows(builder)
  const kinds = open(rows, random, parameters.keys)
  const rowCount = rows.count
  for (let txn = 0; txn < transactions; txn++) {
    builder.beginTxn(txn % sessions)
    let at = random.unit() * 100
    let kind = 0
    while (kind < kinds.length - 1 && at >= kinds[kind]!.share) at -= kinds[kind++]!.share
    kinds[kind]!.perform()
  }
  return builder.finish({ sessionCount: sessions, keyCount: rows.count, rowCount })
}

/** The rows of an application, and what its transactions do with them. */
export class Rows {
  count = 0
  private firstMade = Number.POSITIVE_INFINITY // rows from here on were made by transactions

  constructor(private readonly builder: PlanBuilder) {}

  /** A table of so many rows that are there at first; its first row. */
  table(size: number): number {
    const first = this.count
    this.count += size
    return first
  }

  read(row: number): void {
    this.builder.addOp(READ, row)
  }

  write(row: number): void {
    // Where its maker was rolled back, a row made later is not there.
    this.builder.addOp(WRITE, row, row < this.firstMade ? UPDATE : PUT)
  }

  /** Reads a row and writes it. */
  change(row: number): void {
    this.read(row)
    this.write(row)
  }

  /** Writes a row that was not there before. */
  make(): number {
    if (this.firstMade > this.count) this.firstMade = this.count
    const row = this.count++
    this.write(row)
    return row
  }
}
