// Who made the version of a row: (row, xmin) -> the write of the last statement that made one under
// that transaction id. Several updates of a row in one transaction share an xmin, but only the last
// is seen by others, and by the transaction itself. A savepoint has an id of its own, so what is
// rolled back to it leaves ids that nobody sees.
//
// Ids that were done when recording began belong to the initial versions, one for each row: the
// first that was seen. Another is one that somebody sees who began before, or that a savepoint of a
// transaction made which ran at that time. Versions that nobody can see any more are forgotten, so
// that memory grows with the rows, not with the statements.

/** Null: the initial version; undefined: nobody recorded wrote it. */
export type Writer = number | null | undefined

interface Entry {
  readonly xmin: string
  write: number
  /** When it was last written, as `Versions` counts. */
  at: number
  /** When it was replaced, as `Versions` counts; infinite while it was not. */
  replacedAt: number
}

export class Versions {
  private readonly rows = new Map<string, Entry[]>()
  private limit = 0 // ids below it, in 32 bits, were done at the start
  private running = new Set<number>() // but for these
  private readonly initial = new Map<string, string>() // row -> id of its initial version
  private readonly replaced = new Set<string>() // rows whose initial version was

  /** @param snapshot as pg_current_snapshot() writes it: 10:20:10,14 */
  begin(snapshot: string): void {
    const [, next, running] = snapshot.split(':')
    this.limit = Number(BigInt.asUintN(32, BigInt(next!)))
    this.running = new Set(
      (running ? running.split(',') : []).map((id) => Number(BigInt.asUintN(32, BigInt(id)))),
    )
    this.rows.clear()
    this.initial.clear()
    this.replaced.clear()
  }

  private isInitial(row: string, xmin: string): boolean {
    const first = this.initial.get(row)
    if (first !== undefined) return first === xmin
    const id = Number(xmin)
    const isDone = id < 3 || (((id - this.limit) | 0) < 0 && !this.running.has(id)) // 2: frozen
    if (isDone) this.initial.set(row, xmin)
    return isDone
  }

  writerOf(row: string, xmin: string): Writer {
    const entry = this.rows.get(row)?.find((each) => each.xmin === xmin)
    return entry?.write ?? (this.isInitial(row, xmin) ? null : undefined)
  }

  /** @param at counts up */
  note(row: string, xmin: string, write: number, at: number): void {
    const entries = this.rows.get(row)
    if (entries === undefined) {
      this.rows.set(row, [{ xmin, write, at, replacedAt: Number.POSITIVE_INFINITY }])
      return
    }
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
    if (this.initial.get(row) === xmin) this.replaced.add(row)
    const entries = this.rows.get(row)
    if (entries === undefined) return
    for (const entry of entries) if (entry.xmin === xmin) entry.replacedAt = now
    const left = entries.filter(({ replacedAt }) => replacedAt >= oldest)
    if (left.length === 0) this.rows.delete(row)
    else if (left.length < entries.length) this.rows.set(row, left)
  }

  /**
   * The version of a row that was there at a moment, and the only one since; null if that is not
   * certain.
   */
  sole(row: string, since: number): { xmin: string; write: number | null } | null {
    const entries = this.rows.get(row)
    const initial = this.initial.get(row)
    if (entries === undefined) {
      return initial === undefined || this.replaced.has(row) ? null : { xmin: initial, write: null }
    }
    // Those that were replaced before are kept only for who may still see them.
    const [entry, other] = entries.filter(({ replacedAt }) => replacedAt >= since)
    if (entry === undefined || other !== undefined) return null
    if (initial !== undefined && !this.replaced.has(row)) return null
    if (entry.at >= since || Number.isFinite(entry.replacedAt)) return null
    return { xmin: entry.xmin, write: entry.write }
  }

  /** A transaction was rolled back, or a part of it: nobody will see what it wrote. */
  forget(row: string, write: number): void {
    const entries = this.rows.get(row)
    const left = entries?.filter((entry) => entry.write !== write) ?? []
    if (left.length === 0) this.rows.delete(row)
    else this.rows.set(row, left)
  }

  get size(): number {
    return this.rows.size
  }
}
