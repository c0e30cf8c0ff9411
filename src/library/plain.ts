// Histories as plain objects: what a program has at hand that records its own transactions. They
// become lines of the native format, so that everything said and refused there is said and refused
// here. Main function: renderPlain.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { StatusName } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { isObject } from './options.ts'

/** A key: an integer or a string; `1` and `"1"` differ. */
export type PlainKey = number | bigint | string
/** A value: an integer, a string, or null for the initial state; every write has one of its own. */
export type PlainValue = number | bigint | string | null

/** A version as the store numbers it: a number, or an LSN such as "16/B374D848". */
export type PlainVersion = number | bigint | string

/** One operation: of a register, a list, a counter, a set, a lightweight one, a range of keys, or
 * as the native format has it. `found` is false if an operation failed without saying what it found. */
export type PlainOp =
  | { r: PlainKey; v: PlainValue | readonly PlainValue[]; version?: PlainVersion }
  | { w: PlainKey; v: PlainValue; version?: PlainVersion }
  | { append: PlainKey; v: PlainValue }
  | { inc: PlainKey; by: number }
  | { add: PlainKey; v: PlainValue }
  | { set: PlainKey; v: readonly PlainValue[] }
  | { cas: PlainKey; from: PlainValue; to: PlainValue; found?: PlainValue | false }
  | { insert: PlainKey; v: PlainValue; found?: PlainValue | false }
  | { range: readonly [first: number | bigint, last: number | bigint]; v: PlainPairs }
  | PlainStatement
  | readonly [string, ...unknown[]]

/** Keys that a range read returned, each with its value. */
export type PlainPairs = readonly (readonly [key: number | bigint, value: PlainValue])[]

/** A SQL statement, as docs/sql-history.md describes it. */
export type PlainStatement =
  | { select: string; [field: string]: unknown }
  | { insert: string; into?: string; rows: unknown; [field: string]: unknown }
  | { update: string; [field: string]: unknown }
  | { delete: string; [field: string]: unknown }

/** One transaction; those of a session stand in the order in which they ran. */
export interface PlainTransaction {
  session: number | string
  ops: readonly PlainOp[]
  /** The name that reports use. */
  id?: number | string
  /** `committed` unless told; `indeterminate` if nobody learned how COMMIT ended. */
  status?: StatusName
  /** When it was begun and when its end was known, in any unit. */
  start?: number
  finish?: number
  /** The level that it ran at. */
  level?: LevelId
  /** The version of all that it writes, unless a write has its own. */
  version?: PlainVersion
}

/** Transactions with what a header of the native format says of all of them. */
export interface PlainHistory {
  /** The value of every key before the first write; null unless told, false if there is none. */
  initial?: PlainValue | false
  /** SQL: the tables, as docs/sql-history.md describes them. */
  tables?: unknown
  transactions: readonly PlainTransaction[]
}

/** The history as text in the native format; its line n + 2 is transaction n. */
export function renderPlain(input: readonly PlainTransaction[] | PlainHistory): string {
  const { transactions, ...header } = headed(input)
  const lines = [json({ isobar: 1, ...header }, 'input')]
  transactions.forEach((transaction, i) => {
    if (!isObject(transaction)) {
      throw new UsageError(`transactions[${i}] is no transaction`, EXAMPLE)
    }
    const { ops } = transaction
    if (!Array.isArray(ops)) throw new UsageError(`transactions[${i}].ops is no list`, EXAMPLE)
    const named = ops.map((op, j) => nativeOp(op, `transactions[${i}].ops[${j}]`))
    lines.push(json({ ...transaction, ops: named }, `transactions[${i}]`))
  })
  return lines.join('\n')
}

const EXAMPLE = "such as [{ session: 1, ops: [{ r: 'x', v: null }, { w: 'x', v: 1 }] }]"

function headed(input: readonly PlainTransaction[] | PlainHistory): PlainHistory {
  if (Array.isArray(input)) return { transactions: input }
  const given = input as PlainHistory
  if (typeof given === 'object' && given !== null && Array.isArray(given.transactions)) return given
  throw new UsageError(
    'the input is no history',
    `a history is what parseHistory returns, text or bytes of a file, or transactions ${EXAMPLE}`,
  )
}

/** What stands beside the key of each kind of operation. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  r: ['v', 'version'],
  w: ['v', 'version'],
  append: ['v'],
  inc: ['by'],
  add: ['v'],
  set: ['v'],
  range: ['v'],
  cas: ['from', 'to', 'found'],
  insert: ['v', 'found'],
}
/** Statements are read as they are. */
const STATEMENTS = ['select', 'insert', 'update', 'delete', 'refused']

function nativeOp(op: PlainOp, place: string): unknown {
  if (Array.isArray(op)) return op
  if (!isObject(op)) throw new UsageError(`${place} is no operation`, EXAMPLE)
  const given = op as Record<string, unknown>
  // Of a register, an insert has a value; as a statement it has rows.
  const kinds = Object.keys(FIELDS).filter((kind) => kind !== 'insert' || 'v' in given)
  const kind = kinds.find((each) => each in given)
  if (kind === undefined) {
    if (STATEMENTS.some((statement) => statement in given)) return op
    throw new UsageError(
      `${place} is no operation`,
      `there are ${[...kinds, ...STATEMENTS].join(', ')}`,
    )
  }
  const fields = FIELDS[kind]!
  const other = Object.keys(given).find((name) => name !== kind && !fields.includes(name))
  if (other !== undefined) {
    throw new UsageError(`${place}: unknown field ${other}`, hintFor(other, [kind, ...fields]))
  }
  const key = given[kind]
  const keys = kind === 'range' && Array.isArray(key) ? key : [key]
  const isGiven = (name: string) => !OPTIONAL.includes(name) || given[name] !== undefined
  const values = fields.filter(isGiven).map((name) => {
    const value = expectValue(given, name, place)
    return name === 'version' ? { version: value } : value
  })
  return [kind, ...keys, ...values]
}

const OPTIONAL = ['version', 'found']

function expectValue(op: Record<string, unknown>, name: string, place: string): unknown {
  if (op[name] !== undefined) return op[name]
  throw new UsageError(`${place} has no ${name}`, 'an initial state is read as v: null')
}

/** As JSON.stringify, with all digits of bigints. */
function json(value: unknown, place: string): string {
  const digits: string[] = []
  try {
    return write()
  } catch {
    throw new UsageError(`${place} cannot be written down`, 'no object may hold itself')
  }
  function write(): string {
    const text = JSON.stringify(value, function (this: unknown, _, each) {
      if (typeof each === 'number' && !Number.isFinite(each)) return `${MARK}?`
      // JSON.stringify makes null of these in a list, which is the initial state here.
      const isNothing = each === undefined || typeof each === 'function' || typeof each === 'symbol'
      if (isNothing && Array.isArray(this)) return `${MARK}?`
      if (typeof each !== 'bigint') return each
      return `${MARK}${digits.push(String(each)) - 1}`
    })
    return text.replaceAll(MARKED, (_, at) => digits[Number(at)] ?? 'NaN')
  }
}

/** Stands for a bigint until the text is there; no text of a user's has a lone surrogate in it. */
const MARK = '\udc00isobar\udc00'
const MARKED = /"\\udc00isobar\\udc00(\d+|\?)"/g
