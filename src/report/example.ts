// One anomaly of a verdict file together with what the file tells once for all of them: the
// transactions that it speaks of, what they did, their tables. Words and pictures are made of it.
// Main class: Example.

import { InputError } from '../base/errors.ts'
import type { TimeUnit } from '../history/history.ts'
import { rowName } from '../history/sql-statements.ts'
import type { Value } from '../history/values.ts'
import type { SqlValue } from '../sql/value.ts'
import { findEdges } from '../verdict/verdict.ts'
import type {
  AnomalyJson,
  CellJson,
  OpJson,
  PlaceJson,
  RowJson,
  TableJson,
  TxnJson,
  VerdictJson,
} from '../verdict/verdict-file.ts'
import { plain } from './names.ts'

/** An operation, where it stands and what it is. */
export interface Op {
  readonly place: PlaceJson
  readonly op: OpJson
}

export class Example {
  /** Those that the evidence names, in the order of the input. */
  readonly txns: readonly TxnJson[]
  private readonly byName = new Map<string, TxnJson>()

  /** Throws InputError if the anomaly names what the verdict does not have. */
  constructor(
    private readonly verdict: VerdictJson,
    readonly anomaly: AnomalyJson,
  ) {
    const core = new Set(anomaly.core)
    for (const txn of verdict.transactions) {
      if (!core.has(txn.id)) continue
      if (this.byName.has(txn.id)) throw damaged(`two transactions are named ${plain(txn.id)}`)
      this.byName.set(txn.id, txn)
    }
    this.txns = anomaly.core.map((name) => this.txn(name))
  }

  /** In which unit times are, null if the history does not say. */
  get unit(): TimeUnit | null {
    return this.verdict.unit ?? null
  }

  /** SQL: the tables with the initial rows that are spoken of; null if there are no statements. */
  get tables(): readonly TableJson[] | null {
    const { tables } = this.verdict
    if (tables === undefined) return null
    const [used, keys] = [new Set<string>(), new Set<Value>()]
    for (const { ops, statements = [] } of this.txns) {
      for (const [, key] of ops) keys.add(key)
      for (const { table } of statements) used.add(table)
    }
    for (const { key } of findEdges(this.anomaly.edges, this.anomaly.cases)) keys.add(key)
    if (this.anomaly.absence) keys.add(this.anomaly.absence.key)
    return tables
      .filter(({ name }) => used.has(name))
      .map((table) => {
        const { name, key, rows } = table
        const nameOf = (row: RowJson) =>
          rowName(
            { name },
            key.map((column) => sqlCell(row[column] ?? null)),
          )
        return { ...table, rows: rows.filter((row) => keys.has(nameOf(row))) }
      })
  }

  txn(name: string): TxnJson {
    const txn = this.byName.get(name)
    if (txn === undefined) throw damaged(`transaction ${plain(name)} is not in the core`)
    return txn
  }

  op({ transaction, index }: PlaceJson): OpJson {
    const op = this.txn(transaction).ops[index]
    if (op === undefined) {
      throw damaged(`transaction ${plain(transaction)} has no operation ${index}`)
    }
    return op
  }

  /** The operations that make an anomaly of single reads. */
  ops(): Op[] {
    return this.anomaly.ops.map((place) => ({ place, op: this.op(place) }))
  }

  /** Those of the core that a transaction comes after beyond its session. */
  after(name: string): readonly string[] {
    const { after = {} } = this.anomaly
    return Object.hasOwn(after, name) ? after[name]! : []
  }
}

/** As the history has it. */
export function sqlCell(cell: CellJson): SqlValue {
  return typeof cell === 'number' ? BigInt(cell) : cell
}

export function damaged(what: string): InputError {
  return new InputError('not-a-verdict', `damaged verdict: ${what}`)
}
