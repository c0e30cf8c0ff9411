// Reads a verdict back from JSON. Reports draw what they are given, so a file that is damaged, of
// another kind or of a later version is turned away here with the place that is wrong. Integers
// beyond 2^53 come back exactly. Main function: parseVerdicts.

import { InputError } from '../base/errors.ts'
import { endOfQuoted } from '../base/inert.ts'
import { STATUS_NAMES } from '../history/history.ts'
import { STATEMENT_NAMES } from '../history/sql-events.ts'
import { LEVELS } from '../levels/levels.ts'
import { SQL_TYPES } from '../sql/value.ts'
import { JSON_VERSION, type VerdictJson } from './verdict-json.ts'

/** A verdict, and the line of the file it stands on. */
export interface FoundVerdict {
  line: number
  verdict: VerdictJson
}

const HINT = 'isobar check HISTORY --json > verdict.json writes one'

/** The verdicts in a text that `check --json` wrote: one a line, or one over all lines. */
export function parseVerdicts(text: string): FoundVerdict[] {
  const whole = text.trim()
  if (whole === '') throw new InputError('not-a-verdict', 'the file is empty', null, HINT)
  const found: FoundVerdict[] = []
  const lines = whole.startsWith('{') && !isObjectPerLine(whole) ? [text] : text.split('\n')
  lines.forEach((line, i) => {
    if (line.trim() === '') return
    const verdict = readVerdict(line, i + 1)
    if (verdict) found.push({ line: i + 1, verdict })
  })
  if (found.length === 0) {
    throw new InputError('not-a-verdict', 'the file holds no verdict of a history', null, HINT)
  }
  return found
}

/** Told by the first line: a whole object on it means that every line holds one. */
function isObjectPerLine(text: string): boolean {
  const end = text.indexOf('\n')
  return end < 0 || text.slice(0, end).trimEnd().endsWith('}')
}

/** The verdict on one line; null for the closing line about a directory. */
function readVerdict(text: string, line: number): VerdictJson | null {
  const fail = (message: string, hint: string | null = HINT): never => {
    throw new InputError('not-a-verdict', message, { line, column: 1 }, hint)
  }
  let value: unknown
  try {
    value = parseExact(text)
  } catch {
    return fail('this is not JSON, or it is cut short')
  }
  if (!isObject(value) || !('isobar' in value)) return fail('this is not a verdict of isobar')
  if (value['isobar'] !== JSON_VERSION) {
    const hint = `this isobar reads version ${JSON_VERSION}`
    return fail(`this verdict has version ${describe(value['isobar'])}`, hint)
  }
  if ('summary' in value) return null
  if (isObject(value['error'])) {
    return fail(
      `no verdict: the history was bad input: ${describe(value['error']['message'])}`,
      null,
    )
  }
  if ('taps' in value) return fail('this judges patterns, not levels', 'use check without --tap')
  if ('ops' in value || !('results' in value)) return fail('this is not a verdict of isobar')
  const problem = findProblem(value, VERDICT, '')
  return problem === null ? (value as unknown as VerdictJson) : fail(`damaged verdict: ${problem}`)
}

/** JSON.parse that keeps integers beyond 2^53, as bigints. */
function parseExact(text: string): unknown {
  const plain = JSON.parse(text) // so that what follows meets only JSON
  const large = findLargeIntegers(text)
  if (large.length === 0) return plain
  // Integers are marked by more controls than any string of the text begins with.
  let mark = '\\u0001'
  while (text.includes(`"${mark}`)) mark += '\\u0001'
  let marked = ''
  let done = 0
  for (const [from, to] of large) {
    marked += `${text.slice(done, from)}"${mark}${text.slice(from, to)}"`
    done = to
  }
  const controls = mark.length / 6
  return JSON.parse(marked + text.slice(done), (_name, value) => {
    if (typeof value !== 'string' || !value.startsWith('\u0001'.repeat(controls))) return value
    const exact = BigInt(value.slice(controls))
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
  })
}

/** Where JSON has integers of 16 digits and more. */
function findLargeIntegers(text: string): [from: number, to: number][] {
  const found: [number, number][] = []
  const token = /"|-?\d{16,}(?![\d.eE])/g
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === '"') token.lastIndex = endOfQuoted(text, match.index)
    else if (!/[\d.eE+-]/.test(text.charAt(match.index - 1)))
      found.push([match.index, token.lastIndex])
  }
  return found
}

/** What a value must be: a test with a name, a list, something or null, or an object. */
type Shape =
  | { is: (value: unknown) => boolean; what: string }
  | { list: () => Shape }
  | { either: Shape } // or null
  | { fields: Record<string, Shape>; optional?: Record<string, Shape> }

