// The texts of a figure: operations and statements as pictures have room for them, and the labels
// of arrows. Main functions: describeOps, labelOf.

import { cut, inert } from '../../base/inert.ts'
import { renderValue } from '../../history/render-value.ts'
import type { Value } from '../../history/values.ts'
import type {
  EdgeJson,
  OpJson,
  StatementJson,
  StatementRowJson,
  TxnJson,
} from '../../verdict/verdict-file.ts'
import { cutList } from '../cut-list.ts'
import { keyWord } from '../names.ts'
import { cellText } from '../txn-text.ts'

export interface FigureOp {
  text: string
  /** A second line: what came of a statement. */
  result?: string
  /** The whole of it, where that is more. */
  title?: string
  isWrite: boolean
}

/** What a transaction did, line by line; a statement is one line, whatever it did to rows. */
export interface FigureOps {
  ops: FigureOp[]
  /** operation -> its line */
  lineOfOp: number[]
  /** statement -> its line */
  lineOfStatement: number[]
}

const MAX_PART = 18 // characters of a key or value
const MAX_LIST = 22
const MAX_ROW = 26 // of the name of a row
const MAX_STATEMENT = 44
const MAX_RESULT = 30
const ONE_LINE = 34 // characters of a statement with its result that need no second line

export const short = (text: string) => cut(text, MAX_PART)

/** key -> the values of it that the evidence speaks of. */
export type SpokenOf = ReadonlyMap<Value, ReadonlySet<Value>>

/** @param spokenOf what the evidence speaks of comes first where there is little room */
export function describeOps(txn: TxnJson, spokenOf: SpokenOf): FigureOps {
  const ops: FigureOp[] = []
  const lineOfOp: number[] = []
  const lineOfStatement: number[] = []
  const statements = txn.statements ?? []
  for (let op = 0; op < txn.ops.length || lineOfStatement.length < statements.length; ) {
    const statement = statements[lineOfStatement.length]
    const isNext = statement !== undefined && (statement.first <= op || op >= txn.ops.length)
    if (isNext) {
      lineOfStatement.push(ops.length)
      const end = Math.min(op + statement.count, txn.ops.length)
      while (op < end) lineOfOp[op++] = ops.length
      ops.push(describeStatement(statement, spokenOf))
    } else {
      lineOfOp[op] = ops.length
      ops.push({ text: textOf(txn.ops[op]!, spokenOf), isWrite: isWrite(txn.ops[op]!) })
      op++
    }
  }
  return { ops, lineOfOp, lineOfStatement }
}

/** `SELECT orders WHERE status = 'open' → (1)@w3`: rows without their table, which is there. */
function describeStatement(statement: StatementJson, spokenOf: SpokenOf): FigureOp {
  const { text, result, kind, table, write, rows } = statement
  const reads = kind === 'select' || kind === 'refused'
  const matters = ({ key }: StatementRowJson) => spokenOf.has(`${table}(${key.map(cellText)})`)
  const ordered = [...rows.filter(matters), ...rows.filter((row) => !matters(row))]
  const names = ordered.map(({ key, from }) => {
    const name = `(${key.map((part) => inert(String(part))).join(',')})`
    const version = reads ? (from ?? null) : (write ?? null)
    return version === null ? name : `${name}@${inert(String(version))}`
  })
  const came = names.length === 0 ? 'no rows' : listNames(names)
  const isWrite = !reads
  const words = cut(inert(text), MAX_STATEMENT)
  const line = `${words} → ${came}`
  const lines = line.length <= ONE_LINE ? { text: line } : { text: words, result: `→ ${came}` }
  return { ...lines, title: inert(`${text} -> ${result}`), isWrite }
}

/** As many as there is room for, and how many more there are. */
function listNames(names: readonly string[]): string {
  let count = 0
  let length = 0
  while (count < names.length && length + names[count]!.length <= MAX_RESULT) {
    length += names[count++]!.length + 1
  }
  if (count === 0) return names.length === 1 ? short(names[0]!) : `${names.length} rows`
  const left = names.length - count
  return `${names.slice(0, count).join(' ')}${left > 0 ? ` and ${left} more` : ''}`
}

export function isWrite([verb]: OpJson): boolean {
  return verb === 'w' || verb === 'append'
}

function textOf([verb, key, value]: OpJson, spokenOf: SpokenOf): string {
  return `${verb}(${short(keyWord(key))},${valueText([verb, key, value], spokenOf)})`
}

function listText(values: readonly (Value | Value[])[], spokenOf?: ReadonlySet<Value>): string {
  if (values.length === 0) return '[]'
  const textOf = (at: number) => {
    const value = values[at]!
    return Array.isArray(value) ? listText(value, spokenOf) : short(renderValue(value))
  }
  const matters: number[] = []
  values.forEach((value, at) => {
    if (!Array.isArray(value) && spokenOf?.has(value)) matters.push(at)
  })
  return `[${cutList(values.length, textOf, matters, MAX_LIST).join(',')}]`
}

/**
 * `wr x=1`, `rw x: 0→2`: the kind, the key, and the values that make it. Of rows the versions:
 * `wr orders(1)@w3`, `rw orders(1): initial→w2`.
 * @param ops the operations that make it
 * @param rows names of rows
 */
export function labelOf(edge: EdgeJson, ops: readonly OpJson[], rows: ReadonlySet<Value>): string {
  const kind = edge.kind.toLowerCase()
  if (edge.key === null) return kind
  const isRow = rows.has(edge.key)
  const key = isRow ? cut(inert(String(edge.key)), MAX_ROW) : short(keyWord(edge.key))
  if (edge.passed) return `${kind} ${key} not returned`
  // A version of a row is told by the write that made it.
  const version = ({ 2: write }: OpJson) =>
    write === null ? 'initial' : short(inert(String(write)))
  const show = (op: OpJson) => (isRow ? version(op) : valueText(op))
  const values = ops.map(show)
  const writes = ops.filter(isWrite).map(show)
  if (edge.kind === 'WR') return `${kind} ${key}${isRow ? '@' : '='}${values.at(-1) ?? '?'}`
  if (edge.kind === 'RW' && edge.premises[0]?.passed) return `${kind} ${key}: unseen ${writes[0]}`
  if (edge.kind === 'RW' && values.length === 2) return `${kind} ${key}: ${values.join('→')}`
  if (edge.kind === 'WW') {
    const from = edge.from === null ? 'initial' : writes[0]
    const to = edge.from === null ? writes[0] : writes[1]
    if (from !== undefined && to !== undefined) return `${kind} ${key}: ${from}→${to}`
  }
  return `${kind} ${key}`
}

function valueText([, key, value]: OpJson, spokenOf?: SpokenOf): string {
  return Array.isArray(value) ? listText(value, spokenOf?.get(key)) : short(renderValue(value))
}
