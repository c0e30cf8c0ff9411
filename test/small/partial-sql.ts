// Parts of SQL histories as a recorder leaves them that did not get to know some statements: what
// they read is missing, and what they wrote, so that nobody can be told to have seen it. Main
// function: withoutStatements.

import type { Random } from '../../src/base/random.ts'
import type { Omissions } from '../../src/history/history.ts'
import type { SqlDraft, SqlDraftEvent, SqlDraftTxn } from './sql-draft.ts'

export interface PartialDraft {
  readonly draft: SqlDraft
  readonly partial: Omissions
}

/** @param share of statements that go */
export function withoutStatements(draft: SqlDraft, random: Random, share: number): PartialDraft {
  const tables = new Set<string>()
  const lost = new Set<string>() // writes that nobody recorded
  let count = 0
  const goes = (event: SqlDraftEvent): boolean => {
    if (!random.chance(share)) return false
    count++
    if (event.write !== null) {
      lost.add(event.write)
      tables.add(event.capital ? 'u' : 't')
    }
    return true
  }
  const left = draft.sessions.map((txns) =>
    txns.map((txn) => ({ ...txn, events: txn.events.filter((event) => !goes(event)) })),
  )
  const sessions = left.map((txns) =>
    txns.map((txn): SqlDraftTxn => ({ ...txn, events: txn.events.flatMap((e) => known(e, lost)) })),
  )
  const reasons = count > 0 ? { dropped: count } : { nothing: 0 }
  return { draft: { ...draft, sessions }, partial: { reasons, tables: [...tables] } }
}

/** A statement without what it saw of lost writes; an update still wrote what it wrote. */
function known(event: SqlDraftEvent, lost: ReadonlySet<string>): SqlDraftEvent[] {
  const isKnown = ({ from }: { from?: string }) => from === undefined || !lost.has(from)
  const rows = event.rows.filter(isKnown)
  const passed: SqlDraftEvent['passed'] = [] // no recorder names these
  if (event.kind === 'refused' && rows.length === 0) return []
  if (event.kind === 'insert' || rows.length === event.rows.length) return [{ ...event, passed }]
  if (event.kind === 'refused') return [{ ...event, rows, passed }]
  const read: SqlDraftEvent = { ...event, kind: 'select', write: null, rows, passed }
  if (event.kind === 'select') return [read]
  if (event.kind === 'delete') return [{ ...event, rows, passed }]
  const written = event.rows.map(({ name, cell }) => ({ name, cell }))
  return [read, { ...event, kind: 'insert', where: '', rows: written, passed: [] }]
}
