// Small SQL histories as data, and in a notation that a test can hold and a failure can print:
//
//   init: x=0 y=1 z=-
//   s1: [ser] select(v >= 1) y@0 !x@w4 ; update(v = 1) as w2 y@0=5 | [rc] delete(true) as w3
//   s2: [si indeterminate] insert as w4 x=null z=2 | [ser audit] select(true) x@w4
//
// A transaction is committed, indeterminate, aborted by the database, or rolled-back by itself.
// A row is named by a letter, its primary key; small letters are rows of table t, capitals of table
// u. Both tables have the columns id (text) and v (integer). In `init` a row gets its first value,
// `-` if it is absent. `y@0` is a row that the statement returned or touched, in its initial
// version, `y@w2` in that of write w2 (both at once: two rows under one key); `!x@w4` one that it passed over and whose version is named
// all the same; `=5` is what it wrote; `refused x@w4` is an insert that failed, because x was there. Main functions: parseSql, renderSql, historyOfSql.

import { HistoryBuilder, statusOf } from '../../src/history/builder.ts'
import type { History, Omissions, StatusName } from '../../src/history/history.ts'
import { STATEMENT_NAMES } from '../../src/history/sql-events.ts'
import { SqlStatements } from '../../src/history/sql-statements.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import type { SqlRow } from '../../src/sql/value.ts'

export const SQL_LEVELS = ['rc', 'ra', 'cc', 'pc', 'si', 'ser'] as const
export type SqlLevel = (typeof SQL_LEVELS)[number]

/** What a row holds in its column v; undefined if the row is absent or deleted. */
export type Cell = number | null | undefined

export interface SqlDraftRow {
  readonly name: string
  readonly from?: string // id of the write that made the version seen, '0' for the initial one
  readonly cell?: Cell // what was written
}

export interface SqlDraftEvent {
  readonly kind: (typeof STATEMENT_NAMES)[number]
  readonly where: string // '' for an insert, refused or not
  readonly write: string | null // id of the write; null for a select, and one refused
  readonly capital: boolean // of table u
  readonly rows: readonly SqlDraftRow[]
  readonly passed: readonly SqlDraftRow[] // passed over, with their versions named
}

export interface SqlDraftTxn {
  readonly status: StatusName | 'rolled-back'
  readonly level: SqlLevel
  readonly audit?: true
  readonly events: readonly SqlDraftEvent[]
}

export interface SqlDraft {
  readonly initial: ReadonlyMap<string, Cell>
  readonly sessions: readonly (readonly SqlDraftTxn[])[]
}

/** @param partial what is left out of the draft */
export function historyOfSql(draft: SqlDraft, partial: Omissions | null = null): History {
  const builder = new HistoryBuilder(null, 64)
  builder.partial = partial
  const statements = new SqlStatements(builder)
  const columns = [
    { name: 'id', type: 'text' },
    { name: 'v', type: 'integer' },
  ] as const
  for (const name of ['t', 'u']) statements.addTable({ name, columns, keyColumns: [0] })
  for (const [name, cell] of draft.initial) {
    if (cell !== undefined) statements.addInitialRow(isCapital(name) ? 1 : 0, rowOf(name, cell))
  }
  draft.sessions.forEach((txns, session) => {
    for (const txn of txns) {
      const isRolledBack = txn.status === 'rolled-back'
      const status = statusOf(txn.status === 'rolled-back' ? 'aborted' : txn.status)
      const id = builder.addTxn(builder.session(session + 1), status)
      if (isRolledBack) statements.rollBack(id)
      builder.setLevel(
        id,
        LEVELS.findIndex((level) => level.id === txn.level),
      )
      if (txn.audit) builder.setAudit(id)
      for (const event of txn.events) addEvent(statements, id, event)
    }
  })
  return builder.finish()
}

function addEvent(statements: SqlStatements, txn: number, event: SqlDraftEvent): void {
  const table = event.capital ? 1 : 0
  const keys = event.rows.map(({ name }) => [name])
  const predicate =
    event.kind === 'insert'
      ? undefined
      : event.kind === 'refused'
        ? statements.predicateOfKeys(table, keys)
        : statements.predicate(table, event.where)
  statements.begin(txn, STATEMENT_NAMES.indexOf(event.kind), table, predicate)
  if (event.write !== null) statements.nameWrite(event.write)
  if (event.kind !== 'insert') {
    for (const row of event.rows) statements.readRow([row.name], versionOf(row))
    for (const row of event.passed) statements.readRow([row.name], versionOf(row), false)
  }
  if (event.write === null) return
  for (const row of event.rows) {
    const written = event.kind === 'delete' ? null : rowOf(row.name, row.cell ?? null)
    statements.writeRow([row.name], event.write, written)
  }
}

