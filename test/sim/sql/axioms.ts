// Replays an execution against the definitions: under the store's own commit order, with the
// versions that full histories name as the witness, every read keeps the axiom of its transaction's
// own level. Written from the definitions alone, with sets and loops, for small executions.

import { INSERT } from '../../../src/history/sql-events.ts'
import type {
  RanStatement,
  RanTxn,
  SqlExecution,
  StoredRow,
} from '../../../src/sim/sql/execution.ts'

interface Read {
  readonly row: StoredRow
  readonly from: RanTxn | null // null: the initial transaction
  readonly statement: number
}

/** What is wrong, in words; empty if nothing is. */
export function findBrokenAxioms(execution: SqlExecution): string[] {
  const order = Array.from(execution.ended)
    .map((txn) => execution.txns[txn]!)
    .map((txn, rank) => ({ txn, rank }))
    .filter(({ txn }) => !Number.isNaN(txn.place))
    .sort((a, b) => a.txn.place - b.txn.place || a.rank - b.rank)
    .map(({ txn }) => txn)
  return new Replay(execution, order).run()
}

class Replay {
  private readonly rank = new Map<RanTxn | null, number>([[null, -1]])
  private readonly writerOf = new Map<RanStatement, RanTxn>()
  private readonly writers = new Map<StoredRow, RanTxn[]>()
  private readonly reads = new Map<RanTxn, Read[]>()
  private readonly broken: string[] = []

  constructor(
    private readonly execution: SqlExecution,
    private readonly order: readonly RanTxn[],
  ) {
    order.forEach((txn, rank) => {
      this.rank.set(txn, rank)
      for (const statement of txn.statements) this.writerOf.set(statement, txn)
    })
    for (const txn of order) {
      for (const row of rowsWrittenBy(txn)) {
        this.writers.set(row, [...(this.writers.get(row) ?? []), txn])
      }
      this.reads.set(txn, this.readsOf(txn))
    }
  }

  run(): string[] {
    for (const session of Array.from({ length: this.execution.sessionCount }).keys()) {
      const own = this.execution.txns.filter((txn) => txn.session === session && this.rank.has(txn))
      own.reduce((before: RanTxn | null, txn) => {
        if (this.at(before) >= this.at(txn)) this.broken.push(`session ${session} goes backwards`)
        return txn
      }, null)
    }
    for (const reader of this.order)
      for (const read of this.reads.get(reader)!) this.judge(reader, read)
    return this.broken
  }

  private at(txn: RanTxn | null): number {
    return this.rank.get(txn)!
  }

  private readsOf(txn: RanTxn): Read[] {
    const reads: Read[] = []
    txn.statements.forEach((ran, statement) => {
      for (const { row, by } of [...ran.seen, ...(ran.passed ?? [])]) {
        const writer = by === null ? null : (this.writerOf.get(by) ?? undefined)
        if (writer === undefined) this.broken.push('a read of what never took effect')
        else if (writer !== txn) reads.push({ row, from: writer, statement })
      }
      if (ran.kind === INSERT) return
      // Rows that came later were absent.
      const known = new Set([...ran.seen, ...ran.passed!].map(({ row }) => row))
      for (const row of this.execution.stored[ran.table]!) {
        if (!known.has(row) && !ran.own.has(row)) reads.push({ row, from: null, statement })
      }
    })
    return reads
  }

  private judge(reader: RanTxn, read: Read): void {
    if (this.at(read.from) >= this.at(reader)) this.broken.push(`${reader.level}: reads the future`)
    for (const other of this.writers.get(read.row) ?? []) {
      if (other === reader || other === read.from || this.at(other) < this.at(read.from)) continue
      if (!this.isVisible(other, reader, read)) continue
      this.broken.push(
        `${reader.level}: statement ${read.statement} misses a newer ${read.row.key}`,
      )
    }
  }

  private isVisible(other: RanTxn, reader: RanTxn, { statement }: Read): boolean {
    const isBefore = (txn: RanTxn) =>
      txn.session === reader.session && this.at(txn) < this.at(reader)
    const given = this.reads.get(reader)!
    const isRead = (txn: RanTxn) => given.some(({ from }) => from === txn)
    const earlier = (txn: RanTxn) =>
      given.some((read) => read.from === txn && read.statement <= statement)
    const direct = this.order.filter((txn) => isBefore(txn) || isRead(txn))
    const isPrefix = () => direct.some((txn) => this.at(other) <= this.at(txn))
    switch (reader.level) {
      case 'rc':
        return isBefore(other) || earlier(other)
      case 'ra':
        return direct.includes(other)
      case 'cc':
        return this.past(reader).has(other)
      case 'pc':
        return isPrefix()
      case 'si':
        return isPrefix() || this.rivals(reader).some((txn) => this.at(other) <= this.at(txn))
      default:
        return this.at(other) < this.at(reader)
    }
  }

  /** Transactions before this one that write a row that it writes too. */
  private rivals(txn: RanTxn): RanTxn[] {
    const own = rowsWrittenBy(txn)
    return this.order.filter(
      (other) => this.at(other) < this.at(txn) && [...rowsWrittenBy(other)].some((r) => own.has(r)),
    )
  }

  /** Everything from which session order and reads lead to the transaction. */
  private past(txn: RanTxn): Set<RanTxn> {
    const found = new Set<RanTxn>()
    const pending = [txn]
    for (let next = pending.pop(); next; next = pending.pop()) {
      const current = next
      const before = this.order.filter(
        (other) => other.session === current.session && this.at(other) < this.at(current),
      )
      for (const { from } of this.reads.get(current)!) if (from) before.push(from)
      for (const other of before) {
        if (found.has(other)) continue
        found.add(other)
        pending.push(other)
      }
    }
    return found
  }
}

function rowsWrittenBy(txn: RanTxn): Set<StoredRow> {
  if (txn.rolledBack) return new Set()
  return new Set(txn.statements.flatMap((ran) => ran.written.map(({ row }) => row)))
}
