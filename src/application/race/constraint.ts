// A constraint that would keep two actors from adding what each of them has looked for in vain:
// UNIQUE on the columns that a SELECT has fixed, or EXCLUDE where it asked for what overlaps. Read
// from the statements of the run that went wrong, put on the table while the cure is tried, and
// taken off again. Main functions: constraintsFor, constrained.

import { UsageError } from '../../base/errors.ts'
import { quoteColumn } from '../../history/clause-of-keys.ts'
import { SqlError } from '../../sql/error.ts'
import { scan, type Token } from '../../sql/scan.ts'
import type { ClauseRef } from '../observe/hooks.ts'
import { codesOf } from './error-code.ts'
import type { Observer } from './observer.ts'
import type { RaceRun } from './race-run.ts'
import type { Treatment } from './treatment.ts'

export interface Constraint {
  readonly table: string // as the history calls it
  readonly relation: string // quoted, with its schema
  /** Columns that must not be equal. */
  readonly equal: readonly string[]
  /** Columns that are the ends of a range, which must not overlap; null if there is none. */
  readonly range: { readonly from: string; readonly to: string; readonly bounds: string } | null
}

const NAME = 'isobar_tries_this'
const REFUSALS = new Set(['23505', '23P01'])
const MAX_CONSTRAINTS = 2

/** What the clauses of a run suggest, of tables to which several actors have added rows. */
export function constraintsFor({ turns }: RaceRun): Constraint[] {
  const adders = new Map<string, Set<string>>() // relation -> actors
  for (const { actor, step } of turns) {
    if (!/^\s*insert\b/i.test(step.text)) continue
    for (const { relation } of step.writes ?? []) {
      adders.set(relation, (adders.get(relation) ?? new Set()).add(actor))
    }
  }
  const found = new Map<string, Constraint>()
  for (const { step } of turns) {
    for (const clause of step.kind === 'read' ? (step.clauses ?? []) : []) {
      if (clause.row !== null || (adders.get(clause.relation)?.size ?? 0) < 2) continue
      const constraint = constraintOf(clause)
      if (constraint !== null) found.set(describe(constraint), constraint)
    }
  }
  return [...found.values()].slice(0, MAX_CONSTRAINTS)
}

/** `room = 4 AND start_hour < 12 AND end_hour > 10`; null if it is anything else. */
function constraintOf({ table, relation, where }: ClauseRef): Constraint | null {
  const equal = new Set<string>()
  const ends = new Map<string, [column: string, isClosed: boolean]>()
  for (const [column, operator] of comparisonsIn(where ?? '') ?? []) {
    if (operator === '=') equal.add(column)
    else if (ends.has(operator[0]!)) return null
    else ends.set(operator[0]!, [column, operator.endsWith('=')])
  }
  if (ends.size === 0)
    return equal.size === 0 ? null : { table, relation, equal: [...equal], range: null }
  const [before, after] = [ends.get('<'), ends.get('>')]
  if (!before || !after || before[0] === after[0]) return null
  const bounds = before[1] && after[1] ? '[]' : '[)'
  return { table, relation, equal: [...equal], range: { from: before[0], to: after[0], bounds } }
}

/** The columns that a clause compares with values, one after the other; null if it does more. */
function comparisonsIn(where: string): [column: string, operator: string][] | null {
  const tokens = tokensOf(where).filter(({ value }) => value !== '(' && value !== ')')
  const found: [string, string][] = []
  for (let at = 0; at < tokens.length; at += 4) {
    const [column, operator, value, and] = tokens.slice(at, at + 4)
    if (!column || !isName(column) || !operator || !value || isName(value)) return null
    if (!/^(=|<|>|<=|>=)$/.test(operator.value)) return null
    if (and !== undefined && and.value.toLowerCase() !== 'and') return null
    found.push([column.value, operator.value])
  }
  return found
}

function tokensOf(where: string): readonly Token[] {
  try {
    return scan(where)
  } catch (error) {
    if (error instanceof SqlError) return []
    throw error
  }
}

function isName({ kind }: Token): boolean {
  return kind === 'word' || kind === 'name'
}

function describe({ table, equal, range }: Constraint): string {
  const columns = equal.map(quoteColumn)
  if (range === null) return `UNIQUE (${columns.join(', ')}) on ${table}`
  const ends = `${quoteColumn(range.from)} to ${quoteColumn(range.to)}`
  return `EXCLUDE on ${table}: ${[...columns, ends].join(', ')} that overlap`
}

const RANGES: Readonly<Record<string, string>> = {
  int2: 'int8range',
  int4: 'int8range',
  int8: 'int8range',
  numeric: 'numrange',
  date: 'daterange',
  timestamp: 'tsrange',
  timestamptz: 'tstzrange',
}

/** As SQL has it; null if the types of the columns have no ranges. */
async function define(
  observer: Observer,
  { relation, equal, range }: Constraint,
): Promise<string | null> {
  if (range === null) return `UNIQUE (${equal.map(quoteColumn).join(', ')})`
  const rows = await observer.ask(
    `SELECT a.attname AS name, t.typname AS type FROM pg_attribute AS a
      JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > 0`,
    [relation],
  )
  const types = new Map(rows.map(({ name, type }) => [String(name), String(type)]))
  // A range of one value is equal to what it overlaps: plain equality takes an extension.
  const ranges = [
    ...equal.map((column) => [column, column, '[]'] as const),
    [range.from, range.to, range.bounds] as const,
  ]
  const parts: string[] = []
  for (const [from, to, bounds] of ranges) {
    const make = RANGES[types.get(from) ?? '']
    if (make === undefined || RANGES[types.get(to) ?? ''] !== make) return null
    parts.push(`${make}(${quoteColumn(from)}, ${quoteColumn(to)}, '${bounds}') WITH &&`)
  }
  return `EXCLUDE USING gist (${parts.join(', ')})`
}

/** Null if the types of its columns have no ranges. */
export async function constrained(
  observer: Observer,
  constraint: Constraint,
): Promise<Treatment | null> {
  const definition = await define(observer, constraint)
  if (definition === null) return null
  let refused = 0
  const { relation } = constraint
  return {
    name: `${describe(constraint)}, and taking no for an answer`,
    retries: () => 0,
    refusals: () => refused,
    actor: (own) => async () => {
      try {
        return await own()
      } catch (error) {
        if (!codesOf(error).some((code) => REFUSALS.has(code))) throw error
        refused++
        return undefined
      }
    },
    begin: async () => {
      try {
        await observer.ask(`ALTER TABLE ${relation} ADD CONSTRAINT ${NAME} ${definition}`)
      } catch (error) {
        throw new UsageError(`race: ${describe(constraint)}: ${(error as Error).message}`)
      }
      return async () => {
        await observer.ask(`ALTER TABLE ${relation} DROP CONSTRAINT IF EXISTS ${NAME}`)
      }
    },
    rewrite: null,
    after: null,
    dropsAttempts: false,
  }
}