const TEXT: Shape = { is: (v) => typeof v === 'string', what: 'a string' }
const COUNT: Shape = { is: (v) => Number.isSafeInteger(v) && (v as number) >= 0, what: 'a count' }
const MAYBE_COUNT: Shape = { is: (v) => v === null || Number.isSafeInteger(v), what: 'a count' }
const NUMBER: Shape = { is: (v) => typeof v === 'number', what: 'a number' }
const FLAG: Shape = { is: (v) => typeof v === 'boolean', what: 'true or false' }
const MAYBE_TEXT: Shape = { is: (v) => v === null || typeof v === 'string', what: 'a string' }
const VALUE: Shape = { is: isValue, what: 'an integer, a string or null' }
const INITIAL: Shape = { is: (v) => v === false || isValue(v), what: 'a value or false' }
const OP: Shape = { is: isOp, what: 'an operation' }
const LEVEL: Shape = { is: isLevel, what: 'a level' }
const MAYBE_LEVEL: Shape = { is: (v) => v === null || isLevel(v), what: 'a level or null' }
const ASKED: Shape = {
  is: (v) => v === null || (Array.isArray(v) && v.every(isLevel)),
  what: 'a list of levels or null',
}
const STATUS: Shape = oneOf(STATUS_NAMES)
const KIND: Shape = oneOf(['SO', 'WR', 'WW', 'RW', 'RT', 'CO'])
const OUTCOME: Shape = oneOf(['satisfied', 'violated', 'unknown'])
const STAGES: Shape = {
  is: (v) => isObject(v) && Object.values(v).every((ms) => typeof ms === 'number'),
  what: 'an object of numbers',
}
const CERTIFICATE: Shape = {
  is: (v) =>
    v === null ||
    (isObject(v) && typeof v['verified'] === 'boolean' && typeof v['kind'] === 'string'),
  what: 'a certificate or null',
}

const PLACE: Shape = { fields: { transaction: TEXT, index: COUNT, op: OP } }
const CELL: Shape = { is: isCell, what: 'an integer, a string, true, false or null' }
const ROW: Shape = {
  is: (v) => isObject(v) && Object.values(v).every(isCell),
  what: 'a row',
}
const CELLS: Shape = { list: () => CELL }
const STATEMENT_ROW: Shape = { fields: { key: CELLS }, optional: { from: VALUE, row: ROW } }
const STATEMENT: Shape = {
  fields: {
    text: TEXT,
    result: TEXT,
    first: COUNT,
    count: COUNT,
    kind: oneOf(STATEMENT_NAMES),
    table: TEXT,
    rows: { list: () => STATEMENT_ROW },
  },
  optional: { where: TEXT, params: CELLS, write: VALUE, unread: { list: () => STATEMENT_ROW } },
}
const TABLE: Shape = {
  fields: {
    name: TEXT,
    columns: { list: () => ({ fields: { name: TEXT, type: oneOf(SQL_TYPES) } }) },
    key: { list: () => TEXT },
    rows: { list: () => ROW },
    shared: { list: () => TEXT },
  },
}
const PASSED: Shape = {
  fields: {
    transaction: TEXT,
    statement: COUNT,
    text: TEXT,
    level: MAYBE_TEXT,
    key: VALUE,
    row: { either: ROW },
    held: TEXT,
  },
}
const WITNESS: Shape = {
  fields: { passedOver: COUNT, statements: COUNT },
  optional: { rows: { list: () => PASSED } },
}
const EDGE: Shape = {
  fields: {
    from: MAYBE_TEXT,
    to: MAYBE_TEXT,
    kind: KIND,
    key: VALUE,
    ops: { list: () => PLACE },
    because: TEXT,
    premises: { list: () => EDGE },
  },
  optional: { refutes: FLAG, assumed: FLAG, passed: PASSED },
}
const CASE: Shape = {
  fields: { heading: TEXT, assumptions: { list: () => EDGE }, cycle: { list: () => EDGE } },
}
const TXN: Shape = {
  fields: { session: VALUE, id: TEXT, status: STATUS, ops: { list: () => OP } },
  optional: {
    start: NUMBER,
    finish: NUMBER,
    level: TEXT,
    audit: FLAG,
    after: { list: () => TEXT },
    earlier: FLAG,
    observed: FLAG,
    rolledBack: FLAG,
    statements: { list: () => STATEMENT },
  },
}
const ANOMALY: Shape = {
  fields: {
    name: TEXT,
    tap: MAYBE_TEXT,
    adya: MAYBE_TEXT,
    meaning: MAYBE_TEXT,
    count: COUNT,
    transactions: { list: () => TEXT },
    story: MAYBE_TEXT,
    ops: { list: () => PLACE },
    core: { list: () => TXN },
    edges: { list: () => EDGE },
    cases: { list: () => CASE },
  },
  optional: { tables: { list: () => TABLE }, absence: PASSED },
}
const RESULT: Shape = {
  fields: {
    level: LEVEL,
    verdict: OUTCOME,
    reason: MAYBE_TEXT,
    impliedBy: MAYBE_LEVEL,
    algorithm: TEXT,
    elapsedMs: NUMBER,
    stages: STAGES,
    anomalies: { list: () => ANOMALY },
    position: MAYBE_COUNT,
    certificate: CERTIFICATE,
  },
  optional: { sessionOrder: FLAG, abortedReads: TEXT, witness: WITNESS },
}
const RECORD: Shape = { is: isObject, what: 'an object' }
const MAYBE_NUMBERS: Shape = {
  is: (v) => Array.isArray(v) && v.every((part) => part === null || typeof part === 'number'),
  what: 'a list of numbers',
}
const TIMELINE: Shape = {
  fields: {
    partUs: NUMBER,
    committed: MAYBE_NUMBERS,
    aborted: MAYBE_NUMBERS,
    indeterminate: MAYBE_NUMBERS,
    medianUs: MAYBE_NUMBERS,
    p99Us: MAYBE_NUMBERS,
  },
}
const RUN: Shape = {
  fields: {
    database: { fields: { name: TEXT, place: TEXT } },
    level: { fields: { asked: TEXT, granted: TEXT } },
    workload: RECORD,
    faults: RECORD,
    transactions: {
      fields: {
        recorded: COUNT,
        committed: COUNT,
        aborted: COUNT,
        indeterminate: COUNT,
        failures: STAGES,
      },
    },
    throughput: { fields: { perSecond: NUMBER, commitsPerSecond: NUMBER } },
    time: { fields: { runMs: NUMBER, generationShare: NUMBER, verificationShare: NUMBER } },
    command: MAYBE_TEXT,
    timeline: { either: TIMELINE },
  },
}
const COUNTS = ['sessions', 'transactions', 'committed', 'aborted', 'indeterminate', 'operations']
const VERDICT: Shape = {
  fields: {
    path: TEXT,
    format: TEXT,
    asked: ASKED,
    command: MAYBE_TEXT,
    history: { fields: Object.fromEntries([...COUNTS, 'keys'].map((name) => [name, COUNT])) },
    initial: INITIAL,
    warnings: { list: () => TEXT },
    results: { list: () => RESULT },
    strongest: MAYBE_LEVEL,
    weakestViolated: MAYBE_LEVEL,
  },
  optional: { run: RUN },
}

