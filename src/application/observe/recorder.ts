// The history of an application as it comes in: lines of the native format, one for each
// transaction that has ended. A version is named by who wrote it; where a read arrives before the
// answer of the statement that wrote what it saw, its transaction waits for the statements under
// way. What nobody recorded wrote is left out, and makes the history partial (docs/levels.md). Main
// class: Recorder.

import { nowMs } from '../../base/deadline.ts'
import { obtain } from '../../base/maps.ts'
import { Catalog } from './catalog.ts'
import type { JoinTelling } from './join/join-telling.ts'
import { type Ending, Lines, Skipped } from './lines.ts'
import type { Told } from './probe.ts'
import type { Table } from './table.ts'
import { type RowEvent, type StatementEvent, Transaction } from './transaction.ts'
import { UniqueRows } from './unique-rows.ts'
import { Versions } from './versions.ts'

export class Recorder {
  readonly catalog = new Catalog(() => {
    this.skipped.everything = true
  })
  readonly versions = new Versions()
  readonly uniqueRows = new UniqueRows()
  readonly warnings: string[] = []
  skipped = new Skipped()
  /** Tables that recorded statements wrote. */
  readonly written = new Set<Table>()
  lines = new Lines(this.versions)
  private readonly lanes = new Map<string, { busy: boolean }[]>()
  private readonly open = new Set<Transaction>()
  private readonly underWay = new Set<number>() // statements, by when they were sent
  private readonly writing = new Set<number>() // those of them that may write
  private waiting: { txn: Transaction; ending: Ending; until: number }[] = []
  private moment = 0 // counts events
  private writes = 0
  private txns = 0
  /** Transactions that have ended and did something. */
  endedCount = 0
  /** Connections of which nothing is recorded. */
  unwatched = 0

  /** Begins anew: whatever the database holds now is there at first. */
  restart(snapshot: string): void {
    this.versions.begin(snapshot)
    this.uniqueRows.clear()
    this.written.clear()
    this.catalog.restart()
    // What was not recorded is there at first, but for what may end later.
    if (this.open.size === 0 && this.unwatched === 0) {
      this.skipped = new Skipped()
      this.txns = 0
    }
    this.warnings.length = 0
    if (!this.lines.isEmpty) this.lines = new Lines(this.versions)
    this.waiting = []
    this.writes = 0
    this.endedCount = 0
  }

  /** From now on lines go to whoever takes them, and what is known of rows may go to disk. */
  giveTo(take: (line: string) => void): void {
    this.lines.giveTo(take, this.skipped)
    this.versions.useDisk()
  }

  /** @param session whose it is; transactions of one that overlap go to different lanes */
  begin(session: string, level: string | null): Transaction {
    const lanes = obtain(this.lanes, session, () => [])
    let lane = lanes.find(({ busy }) => !busy)
    if (!lane) {
      lane = { busy: false }
      lanes.push(lane)
    }
    lane.busy = true
    const at = lanes.indexOf(lane)
    const name = at === 0 ? session : `${session} (${at + 1})`
    // Rounding down never turns overlap into order.
    const start = Math.floor(nowMs() * 1000)
    const txn = new Transaction(++this.txns, name, lane, start, ++this.moment, level)
    this.open.add(txn)
    return txn
  }

  /** A statement is sent; it may be seen by others before its answer arrives. */
  send(mayWrite: boolean): number {
    this.underWay.add(++this.moment)
    if (mayWrite) this.writing.add(this.moment)
    return this.moment
  }

  /** It was answered, and what it did is recorded. */
  answered(statement: number): void {
    this.underWay.delete(statement)
    this.writing.delete(statement)
    if (this.waiting.length > 0) this.flush()
  }

  nextWrite(): number {
    return ++this.writes
  }

  /** Notes what a statement wrote: who sees that row under that id saw this statement's. */
  noteWrite(event: StatementEvent, told: readonly Told[]): void {
    told.forEach(({ version }, i) => {
      const row = event.rows[i]!
      if (row.row === null) return
      this.versions.note(row.name, version.xmin, event.write!, this.moment)
      if (event.table.uniques.length > 0)
        this.uniqueRows.note(event.table, row.name, row.key, row.row, event.write!)
    })
  }

  /**
   * The version of a row that a statement met which was sent at that moment, and is answered now.
   * Null if there may have been another: somebody else has replaced it, or may be writing now.
   */
  versionSince(txn: Transaction, row: string, sent: number) {
    const version = this.versions.sole(row, sent)
    const others = [...this.writing].some((statement) => statement !== sent)
    if (version === null || others) return null
    if (version.write === null && !this.versions.isDeclared(row)) return null
    for (const open of this.open) {
      if (open !== txn && replaces(open, row, version.xmin)) return null
    }
    return version
  }

  undo(txn: Transaction, savepoint: string): void {
    for (const event of txn.returnTo(savepoint)) this.forget(event)
    if (txn.hasLostJoin) this.skipped.count('a join that saw what was rolled back')
    txn.hasLostJoin = false
  }

  /** Forgets what a transaction did so far. */
  drop(txn: Transaction): void {
    for (const event of txn.events.splice(0)) this.forget(event)
  }

