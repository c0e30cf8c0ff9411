// Transactions with SQL statements in plain lines, a statement a line:
//
//   initially orders(1) = (1,'open')
//   s1: T1 (ran at ser)
//     SELECT orders WHERE status = 'open' -> orders(1)@initial
//     INSERT orders -> orders(5)@w7 = (5,'open')
//
// Main function: tellTxns.

import { cut, inert } from '../base/inert.ts'
import { renderValue } from '../history/render-value.ts'
import type { CellJson, OpJson, TableJson, TxnJson } from '../verdict/verdict-file.ts'
import { laneName, plain } from './names.ts'

const MAX_ROWS = 8 // initial rows that are shown
const MAX_LENGTH = 400 // characters of a statement with its result

/** @param tables those of the transactions, with their initial rows */
export function tellTxns(txns: readonly TxnJson[], tables: readonly TableJson[]): string[] {
  const rows = tables.flatMap((table) =>
    table.rows.map((row) => {
      const cells = (columns: readonly string[]) => columns.map((name) => cellText(row[name]!))
      const all = table.columns.map(({ name }) => name)
      return cut(inert(`${table.name}(${cells(table.key)}) = (${cells(all)})`), MAX_LENGTH)
    }),
  )
  const left = rows.length - MAX_ROWS
  if (left > 0) rows.splice(MAX_ROWS, left, `and ${left} more rows`)
  return [
    ...(rows.length > 0 ? [`initially ${rows.join(', ')}`] : []),
    ...txns.flatMap((txn) => [headTxn(txn), ...tellSteps(txn).map((step) => `  ${step}`)]),
  ]
}

function headTxn(txn: TxnJson): string {
  const { session, id, status, rolledBack, level, audit, start, finish } = txn
  const notes: string[] = []
  if (level !== undefined) notes.push(`ran at ${level}`)
  if (status !== 'committed') notes.push(rolledBack ? 'rolled back' : status)
  if (audit) notes.push('audit')
  if (start !== undefined) notes.push(`start ${start}`)
  if (finish !== undefined) notes.push(`finish ${finish}`)
  return `${laneName(session)}: ${plain(id)}${notes.length > 0 ? ` (${inert(notes.join(', '))})` : ''}`
}

/** Statements and operations on registers, in program order. */
function tellSteps({ ops, statements = [] }: TxnJson): string[] {
  const steps: string[] = []
  let op = 0
  const addOps = (end: number) => {
    while (op < Math.min(end, ops.length)) steps.push(opText(ops[op++]!))
  }
  for (const { text, result, first, count } of statements) {
    addOps(first)
    steps.push(cut(inert(`${text} -> ${result}`), MAX_LENGTH))
    op = Math.max(op, first + count)
  }
  addOps(ops.length)
  return steps
}

function opText([verb, key, value, version]: OpJson): string {
  const at = version === undefined ? '' : `@${version}`
  return `${verb}(${renderValue(key)},${valueText(value)})${at}`
}

function valueText(value: OpJson[2]): string {
  return Array.isArray(value) ? `[${value.map(valueText).join(',')}]` : renderValue(value)
}

/** As SQL writes it. */
export function cellText(cell: CellJson): string {
  if (cell === null) return 'NULL'
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
  return typeof cell === 'string' ? `'${cell.replaceAll("'", "''")}'` : String(cell)
}
