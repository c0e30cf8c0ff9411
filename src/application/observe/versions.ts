// Who made the version of a row: (row, xmin) -> the write of the last statement that made one under
// that transaction id. Several updates of a row in one transaction share an xmin, but only the last
// is seen by others, and by the transaction itself. A savepoint has an id of its own, so what is
// rolled back to it leaves ids that nobody sees.
//
// Ids that were done when recording began belong to the initial versions, one for each row: the
// first that was seen. Another is one that somebody sees who began before, or that a savepoint of a
// transaction made which ran at that time. Versions that nobody can see any more are forgotten.

import { RowStates } from './row-states.ts'

/** Null: the initial version; undefined: nobody recorded wrote it. */
export type Writer = number | null | undefined

export class Versions {
  private limit = 0 // ids below it, in 32 bits, were done at the start
  private running = new Set<number>() // but for these

  constructor(private readonly rows = new RowStates()) {}

  /** @param snapshot as pg_current_snapshot() writes it: 10:20:10,14 */
  begin(snapshot: string): void {
    const [, next, running] = snapshot.split(':')
    this.limit = Number(BigInt.asUintN(32, BigInt(next!)))
    this.running = new Set(
      (running ? running.split(',') : []).map((id) => Number(BigInt.asUintN(32, BigInt(id)))),
    )
    this.rows.clear()
  }

  /** From now on what is known of rows may go to disk. */
  useDisk(): void {
    this.rows.useDisk()
  }

  /** Nobody asks any more. */
  close(): void {
    this.rows.clear()
  }

  private isInitial(row: string, xmin: string): boolean {
    const id = Number(xmin)
    const isDone = id < 3 || (((id - this.limit) | 0) < 0 && !this.running.has(id)) // 2: frozen
    if (!isDone || this.rows.isLost) return false
    this.rows.get(row).initial = xmin
    return true
  }

  writerOf(row: string, xmin: string): Writer {
    const state = this.rows.find(row)
    const entry = state?.entries.find((each) => each.xmin === xmin)
    if (entry !== undefined) return entry.write
    const initial = state?.initial ?? null
    const isInitial = initial === null ? this.isInitial(row, xmin) : initial === xmin
    return isInitial ? null : undefined
  }

  /** @param at counts up */
  note(row: string, xmin: string, write: number, at: number): void {
    const { entries } = this.rows.get(row)
    const entry = entries.find((each) => each.xmin === xmin)
    if (entry) {
      entry.write = write
      entry.at = at
    } else entries.push({ xmin, write, at, replacedAt: Number.POSITIVE_INFINITY })
  }

  /**
   * A transaction that replaced a version has committed.
   * @param now counts up; @param oldest when the oldest transaction began that still runs
   */
  replace(row: string, xmin: string, now: number, oldest: number): void {
    const state = this.rows.find(row)
    if (state === undefined) return
    if (state.initial === xmin) state.isReplaced = true
    for (const entry of state.entries) if (entry.xmin === xmin) entry.replacedAt = now
    state.entries = state.entries.filter(({ replacedAt }) => replacedAt >= oldest)
  }

  /**
   * The version of a row that was there at a moment, and the only one since; null if that is not
   * certain.
   */
  sole(row: string, since: number): { xmin: string; write: number | null } | null {
    const state = this.rows.find(row)
    if (state === undefined || this.rows.isLost) return null
    const { entries, initial, isReplaced } = state
    const hasInitial = initial !== null && !isReplaced
    if (entries.length === 0) return hasInitial ? { xmin: initial, write: null } : null
    // Those that were replaced before are kept only for who may still see them.
    const [entry, other] = entries.filter(({ replacedAt }) => replacedAt >= since)
    if (entry === undefined || other !== undefined || hasInitial) return null
    if (entry.at >= since || Number.isFinite(entry.replacedAt)) return null
    return { xmin: entry.xmin, write: entry.write }
  }

  /** A transaction was rolled back, or a part of it: nobody will see what it wrote. */
  forget(row: string, write: number): void {
    const state = this.rows.find(row)
    if (state) state.entries = state.entries.filter((entry) => entry.write !== write)
  }

  /** Whether the history says what was in a row at first. */
  isDeclared(row: string): boolean {
    return this.rows.find(row)?.isDeclared ?? false
  }

  /** The history says so from now on. */
  declare(row: string): void {
    this.rows.get(row).isDeclared = true
  }

  /** Whether there is so much that what nobody needs is to be dropped. */
  get isDue(): boolean {
    return this.rows.isDue
  }

  /** @param oldest when the oldest transaction or statement began that is not done with */
  sweep(oldest: number): void {
    this.rows.sweep(oldest)
  }
}
