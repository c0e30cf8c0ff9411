// Small histories of SQL statements: a table of ids that is empty at first, SELECTs of all of it,
// INSERTs of a row, and DELETEs of a row that is there. Main function: statementHistories.

import { HistoryBuilder } from '../../history/builder.ts'
import { COMMITTED, type History, NONE } from '../../history/history.ts'
import { DELETE, EVERY_ROW, INSERT, SELECT, type SqlTable } from '../../history/sql-events.ts'
import { SqlStatements } from '../../history/sql-statements.ts'
import { choices } from './choices.ts'
import { KEYS, type Skeleton } from './skeletons.ts'

const TABLE: SqlTable = {
  name: 't',
  columns: [{ name: 'id', type: 'integer' }],
  keyColumns: [0],
}
const KINDS = [SELECT, INSERT, DELETE]

/** A statement in its place. */
interface Placed {
  readonly txn: number
  readonly kind: number
  readonly key: number
  readonly write: string
}

/** What a statement saw of a row: the write that made it, null if it was not there. */
type Seen = string | null

export function* statementHistories({ txns, sessions }: Skeleton): Generator<History> {
  let writeCount = 0
  const placed: Placed[] = txns.flatMap((codes, txn) =>
    codes.map((code) => {
      const kind = KINDS[Math.floor(code / KEYS)]!
      const write = kind === SELECT ? '' : `w${++writeCount}`
      return { txn, kind, key: code % KEYS, write }
    }),
  )
  const keyCount = 1 + Math.max(-1, ...placed.map(({ kind, key }) => (kind === SELECT ? -1 : key)))
  const inserted = Array.from({ length: keyCount }, (_, row) =>
    placed.flatMap(({ kind, key, write }) => (kind === INSERT && key === row ? [write] : [])),
  )
  // What each statement saw of each row that it looks for.
  const looks = placed.flatMap(({ kind, key }, at) => {
    if (kind === SELECT)
      return inserted.map((writes, row) => ({ at, row, seen: [null, ...writes] }))
    return kind === DELETE ? [{ at, row: key, seen: inserted[key] as Seen[] }] : []
  })
  for (const chosen of choices(looks.map(({ seen }) => seen.length))) {
    const rowsAt = placed.map((): { row: number; from: string }[] => [])
    for (const [i, { at, row, seen }] of looks.entries()) {
      const from = seen[chosen[i]!] ?? null
      if (from !== null) rowsAt[at]!.push({ row, from })
    }
    yield build(placed, rowsAt, sessions)
  }
}

function build(
  placed: readonly Placed[],
  rowsAt: readonly (readonly { row: number; from: string }[])[],
  sessions: readonly number[],
): History {
  const builder = new HistoryBuilder(null, 16)
  const statements = new SqlStatements(builder)
  const table = statements.addTable(TABLE)
  for (const [session, count] of sessions.entries()) {
    const name = builder.session(session + 1)
    for (let i = 0; i < count; i++) builder.addTxn(name, COMMITTED)
  }
  for (const [at, { txn, kind, key, write }] of placed.entries()) {
    const id = BigInt(key + 1)
    const clause = kind === DELETE ? `id = ${id}` : EVERY_ROW
    statements.begin(txn, kind, table, kind === INSERT ? NONE : statements.predicate(table, clause))
    for (const { row, from } of rowsAt[at]!) statements.readRow([BigInt(row + 1)], from)
    if (kind === SELECT) continue
    statements.nameWrite(write)
    statements.writeRow([id], write, kind === DELETE ? null : [id])
  }
  return builder.finish()
}
