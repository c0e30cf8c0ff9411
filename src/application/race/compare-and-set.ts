// An UPDATE that changes a row only if it still holds what a SELECT of the same transaction saw of
// it, and another try if it does not. For a row that is read by its key, then written by its key,
// with a column in both. Made from outside: the condition is put into the statement, and where no
// row is left to change, the next statement of the transaction is refused in place of the
// application's own look at the count of rows. Main functions: comparisonsFor, compareAndSet.

import { TupleMap } from '../../base/maps.ts'
import { quoteColumn } from '../../history/clause-of-keys.ts'
import type { Step } from '../observe/hooks.ts'
import { shapeOf } from '../observe/shape.ts'
import type { Turn } from './play.ts'
import type { RaceRun } from './race-run.ts'
import { retrying, type Treatment } from './treatment.ts'

export interface Comparison {
  readonly select: string
  readonly update: string
  /** Columns of the row that the one reads and the other sets. */
  readonly columns: readonly string[]
}

const MAX_COMPARISONS = 2
const REFUSE =
  "DO $$ BEGIN RAISE EXCEPTION 'the row has changed' USING ERRCODE = 'serialization_failure'; END $$"

/** Pairs of statements of a run that a comparison fits. */
export function comparisonsFor({ turns }: RaceRun): Comparison[] {
  const found = new TupleMap<string[], Comparison>()
  for (const [at, turn] of turns.entries()) {
    const written = rowWritten(turn.step)
    if (written === null) continue
    for (const read of readsBefore(turns, at)) {
      if (rowRead(read) !== written) continue
      const set = shapeOf(turn.step.text).on!.sets
      const columns = set.filter((column) => literalOf(read.onlyRow![column]) !== null)
      if (columns.length === 0) continue
      const [select, update] = [read.text, turn.step.text]
      found.set([select, update, ...columns], { select, update, columns })
    }
  }
  return [...found.values()].slice(0, MAX_COMPARISONS)
}

/** The row that an UPDATE has changed by its key, with its table; null if it is anything else. */
function rowWritten({ text, inTransaction, clauses, writes }: Step): string | null {
  const { on } = shapeOf(text)
  if (on?.verb !== 'update' || on.more || on.where === null || !inTransaction) return null
  const [clause, ...others] = clauses ?? []
  if (clause?.row == null || others.length > 0 || writes?.length !== 1) return null
  return `${clause.relation} ${clause.row}`
}

/** The row that a SELECT has read by its key, and no lock holds for it. */
function rowRead({ kind, locks, clauses, onlyRow }: Step): string | null {
  const [clause, ...others] = clauses ?? []
  if (kind !== 'read' || locks || !onlyRow || clause?.row == null || others.length > 0) return null
  return `${clause.relation} ${clause.row}`
}

/** What the same transaction has done before. */
function readsBefore(turns: readonly Turn[], at: number): Step[] {
  const { client } = turns[at]!.step
  const own = turns.slice(0, at).filter(({ step }) => step.client === client)
  const begin = own.findLastIndex(({ step }) => step.kind === 'begin')
  return own.slice(begin + 1).map(({ step }) => step)
}

/** As it is written in a statement; null for what has no plain form. */
function literalOf(value: unknown): string | null {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'string' || value.includes('\\') || value.includes('\0')) return null
  return `'${value.replaceAll("'", "''")}'`
}

export function compareAndSet({ select, update, columns }: Comparison): Treatment {
  let retries = 0
  const seen = new Map<string, Readonly<Record<string, unknown>>>() // actor -> what it has read
  const asked = new Map<string, string>() // actor -> its UPDATE with the condition
  const late = new Set<string>() // actors whose UPDATE has found no row
  const forget = (actor: string) => {
    seen.delete(actor)
    asked.delete(actor)
    late.delete(actor)
  }
  const rewrite = (text: string, actor = ''): string => {
    const { kind } = shapeOf(text)
    if (kind === 'begin') forget(actor)
    // Who is told that it has committed tries again; who is refused may do so by itself.
    if (late.has(actor) && kind !== 'rollback') return kind === 'commit' ? 'ROLLBACK' : REFUSE
    const row = seen.get(actor)
    if (text !== update || row === undefined) return text
    const changed = withConditions(text, columns, row)
    asked.set(actor, changed)
    return changed
  }
  const after = ({ actor = '', text, error, onlyRow, returned }: Step) => {
    if (error !== undefined) return
    if (text === select && onlyRow) seen.set(actor, onlyRow)
    if (text !== asked.get(actor) || returned !== 'UPDATE 0') return
    late.add(actor)
    retries++
  }
  const held = columns.map(quoteColumn).join(' and ')
  return {
    name: `asking in WHERE for ${held} as read, and trying again if not: ${update.replace(/\s+/g, ' ').trim()}`,
    retries: () => retries,
    refusals: () => 0,
    actor: (own, name) => retrying(own, () => late.has(name)),
    begin: async () => async () => {},
    rewrite,
    after,
    dropsAttempts: true,
  }
}

function withConditions(
  text: string,
  columns: readonly string[],
  row: Readonly<Record<string, unknown>>,
): string {
  const { start, end } = shapeOf(text).on!.where!
  const conditions = columns.flatMap((column) => {
    const literal = literalOf(row[column])
    if (literal === null) return []
    return literal === 'NULL'
      ? [`${quoteColumn(column)} IS NULL`]
      : [`${quoteColumn(column)} = ${literal}`]
  })
  const where = [`(${text.slice(start, end)})`, ...conditions].join(' AND ')
  return text.slice(0, start) + where + text.slice(end)
}