/**
 * Where the value is not what it must be; null if it is. Nothing recurses: files may be hostile.
 */
function findProblem(root: unknown, rootShape: Shape, rootPath: string): string | null {
  const pending: [value: unknown, shape: Shape, path: string][] = [[root, rootShape, rootPath]]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [value, shape, path] = next
    if ('is' in shape) {
      if (!shape.is(value)) return `${path} is ${describe(value)}, not ${shape.what}`
    } else if ('either' in shape) {
      if (value !== null) pending.push([value, shape.either, path])
    } else if ('list' in shape) {
      if (!Array.isArray(value)) return `${path} is ${describe(value)}, not a list`
      for (const [i, item] of value.entries()) pending.push([item, shape.list(), `${path}[${i}]`])
    } else {
      if (!isObject(value)) return `${path || 'it'} is ${describe(value)}, not an object`
      const inside = (name: string) => (path ? `${path}.${name}` : name)
      for (const [name, field] of Object.entries(shape.fields)) {
        if (!Object.hasOwn(value, name)) return `${inside(name)} is missing`
        pending.push([value[name], field, inside(name)])
      }
      for (const [name, field] of Object.entries(shape.optional ?? {})) {
        if (Object.hasOwn(value, name)) pending.push([value[name], field, inside(name)])
      }
    }
  }
  return null
}

function oneOf(names: readonly string[]): Shape {
  return { is: (v) => typeof v === 'string' && names.includes(v), what: names.join(' or ') }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isValue(value: unknown): boolean {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    Number.isSafeInteger(value)
  )
}

function isCell(value: unknown): boolean {
  return typeof value === 'boolean' || isValue(value)
}

function isOp(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [verb, key, what] = value
  if (!['r', 'w', 'append', 'rows'].includes(verb) || key === null || !isValue(key)) return false
  if (verb === 'rows') return Array.isArray(what) && isRows(what)
  return isValue(what) || (verb === 'r' && Array.isArray(what) && what.every(isValue))
}

/** What each row of a key held: all values, or all lists. */
function isRows(rows: readonly unknown[]): boolean {
  const isList = (row: unknown) => Array.isArray(row) && row.every(isValue)
  return rows.every(isValue) || rows.every(isList)
}

function isLevel(value: unknown): boolean {
  return LEVELS.some((level) => level.id === value)
}

function describe(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
