// What a statement touches, and whether two statements of different actors commute: whether doing
// them in either order comes to the same. Whatever is not known for sure commutes with nothing.
//
// Under READ COMMITTED and REPEATABLE READ a plain read does not see what is not committed, so it
// commutes with a write inside of an open transaction, and not with that transaction's COMMIT.
// Under SERIALIZABLE the server tracks reads by pages of tables, and decides at every statement
// and COMMIT whom to refuse: there tables count, not rows, reads count beside writes, and an end
// counts beside everything. Main function: conflict.

/** Rows of a table by their names; null: any of them. */
export type Rows = ReadonlySet<string> | null

export interface Footprint {
  /** It is not known what was touched. */
  readonly isUnknown: boolean
  /** Table -> rows read without a lock. */
  readonly reads: ReadonlyMap<string, Rows>
  /** Table -> rows written or locked. */
  readonly writes: ReadonlyMap<string, Rows>
  /** Sequences that it drew numbers from, which no COMMIT makes visible and no ROLLBACK takes back. */
  readonly sequences: ReadonlySet<string>
  /** What it and its transaction wrote becomes visible, or its locks are let go. */
  readonly ends: boolean
  /** Everything that its transaction sees later is as it was at this moment. */
  readonly takesSnapshot: boolean
  /** Its transaction runs at SERIALIZABLE. */
  readonly isSerializable: boolean
}

export const NOTHING: Footprint = {
  isUnknown: false,
  reads: new Map(),
  writes: new Map(),
  sequences: new Set(),
  ends: false,
  takesSnapshot: false,
  isSerializable: false,
}

export const UNKNOWN: Footprint = { ...NOTHING, isUnknown: true }

/** Whether the order of two statements of different actors may matter. */
export function conflict(a: Footprint, b: Footprint): boolean {
  if (isNothing(a) || isNothing(b)) return false
  if (a.isUnknown || b.isUnknown) return true
  for (const name of a.sequences) if (b.sequences.has(name)) return true
  if (a.isSerializable && b.isSerializable) {
    if (a.ends || b.ends) return true
    return meetTables(a.writes, b.writes) || crossTables(a, b) || crossTables(b, a)
  }
  if (meet(a.writes, b.writes)) return true
  if ((a.takesSnapshot && isVisible(b)) || (b.takesSnapshot && isVisible(a))) return true
  return (a.ends && meet(a.writes, b.reads)) || (b.ends && meet(b.writes, a.reads))
}

/** One footprint of several statements. */
export function together(footprints: readonly Footprint[]): Footprint {
  if (footprints.length === 1) return footprints[0]!
  const reads = new Map<string, Rows>()
  const writes = new Map<string, Rows>()
  for (const each of footprints) {
    addAll(reads, each.reads)
    addAll(writes, each.writes)
  }
  return {
    isUnknown: footprints.some((each) => each.isUnknown),
    reads,
    writes,
    sequences: new Set(footprints.flatMap((each) => [...each.sequences])),
    ends: footprints.some((each) => each.ends),
    takesSnapshot: footprints.some((each) => each.takesSnapshot),
    isSerializable: footprints.some((each) => each.isSerializable),
  }
}

/** Adds rows to those of other tables. */
export function addAll(to: Map<string, Rows>, from: ReadonlyMap<string, Rows>): void {
  for (const [table, rows] of from) {
    const known = to.get(table)
    if (known === undefined) to.set(table, rows)
    else to.set(table, known === null || rows === null ? null : new Set([...known, ...rows]))
  }
}

/** What commutes with everything, unknown statements included: BEGIN and the like. */
function isNothing(it: Footprint): boolean {
  if (it.isUnknown || it.ends) return false
  return it.reads.size === 0 && it.writes.size === 0 && it.sequences.size === 0
}

function isVisible(it: Footprint): boolean {
  return it.ends && it.writes.size > 0
}

function meet(a: ReadonlyMap<string, Rows>, b: ReadonlyMap<string, Rows>): boolean {
  for (const [table, rows] of a) {
    const others = b.get(table)
    if (others === undefined) continue
    if (rows === null || others === null) return true
    for (const row of rows) if (others.has(row)) return true
  }
  return false
}

function meetTables(a: ReadonlyMap<string, Rows>, b: ReadonlyMap<string, Rows>): boolean {
  for (const table of a.keys()) if (b.has(table)) return true
  return false
}

function crossTables(a: Footprint, b: Footprint): boolean {
  return meetTables(a.reads, b.writes)
}