  private forget(event: StatementEvent): void {
    if (event.write === null) return
    for (const { name } of event.rows) this.versions.forget(name, event.write)
  }

  end(txn: Transaction, ending: Ending): void {
    txn.lane.busy = false
    txn.finish = Math.floor(nowMs() * 1000)
    this.open.delete(txn)
    if (ending === 'aborted' || ending === 'rolled-back') {
      for (const event of txn.events) this.forget(event)
    } else if (ending === 'committed') this.replaceVersions(txn)
    if (txn.events.length === 0) return
    this.endedCount++
    this.waiting.push({ txn, ending, until: this.moment })
    this.flush()
    if (this.versions.isDue) this.versions.sweep(this.oldest())
  }

  /** When the oldest transaction or statement began of which not all is written down. */
  private oldest(): number {
    let oldest = this.moment
    for (const { began } of this.open) oldest = Math.min(oldest, began)
    for (const { txn } of this.waiting) oldest = Math.min(oldest, txn.began)
    for (const sent of this.underWay) oldest = Math.min(oldest, sent)
    return oldest
  }

  private replaceVersions(txn: Transaction): void {
    let oldest = ++this.moment
    const now = this.moment
    for (const { began } of this.open) oldest = Math.min(oldest, began)
    for (const { write, rows } of txn.events) {
      if (write === null) continue
      for (const { name, xmin } of rows) {
        if (xmin !== null) this.versions.replace(name, xmin, now, oldest)
      }
    }
  }

  private resolve(txn: Transaction): void {
    let own: Set<number | null> | null = null
    for (const { rows } of txn.events) {
      for (const row of rows) {
        if (row.from !== undefined) continue
        const writer = this.versions.writerOf(row.name, row.xmin!)
        // What it had written itself was known when it looked; this is what it wrote later.
        own ??= new Set(txn.events.map(({ write }) => write))
        if (typeof writer !== 'number' || !own.has(writer)) row.from = writer
      }
    }
  }

  /**
   * Writes down transactions in the order in which they ended, which is that of their sessions, up
   * to one that read what nobody has told of yet, while somebody may.
   */
  private flush(): void {
    let oldest = Number.POSITIVE_INFINITY
    for (const sent of this.underWay) oldest = Math.min(oldest, sent)
    let done = 0
    for (const { txn, ending, until } of this.waiting) {
      this.resolve(txn)
      const isKnown = txn.events.every(({ rows }) => rows.every(({ from }) => from !== undefined))
      if (!isKnown && until >= oldest) break
      this.write(txn, ending)
      done++
    }
    if (done > 0) this.waiting.splice(0, done)
  }

  /**
   * The lines so far; transactions that have not ended are told as they stand.
   * @param isSupposed whether joins are told with all that they may have depended on
   */
  text(isSupposed = false): string {
    return this.tell(isSupposed ? 'supposed' : this.joins, this.skipped.copy())
  }

  /** What is not told in full, and how often. */
  get skippedCounts(): ReadonlyMap<string, number> {
    if (!this.lines.waits) return this.skipped.counts
    const skipped = this.skipped.copy()
    this.tell(this.joins, skipped)
    return skipped.counts
  }

  /** Rows of tables that nobody wrote are as they were, whoever looks. */
  private get joins(): JoinTelling {
    return { isWritten: (table) => this.skipped.everything || this.written.has(table) }
  }

  private tell(telling: JoinTelling, skipped: Skipped): string {
    this.settle()
    const open: [Transaction, StatementEvent[]][] = []
    for (const txn of this.open) {
      this.resolve(txn)
      if (txn.events.length > 0) open.push([txn, this.known(txn)])
    }
    return this.lines.text(open, telling, skipped)
  }

  /** Writes down whatever has ended. */
  settle(): void {
    this.flush()
    for (const { txn, ending } of this.waiting) this.write(txn, ending)
    this.waiting = []
  }

  private write(txn: Transaction, ending: Ending): void {
    this.lines.add(txn, this.known(txn), ending, this.skipped)
  }

  /** The transaction's statements, without versions that nobody recorded wrote. */
  private known(txn: Transaction): StatementEvent[] {
    const known: StatementEvent[] = []
    const isLost = ({ from }: RowEvent) => from === undefined
    const torn = new Set(txn.events.map(({ part, rows }) => rows.some(isLost) && part?.join))
    for (const event of txn.events) {
      const lost = event.rows.filter(isLost)
      if (lost.length === 0) {
        if (!event.part || !torn.has(event.part.join)) known.push(event)
        continue
      }
      this.skipped.count('a version that nobody recorded wrote', lost.length)
      this.skipped.everything = true
      const rows = event.rows.filter(({ from }) => from !== undefined)
      if (event.part) continue
      if (event.kind !== 'update') {
        known.push({ ...event, rows })
        continue
      }
      // It is known what the UPDATE left, if not what it saw.
      const seen = rows.map((row) => ({ ...row, row: null }))
      known.push({ ...event, kind: 'select', rows: seen, write: null })
      known.push({ ...event, kind: 'insert', clause: null })
    }
    return known
  }
}

function replaces({ events }: Transaction, name: string, xmin: string): boolean {
  return events.some(
    ({ write, rows }) =>
      write !== null && rows.some((row) => row.name === name && row.xmin === xmin),
  )
}