function versionOf(row: SqlDraftRow): string | null {
  return row.from === '0' ? null : row.from!
}

function rowOf(name: string, cell: Cell): SqlRow {
  return [name, typeof cell === 'number' ? BigInt(cell) : null]
}

export function isCapital(name: string): boolean {
  return name < 'a'
}

export function renderSql(draft: SqlDraft): string {
  const rows = Array.from(draft.initial, ([name, cell]) => `${name}=${cell ?? cellWord(cell)}`)
  const lines = [`init: ${rows.join(' ')}`]
  draft.sessions.forEach((txns, session) => {
    lines.push(`s${session + 1}: ${txns.map(renderTxn).join(' | ')}`)
  })
  return lines.join('\n')
}

function cellWord(cell: Cell): string {
  return cell === undefined ? '-' : 'null'
}

function renderTxn(txn: SqlDraftTxn): string {
  const status = txn.status === 'committed' ? '' : ` ${txn.status}`
  return `[${txn.level}${status}${txn.audit ? ' audit' : ''}] ${txn.events.map(renderEvent).join(' ; ')}`
}

function renderEvent(event: SqlDraftEvent): string {
  const { kind } = event
  const isInsert = kind === 'insert' || kind === 'refused'
  const parts: string[] = [isInsert ? kind : `${kind}(${event.where})`]
  if (event.capital) parts.push('of u')
  if (event.write !== null) parts.push(`as ${event.write}`)
  for (const row of event.rows) parts.push(renderRow(row, event.kind))
  for (const row of event.passed) parts.push(`!${row.name}@${row.from}`)
  return parts.join(' ')
}

function renderRow(row: SqlDraftRow, kind: string): string {
  const seen = kind === 'insert' ? '' : `@${row.from}`
  const written = kind === 'insert' || kind === 'update' ? `=${row.cell ?? 'null'}` : ''
  return `${row.name}${seen}${written}`
}

export function parseSql(text: string): SqlDraft {
  const [first, ...rest] = text
    .trim()
    .split('\n')
    .map((line) => line.slice(line.indexOf(':') + 1).trim())
  const initial = new Map<string, Cell>()
  for (const word of words(first!)) {
    const [name, cell] = word.split('=') as [string, string]
    initial.set(name, parseCell(cell))
  }
  return { initial, sessions: rest.map((line) => line.split(' | ').map(parseTxn)) }
}

function parseTxn(text: string): SqlDraftTxn {
  const [, head, body] = /^\s*\[([^\]]*)\](.*)$/.exec(text)!
  const [level, ...rest] = words(head!)
  const status = rest.find((word) => word !== 'audit')
  return {
    level: level as SqlLevel,
    status: (status ?? 'committed') as SqlDraftTxn['status'],
    ...(rest.includes('audit') ? { audit: true as const } : {}),
    events: body!
      .split(';')
      .filter((part) => part.trim() !== '')
      .map(parseEvent),
  }
}

function parseEvent(text: string): SqlDraftEvent {
  const pattern =
    /^\s*(\w+)(?:\((.*)\))?(?:\s+of (u))?(?:\s+as (\w+))?((?:\s+!?\w(?:@\w+)?(?:=\S+)?)*)\s*$/
  const [, kind, where, table, write, list] = pattern.exec(text)!
  const rows = words(list ?? '')
  return {
    kind: kind as SqlDraftEvent['kind'],
    where: where ?? '',
    write: write ?? null,
    capital: table === 'u',
    rows: rows.filter((row) => !row.startsWith('!')).map(parseRow),
    passed: rows.filter((row) => row.startsWith('!')).map(parseRow),
  }
}

function parseRow(text: string): SqlDraftRow {
  const [, name, from, cell] = /^!?(\w)(?:@(\w+))?(?:=(\S+))?$/.exec(text)!
  return {
    name: name!,
    ...(from === undefined ? {} : { from }),
    ...(cell === undefined ? {} : { cell: parseCell(cell) }),
  }
}

function parseCell(text: string): Cell {
  if (text === '-') return undefined
  return text === 'null' ? null : Number(text)
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
