// What counts against each level, and what proves it: the certifier's reading of docs/levels.md, as
// one table. Read consistency offends at every level; pl-2 alone does not mind what a transaction
// does to its own writes. An edge that a level does not list proves nothing at that level, however
// true it is. Main table: LEVEL_RULES.

import type { LevelId } from '../levels/levels.ts'
import type { EdgeKind, Proof } from './verdict.ts'

/**
 * What had to be visible to a read: whom its transaction read from before (`earlier`), whom it read
 * from at all or follows in its session (`direct`), or whatever happened before it (`causal`).
 */
export type Sight = 'earlier' | 'direct' | 'causal'

export interface LevelRules {
  /** FutureRead, NotMyLastWrite and NotMyOwnWrite offend. */
  readonly ownWrites: boolean
  /** NonRepeatableRead offends. */
  readonly repeatable: boolean
  /** The edges that arguments may use. */
  readonly edges: ReadonlySet<EdgeKind>
  /** Which paths of SO and WR force a CO edge; null if nothing does. */
  readonly sight: Sight | null
  /** Versions may be ordered by argument, by assumption and by cases. */
  readonly argued: boolean
  /** A transaction has two moments, its snapshot and its commit (certify-shape.ts). */
  readonly snapshots: boolean
  readonly proofs: ReadonlySet<Proof['kind']>
}

type Reads = Pick<LevelRules, 'ownWrites' | 'repeatable'>
type Arguments = Pick<LevelRules, 'sight' | 'argued' | 'snapshots'>

function row(reads: Reads, edges: string, argument: Arguments, proofs: string): LevelRules {
  const split = (names: string) => names.split(' ').filter((name) => name !== '')
  return {
    ...reads,
    ...argument,
    edges: new Set(split(edges) as EdgeKind[]),
    proofs: new Set(split(proofs) as Proof['kind'][]),
  }
}

const ADYA: Reads = { ownWrites: false, repeatable: false }
const SOUND: Reads = { ownWrites: true, repeatable: false }
const CUT: Reads = { ownWrites: true, repeatable: true }

const NOTHING: Arguments = { sight: null, argued: false, snapshots: false }
const EARLIER: Arguments = { ...NOTHING, sight: 'earlier' }
const DIRECT: Arguments = { ...NOTHING, sight: 'direct' }
const CAUSAL: Arguments = { ...NOTHING, sight: 'causal' }
const SERIAL: Arguments = { ...CAUSAL, argued: true }
const SNAPSHOT: Arguments = { ...SERIAL, snapshots: true }
const LINEAR: Arguments = { ...SERIAL, sight: null }

export const LEVEL_RULES: Readonly<Record<LevelId, LevelRules>> = {
  'pl-2': row(ADYA, 'WR WW', NOTHING, 'commit-order'),
  ci: row(CUT, '', NOTHING, 'none'),
  rc: row(SOUND, 'SO WR WW CO', EARLIER, 'commit-order'),
  ra: row(CUT, 'SO WR WW CO', DIRECT, 'commit-order'),
  cc: row(CUT, 'SO WR WW CO', CAUSAL, 'commit-order'),
  pc: row(CUT, 'SO WR WW CO RW', SNAPSHOT, 'commit-order snapshots'),
  si: row(CUT, 'SO WR WW CO RW', SNAPSHOT, 'commit-order snapshots'),
  ser: row(CUT, 'SO WR WW CO RW', SERIAL, 'commit-order'),
  sser: row(CUT, 'SO WR WW CO RW RT', SERIAL, 'commit-order'),
  lin: row(CUT, 'WR WW RW RT', LINEAR, 'commit-order'),
  // Each transaction at its own level: what a reader makes visible is its own row's business.
  mixed: row(SOUND, 'SO WR WW CO RW', SNAPSHOT, 'witness'),
}

/** Whether session order matters to the level; that the initial state comes first always does. */
export function knowsSessions(level: LevelId): boolean {
  return LEVEL_RULES[level].edges.has('SO')
}
