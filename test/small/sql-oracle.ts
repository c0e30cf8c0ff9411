// The test oracle for SQL histories: decides a level per transaction straight from the definition.
//
// A history is consistent if nothing violates every level, and for some choice of the unobserved
// indeterminate transactions that count, some choice of a writer for every row that a statement of
// a counting transaction passed over (the witness) and some commit order that contains session
// order and write-read, every row seen satisfies the axiom of its reader's level. All rows get a
// writer here, those too no version of which satisfies the predicate. Writers are chosen one by
// one; more writers only make more visible, so a choice that fails already is not pursued. Shares
// no code with src/check. Cost: exponential, for up to 6 transactions. Main class: SqlOracle.

import type { History } from '../../src/history/history.ts'
import { closure, forEachOrder } from './oracle.ts'
import type { SqlLevel } from './sql-draft.ts'
import { judgeSql, type SeenRow, type SqlOffence, type SqlSituation } from './sql-judge.ts'

export interface SqlTruth {
  /** Nothing offends and the axioms hold. */
  readonly consistent: boolean
  /** The axioms hold, rows that offend left out. */
  readonly holds: boolean
  /** What violates every level, of transactions that count. */
  readonly offences: readonly SqlOffence[]
}

export class SqlOracle {
  private readonly situation: SqlSituation
  private readonly offences: SqlOffence[]
  private readonly worlds: number[] // masks of the nodes that count together
  private readonly missing: Set<SeenRow> // rows passed over in every version there is
  private readonly losing: Set<SeenRow> // rows passed over by an audit that misses a commit
  private readonly plainRc: boolean

  constructor(history: History, judgesAborted = true) {
    this.plainRc = history.sql === null
    this.situation = judgeSql(history, judgesAborted)
    const { certain, offences, seen } = this.situation
    this.worlds = worldsOf(this.situation)
    const most = this.worlds.reduce((all, world) => all | world)
    this.missing = new Set(seen.filter((row) => isOf(certain, row) && isMissing(row, most)))
    this.losing = new Set(seen.filter((row) => isOf(certain, row) && this.isLosing(row, most)))
    this.offences = [
      ...offences.filter(({ txn }) => (certain >> (txn + 1)) & 1),
      ...Array.from(this.missing, ({ reader, event, key }) => {
        return { name: 'VanishedRow', txn: reader - 1, event, key }
      }),
      ...Array.from(this.losing, ({ reader, event, key }) => {
        return { name: 'LostCommit', txn: reader - 1, event, key }
      }),
    ]
  }

  /** Passed over in the only version there is to pass over, which others had replaced by then. */
  private isLosing(row: SeenRow, world: number): boolean {
    const { writers, isLosing } = this.situation
    const zeros = row.zeros & world
    const shown = writers[row.key]! & world & ~zeros & ~(1 << row.reader)
    const isOnly = zeros !== 0 && (zeros & (zeros - 1)) === 0
    return row.from < 0 && isOnly && shown !== 0 && isLosing(row, 31 - Math.clz32(zeros))
  }

  private isLeftOut(row: SeenRow): boolean {
    return this.missing.has(row) || this.losing.has(row)
  }

  /**
   * @param levels txn -> level
   * @param given node -> mask of nodes that must precede it besides, if both count
   */
  decide(levels: readonly SqlLevel[], given: readonly number[] = []): SqlTruth {
    const { offences } = this
    const holds = this.worlds.some((world) => {
      const seen = this.situation.seen.filter((row) => isOf(world, row) && !this.isLeftOut(row))
      return new World(this.situation, world, seen, levels, this.plainRc).holds(given)
    })
    return { consistent: holds && offences.length === 0, holds, offences }
  }

  /**
   * Whether an order, of all that count, and writers for some rows passed over prove that the
   * axioms hold.
   */
  isProof(
    levels: readonly SqlLevel[],
    order: readonly number[],
    chosen: readonly Chosen[],
  ): boolean {
    const world = order.reduce((mask, node) => mask | (1 << node), 0)
    if (!this.worlds.includes(world)) return false
    const seen = this.situation.seen
      .filter((row) => isOf(world, row) && !this.isLeftOut(row))
      .map((row) => {
        const { event, key } = row
        const choice = chosen.find((other) => other.event === event && other.key === key)
        return choice ? { ...row, zeros: row.zeros & (1 << choice.node) } : row
      })
    return new World(this.situation, world, seen, levels, this.plainRc).holdsIn(order)
  }
}

/** The writer of the version of a row that a statement passed over. */
export interface Chosen {
  readonly event: number
  readonly key: number
  readonly node: number
}

function isOf(nodes: number, row: SeenRow): boolean {
  return ((nodes >> row.reader) & 1) === 1
}

/** Passed over, but nobody can have written a version that the predicate passes over. */
function isMissing(row: SeenRow, world: number): boolean {
  return row.from < 0 && (row.zeros & world) === 0
}

