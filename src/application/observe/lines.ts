// Recorded transactions as lines of the native format. Tables and the rows that were there at first
// are declared when they are first met; what was not recorded is told in the last line. Lines go to
// memory, or to whoever takes them. Main class: Lines.

import {
  renderClause,
  renderRow,
  renderTables,
  renderVersion,
} from '../../formats/native/sql-write.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type JoinTelling, OPEN_JOIN, withoutJoins } from './join/join-telling.ts'
import type { Table } from './table.ts'
import type { RowEvent, StatementEvent, Transaction } from './transaction.ts'
import type { Versions } from './versions.ts'

export type Ending = 'committed' | 'aborted' | 'rolled-back' | 'indeterminate'

/** What was not recorded, and why. */
export class Skipped {
  readonly counts = new Map<string, number>()
  /**
   * Whether somebody wrote what was not recorded. It is not asked where: what writes through views,
   * cascades, triggers and rules cannot be told from a statement.
   */
  everything = false
  total = 0

  /** The same, and what is counted from now on counts there only. */
  copy(): Skipped {
    const copy = new Skipped()
    copy.everything = this.everything
    for (const [reason, times] of this.counts) copy.count(reason, times)
    return copy
  }

  count(reason: string, times = 1): void {
    if (times === 0) return
    this.total += times
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + times)
  }
}

const LEVELS: Readonly<Record<string, LevelId>> = {
  'read uncommitted': 'rc',
  'read committed': 'rc',
  'repeatable read': 'si',
  serializable: 'ser',
}

const HEADER = '{"isobar":1,"unit":"us"}\n'

/** A line that depends on what else was recorded. */
type Pending = (telling: JoinTelling, skipped: Skipped) => string

/** Of a join that is told while others may still write. */
const AT_ONCE: JoinTelling = { isWritten: () => true }

export class Lines {
  private readonly declared = new Set<Table>()
  private kept: (string | Pending)[] = [HEADER]
  private take: ((line: string) => void) | null = null

  /** @param versions knows which rows were said to be there at first */
  constructor(private readonly versions: Versions) {}

  /** From now on somebody else takes the lines, beginning with those that were kept. */
  giveTo(take: (line: string) => void, skipped: Skipped): void {
    for (const line of this.kept) take(typeof line === 'string' ? line : line(AT_ONCE, skipped))
    this.kept = []
    this.take = take
  }

  /** Whether nothing was recorded yet, though somebody may wait for it. */
  get isEmpty(): boolean {
    return this.declared.size === 0
  }

  /** Whether some of it depends on what is recorded next. */
  get waits(): boolean {
    return this.kept.some((line) => typeof line !== 'string')
  }

  private put(line: string): void {
    if (this.take) this.take(line)
    else this.kept.push(line)
  }

  /** @param skipped counts what is not told of it */
  add(txn: Transaction, events: readonly StatementEvent[], ending: Ending, skipped: Skipped): void {
    this.declare(events)
    const status = ending === 'committed' ? '' : `,"status":"${statusOf(ending)}"`
    const ended = `${status},"finish":${txn.finish}`
    const line = lineOf(txn, events, ended, ending === 'rolled-back')
    const mayWait = this.take === null && events.some(({ part }) => part)
    if (mayWait) this.kept.push(line)
    else this.put(line(AT_ONCE, skipped))
  }

  /**
   * What is kept, with transactions that have not ended, and what was not recorded.
   * @param skipped counts what is not told of joins
   */
  text(
    open: readonly [Transaction, readonly StatementEvent[]][],
    telling: JoinTelling,
    skipped: Skipped,
  ): string {
    const last: Pending[] = []
    for (const [txn, events] of open) {
      this.declare(events)
      last.push(lineOf(txn, events, ',"status":"indeterminate"', false))
    }
    const lines = [...this.kept, ...last].map((line) =>
      typeof line === 'string' ? line : line(telling, skipped),
    )
    return [...lines, renderSkipped(skipped, this.declared)].join('')
  }

  private declare(events: readonly StatementEvent[]): void {
    for (const { table, rows } of events) {
      if (!this.declared.has(table)) {
        this.declared.add(table)
        this.put(`{"tables":${renderTables([table.declared], [[]])}}\n`)
      }
      const first: string[] = []
      for (const { name, from, seen } of rows) {
        if (from !== null || seen === null || this.versions.isDeclared(name)) continue
        this.versions.declare(name)
        first.push(renderRow(table.declared, seen))
      }
      if (first.length === 0) continue
      this.put(`{"tables":{${JSON.stringify(table.name)}:{"rows":[${first.join()}]}}}\n`)
    }
  }
}

function statusOf(ending: Ending): string {
  return ending === 'rolled-back' ? 'aborted' : ending
}

function lineOf(
  txn: Transaction,
  given: readonly StatementEvent[],
  status: string,
  abort: boolean,
): Pending {
  return (telling, skipped) => {
    const { events, open } = withoutJoins(given, telling)
    skipped.count(OPEN_JOIN, open)
    return renderTxn(txn, events, status, abort)
  }
}

function renderTxn(
  txn: Transaction,
  events: readonly StatementEvent[],
  status: string,
  abort: boolean,
): string {
  const ops = events.flatMap(renderEvent)
  if (abort) ops.push('{"abort":true}')
  const level = LEVELS[txn.level ?? ''] ?? 'rc'
  const names = `"session":${JSON.stringify(txn.session)},"id":"T${txn.id}"`
  return `{${names}${status},"start":${txn.start},"level":"${level}","ops":[${ops.join()}]}\n`
}

function renderEvent(event: StatementEvent): string[] {
  const { kind, table, clause, rows, write } = event
  const name = JSON.stringify(table.name)
  const written = write === null || rows.length === 0 ? '' : `,"write":${write}`
  if (kind === 'insert') {
    const inserted = rows.map(({ row }) => renderRow(table.declared, row!))
    return rows.length === 0 ? [] : [`{"insert":${name}${written},"rows":[${inserted.join()}]}`]
  }
  if (kind === 'refused') {
    const met = rows.map(({ key, from }) => `{${renderVersion(key, from!)}}`)
    return [`{"refused":${name},"rows":[${met.join()}]}`]
  }
  const where = renderClause(clause!).map((field) => `,${field}`)
  const told = rows.map((row) => `{${renderSeen(event, row)}}`)
  return [`{"${kind}":${name}${where.join('')}${written},"rows":[${told.join()}]}`]
}

function renderSeen({ kind, table }: StatementEvent, { key, from, row }: RowEvent): string {
  const seen = renderVersion(key, from!)
  return kind === 'update' ? `${seen},"row":${renderRow(table.declared, row!)}` : seen
}

function renderSkipped({ counts, everything }: Skipped, declared: Set<Table>): string {
  if (counts.size === 0) return ''
  const unsure = everything ? [...declared].map(({ name }) => name) : []
  const reasons = [...counts].map(([reason, count]) => `${JSON.stringify(reason)}:${count}`)
  return `{"partial":{"reasons":{${reasons.join()}},"tables":${JSON.stringify(unsure)}}}\n`
}
