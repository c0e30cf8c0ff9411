// Histories as plain objects: what a program has at hand that records its own transactions. They
// become lines of the native format, so that everything said and refused there is said and refused
// here. Main function: renderPlain.

import { UsageError } from '../base/errors.ts'
import type { StatusName } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'

/** A key: an integer or a string; `1` and `"1"` differ. */
export type PlainKey = number | bigint | string
/** A value: an integer, a string, or null for the initial state; every write has one of its own. */
export type PlainValue = number | bigint | string | null

/** A version as the store numbers it: a number, or an LSN such as "16/B374D848". */
export type PlainVersion = number | bigint | string

/** One operation: of a register, a list, a counter, a lightweight one, a range of keys, or as the
 * native format has it. `found` is false if an operation failed without saying what it found. */
export type PlainOp =
  | { r: PlainKey; v: PlainValue | readonly PlainValue[]; version?: PlainVersion }
  | { w: PlainKey; v: PlainValue; version?: PlainVersion }
  | { append: PlainKey; v: PlainValue }
  | { inc: PlainKey; by: number }
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
  const lines = [json({ isobar: 1, ...header })]
  transactions.forEach((transaction, i) => {
    if (typeof transaction !== 'object' || transaction === null) {
      throw new UsageError(`transactions[${i}] is no transaction`, EXAMPLE)
    }
    const { ops } = transaction
    if (!Array.isArray(ops)) throw new UsageError(`transactions[${i}].ops is no list`, EXAMPLE)
    const named = ops.map((op, j) => nativeOp(op, `transactions[${i}].ops[${j}]`))
    lines.push(json({ ...transaction, ops: named }))
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

function nativeOp(op: PlainOp, place: string): unknown {
  if (Array.isArray(op)) return op
  if (typeof op !== 'object' || op === null)
    throw new UsageError(`${place} is no operation`, EXAMPLE)
  const given = op as Record<string, unknown>
  const found = 'found' in given ? [given['found']] : []
  const { version } = given
  const versioned = version === undefined ? [] : [{ version }]
  if ('r' in given) return ['r', given['r'], expectValue(given, 'v', place), ...versioned]
  if ('w' in given) return ['w', given['w'], expectValue(given, 'v', place), ...versioned]
  if ('append' in given) return ['append', given['append'], expectValue(given, 'v', place)]
  if ('inc' in given) return ['inc', given['inc'], expectValue(given, 'by', place)]
  if ('range' in given) {
    const ends = Array.isArray(given['range']) ? given['range'] : [given['range']]
    return ['range', ...ends, expectValue(given, 'v', place)]
  }
  if ('cas' in given) {
    const [from, to] = [expectValue(given, 'from', place), expectValue(given, 'to', place)]
    return ['cas', given['cas'], from, to, ...found]
  }
  if ('insert' in given && 'v' in given) return ['insert', given['insert'], given['v'], ...found]
  return op // a SQL statement, or what the parser refuses
}

function expectValue(op: Record<string, unknown>, name: string, place: string): unknown {
  if (op[name] !== undefined) return op[name]
  throw new UsageError(`${place} has no ${name}`, 'an initial state is read as v: null')
}

/** As JSON.stringify, with all digits of bigints. */
function json(value: unknown): string {
  const digits: string[] = []
  const text = JSON.stringify(value, (_, each) => {
    if (typeof each === 'number' && !Number.isFinite(each)) return `${MARK}?`
    if (typeof each !== 'bigint') return each
    return `${MARK}${digits.push(String(each)) - 1}`
  })
  return text.replaceAll(MARKED, (_, at) => digits[Number(at)] ?? 'NaN')
}

/** Stands for a bigint until the text is there; no text of a user's has a lone surrogate in it. */
const MARK = '\udc00isobar\udc00'
const MARKED = /"\\udc00isobar\\udc00(\d+|\?)"/g