/** Sets of transactions that may be all that count: nobody optional saw what cannot be. */
function worldsOf({ certain, optional, seen, offences }: SqlSituation): number[] {
  const worlds: number[] = []
  for (let chosen = optional; ; chosen = (chosen - 1) & optional) {
    const world = certain | chosen
    const sound =
      offences.every(({ txn }) => ((chosen >> (txn + 1)) & 1) === 0) &&
      seen.every((row) => {
        if (!isOf(chosen, row)) return true
        return row.from < 0 ? !isMissing(row, world) : ((world >> row.from) & 1) === 1
      })
    if (sound) worlds.push(world)
    if (chosen === 0) return worlds
  }
}

/** One choice of the transactions that count. */
class World {
  private readonly from: number[] // row seen -> node, -1 while it is not chosen

  constructor(
    private readonly situation: SqlSituation,
    private readonly world: number,
    private readonly seen: readonly SeenRow[],
    private readonly levels: readonly SqlLevel[],
    private readonly plainRc: boolean,
  ) {
    this.from = seen.map((row) => row.from)
  }

  holds(given: readonly number[]): boolean {
    return this.holdsWithin(given)
  }

  holdsIn(order: readonly number[]): boolean {
    const masks = this.situation.so.map(() => 0)
    order.forEach((node, i) => {
      for (const earlier of order.slice(0, i)) masks[node]! |= 1 << earlier
    })
    return this.holdsWithin(masks)
  }

  /** @param given node -> mask of nodes that must precede it besides */
  private holdsWithin(given: readonly number[]): boolean {
    const { world, seen } = this
    // Nodes that do not count come before all others, where they concern nobody.
    const away = ((1 << this.situation.nodeCount) - 1) & ~world
    const must = this.situation.so.map((mask, t) => ((world >> t) & 1 ? (mask & world) | away : 0))
    for (let t = 0, rest = 0; t < must.length; t++) {
      if ((away >> t) & 1) {
        must[t] = rest
        rest |= 1 << t
      }
    }
    for (const { reader, from } of seen) if (from >= 0) must[reader]! |= 1 << from
    given.forEach((mask, t) => {
      if ((world >> t) & 1) must[t]! |= mask & world
    })
    let found = false
    forEachOrder(must, (before) => {
      found = this.satisfies(before) && this.choose(before, 0)
      return !found
    })
    return found
  }

  /** Whether writers for all rows from the given one on can be chosen. */
  private choose(before: readonly number[], row: number): boolean {
    if (row === this.seen.length) return true
    const { from, zeros, reader } = this.seen[row]!
    if (from >= 0) return this.choose(before, row + 1)
    const candidates = zeros & this.world & before[reader]!
    for (let node = 0; node < before.length; node++) {
      if (((candidates >> node) & 1) === 0) continue
      this.from[row] = node
      if (this.satisfies(before) && this.choose(before, row + 1)) return true
    }
    this.from[row] = -1
    return false
  }

  /** Whether all rows whose writer is known satisfy the axioms. */
  private satisfies(before: readonly number[]): boolean {
    const { seen, from, world } = this
    const { so, writers } = this.situation
    const sight = so.map((mask) => mask & world) // so ∪ wr
    for (let i = 0; i < seen.length; i++)
      if (from[i]! >= 0) sight[seen[i]!.reader]! |= 1 << from[i]!
    const causes = closure(sight)
    for (let i = 0; i < seen.length; i++) {
      const t1 = from[i]!
      if (t1 < 0) continue
      const { reader: t3, key } = seen[i]!
      const others = writers[key]! & world & ~(1 << t1) & ~(1 << t3)
      if (others === 0) continue
      if ((others & this.premise(before, sight, causes, i) & ~before[t1]!) !== 0) return false
    }
    return true
  }

  /** All t2 for which the premise of the reader's level holds. */
  private premise(
    before: readonly number[],
    sight: readonly number[],
    causes: readonly number[],
    row: number,
  ): number {
    const t3 = this.seen[row]!.reader
    switch (this.levels[t3 - 1]!) {
      case 'rc':
        return this.plainRc
          ? this.earlier(row, false)
          : this.situation.so[t3]! | this.earlier(row, true)
      case 'ra':
        return sight[t3]!
      case 'cc':
        return causes[t3]!
      case 'pc':
        return upTo(before, sight[t3]!)
      case 'si':
        return upTo(before, sight[t3]!) | upTo(before, before[t3]! & this.rivals(t3))
      case 'ser':
        return before[t3]!
    }
  }

  /** Whom the transaction read from until then. */
  private earlier(row: number, orEqual: boolean): number {
    const { reader, read } = this.seen[row]!
    let mask = 0
    for (let i = 0; i < this.seen.length; i++) {
      const other = this.seen[i]!
      if (other.reader !== reader || this.from[i]! < 0) continue
      if (other.read < read || (orEqual && other.read === read)) mask |= 1 << this.from[i]!
    }
    return mask
  }

  /** Who counts and writes some key that t writes. */
  private rivals(t: number): number {
    let mask = 0
    for (const writers of this.situation.writers) if ((writers >> t) & 1) mask |= writers
    return mask & this.world
  }
}

/** The given transactions and all that precede one of them. */
function upTo(before: readonly number[], txns: number): number {
  let mask = txns
  for (let t = 0; t < before.length; t++) if ((txns >> t) & 1) mask |= before[t]!
  return mask
}
