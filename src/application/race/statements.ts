// From the statements of a run to events whose commuting can be judged: what each touched, with the
// locks and the snapshot that its transaction has, and with what the catalogue says of its tables.
// Main function: StatementReader.events.

import type { Step } from '../observe/hooks.ts'
import { addAll, type Footprint, NOTHING, type Rows, together, UNKNOWN } from './footprint.ts'
import type { TableTraits } from './observer.ts'
import type { Turn } from './play.ts'
import type { RunEvent } from './trace.ts'

export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/** Statements that do more than touch rows, whatever else is known of them. */
const OPAQUE = new RegExp(
  [
    '\\b(nextval|setval|currval|lastval|pg_\\w+|dblink\\w*|txid_\\w+|set_config)\\s*\\(',
    '^\\s*(notify|listen|lock|copy|truncate|alter|create|drop|call|do)\\b',
  ].join('|'),
  'i',
)
const LOCKING = /\bfor\s+(no\s+key\s+update|update|share|key\s+share)\b/i
const LEVEL = /\bisolation\s+level\s+(serializable|repeatable\s+read|read\s+(?:un)?committed)/i
/** What changes the level of transactions to come: from there on the strictest is assumed. */
const SESSION_LEVEL = /\bsession\s+characteristics\b|\bdefault_transaction_isolation\b/i

class Transaction {
  readonly reads = new Map<string, Rows>()
  readonly writes = new Map<string, Rows>()
  hasSnapshot = false
  isUnknown = false

  constructor(public level: Isolation) {}
}

export class StatementReader {
  private isAnyLevel = false

  constructor(
    private readonly traits: ReadonlyMap<string, TableTraits>,
    private readonly usualLevel: Isolation,
  ) {}

  events(turns: readonly Turn[]): RunEvent[] {
    const open = new Map<number, Transaction>() // connection -> its transaction
    const footprints = new Map<Turn, Footprint>()
    for (const turn of turns) footprints.set(turn, this.footprint(turn.step, open))
    return turns.map((turn) => ({
      actor: turn.actor,
      woke: [...new Set(turn.woke.map(({ actor }) => actor))],
      footprint: together([turn, ...turn.woke].map((each) => footprints.get(each)!)),
    }))
  }

  private footprint(step: Step, open: Map<number, Transaction>): Footprint {
    const known = step.inTransaction ? open.get(step.client) : undefined
    const transaction = known ?? new Transaction(this.usualLevel)
    open.set(step.client, transaction)
    if (SESSION_LEVEL.test(step.text)) this.isAnyLevel = true
    if (step.kind === 'begin' || step.kind === 'set') this.setLevel(step, transaction)
    const isSerializable = this.isAnyLevel || transaction.level === 'serializable'
    const { reads, writes } = transaction
    switch (step.kind) {
      case 'begin':
        return NOTHING
      case 'set':
        return /\bconstraints\b/i.test(step.text) ? UNKNOWN : NOTHING
      case 'savepoint':
        // Going back to one lets go of locks.
        return /^\s*rollback\b/i.test(step.text)
          ? { ...NOTHING, reads, writes, ends: isSerializable, isSerializable }
          : NOTHING
      case 'commit':
      case 'rollback': {
        open.delete(step.client)
        if (step.error !== undefined || transaction.isUnknown) return UNKNOWN
        const ends = step.kind === 'commit' || isSerializable
        return { ...NOTHING, reads, writes, ends, isSerializable }
      }
      default: {
        const own = this.ofRows(step)
        if (!step.inTransaction) open.delete(step.client)
        if (own === null) {
          transaction.isUnknown = true
          return UNKNOWN
        }
        addAll(reads, own.reads)
        addAll(writes, own.writes)
        const takesSnapshot =
          !transaction.hasSnapshot && (this.isAnyLevel || transaction.level !== 'read committed')
        transaction.hasSnapshot = true
        return { ...NOTHING, ...own, ends: !step.inTransaction, takesSnapshot, isSerializable }
      }
    }
  }

  private setLevel(step: Step, transaction: Transaction): void {
    const [, word] = LEVEL.exec(step.text) ?? []
    if (word === undefined) return
    const level = word.toLowerCase().replace(/\s+/g, ' ').replace('uncommitted', 'committed')
    transaction.level = level as Isolation
  }

  /** The rows a statement touched; null if that is not known. */
  private ofRows(step: Step): Pick<Footprint, 'reads' | 'writes'> | null {
    const { reads: read, writes: written, clauses } = step
    if (step.error !== undefined || step.kind === 'other' || OPAQUE.test(step.text)) return null
    if (read === undefined || written === undefined || !clauses) return null
    const reads = new Map<string, Rows>()
    const writes = new Map<string, Rows>()
    for (const { table, where } of clauses) {
      const traits = this.traits.get(table)
      if (traits === undefined) return null
      const rows = read.filter((ref) => ref.table === table).map(({ row }) => row)
      const isPinned = rows.length === 1 && pins(where, traits.key)
      addAll(reads, new Map([[traits.group, isPinned ? new Set(rows) : null]]))
    }
    for (const { table, row } of read) {
      const traits = this.traits.get(table)
      if (traits === undefined) return null
      addAll(reads, new Map([[traits.group, new Set([row])]]))
    }
    for (const { table, row } of written) {
      const traits = this.traits.get(table)
      if (traits === undefined || traits.runsCode) return null
      addAll(writes, new Map([[traits.group, traits.tiesRows ? null : new Set([row])]]))
    }
    // What is locked cannot be written or locked by others meanwhile.
    if (LOCKING.test(step.text)) addAll(writes, reads)
    return { reads, writes }
  }
}

const PART = /^(?:"?\w+"?\.)?"?(\w+)"?\s*=\s*(?:'(?:[^']|'')*'|\$\d+|-?\d+)(?:::\w+)?$/

/** Whether a clause is `key = constant` for all columns of the key, so that it asks for one row. */
function pins(where: string | null, key: readonly string[]): boolean {
  if (where === null || key.length === 0) return false
  const columns = new Set<string>()
  const bare = where.trim().replace(/^\((.*)\)$/s, '$1')
  for (const part of bare.split(/\s+and\s+/i)) {
    const [, column] = PART.exec(part.trim()) ?? []
    if (column === undefined) return false
    columns.add(column.toLowerCase())
  }
  return key.every((column) => columns.has(column.toLowerCase()))
}
