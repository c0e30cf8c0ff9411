// What counts against each level, and what proves it: the certifier's reading of docs/levels.md,
// as one table. Read consistency offends at every level of ours; Adya's do not mind what a
// transaction does to its own writes, and pl-1 does not mind what anybody reads. An edge that a
// level does not list proves nothing at that level, however true it is. Main table: LEVEL_RULES.

import { isAdyaLevel, type LevelId, type SessionGuarantee } from '../levels/levels.ts'
import type { EdgeKind, Proof } from './verdict.ts'

/**
 * What had to be visible to a read: whom its transaction read from before (`earlier`), whom it read
 * from at all or follows in its session (`direct`), or whatever happened before it (`causal`). For a
 * bound on staleness, whoever had finished (`over`). For a
 * session guarantee, which bears its own name, what is `earlier`, and what the guarantee adds.
 */
export type Sight = 'earlier' | 'direct' | 'causal' | 'over' | SessionGuarantee

/**
 * Which anti-dependencies a cycle may have: all of them (`any`); only by readers that write the
 * key themselves (`cursor`); one, besides those between writers of a common key (`one`); one by a
 * transaction that only reads, besides those of others (`reader`); or one, by a read after whatever
 * the cycle enters its transaction by (`later`).
 */
export type Overwrites = 'any' | 'cursor' | 'one' | 'reader' | 'later'

export interface LevelRules {
  /** What reads saw offends: ThinAirRead, AbortedRead, IntermediateRead and so on. */
  readonly soundReads: boolean
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
  /** Two that write a common key never overlap: one commits before the other's snapshot. */
  readonly exclusive: boolean
  readonly overwrites: Overwrites
  readonly proofs: ReadonlySet<Proof['kind']>
}

type Reads = Pick<LevelRules, 'soundReads' | 'ownWrites' | 'repeatable'>
type Arguments = Pick<LevelRules, 'sight' | 'argued' | 'snapshots' | 'exclusive' | 'overwrites'>

function row(reads: Reads, edges: string, argument: Arguments, proofs: string): LevelRules {
  const split = (names: string) => names.split(' ').filter((name) => name !== '')
  return {
    ...reads,
    ...argument,
    edges: new Set(split(edges) as EdgeKind[]),
    proofs: new Set(split(proofs) as Proof['kind'][]),
  }
}

const UNREAD: Reads = { soundReads: false, ownWrites: false, repeatable: false }
const ADYA: Reads = { ...UNREAD, soundReads: true }
const ADYA_CUT: Reads = { ...ADYA, repeatable: true }
const SOUND: Reads = { ...ADYA, ownWrites: true }
const CUT: Reads = { ...SOUND, repeatable: true }

const NOTHING: Arguments = {
  sight: null,
  argued: false,
  snapshots: false,
  exclusive: false,
  overwrites: 'any',
}
const EARLIER: Arguments = { ...NOTHING, sight: 'earlier' }
const guarantee = (sight: SessionGuarantee): Arguments => ({ ...NOTHING, sight })
const OVER: Arguments = { ...NOTHING, sight: 'over' }
const DIRECT: Arguments = { ...NOTHING, sight: 'direct' }
const CAUSAL: Arguments = { ...NOTHING, sight: 'causal' }
const SERIAL: Arguments = { ...CAUSAL, argued: true }
const PREFIX: Arguments = { ...SERIAL, snapshots: true }
const SNAPSHOT: Arguments = { ...PREFIX, exclusive: true }
const PARALLEL: Arguments = { ...SERIAL, exclusive: true, overwrites: 'one' }
const LINEAR: Arguments = { ...SERIAL, sight: null }
const dependent = (overwrites: Overwrites): Arguments => ({ ...LINEAR, overwrites })

export const LEVEL_RULES: Readonly<Record<LevelId, LevelRules>> = {
  'pl-1': row(UNREAD, 'WW', NOTHING, 'commit-order'),
  'pl-2': row(ADYA, 'WR WW', NOTHING, 'commit-order'),
  'pl-cs': row(ADYA, 'WR WW RW', dependent('cursor'), 'commit-order'),
  'pl-2l': row(ADYA, 'WR WW RW', dependent('later'), 'commit-order'),
  'pl-2+': row(ADYA_CUT, 'WR WW RW', dependent('one'), 'commit-order'),
  'pl-3u': row(ADYA_CUT, 'WR WW RW', dependent('reader'), 'commit-order'),
  'pl-2.99': row(ADYA_CUT, 'SO WR WW CO RW', SERIAL, 'commit-order'),
  'strong-session-pl-1': row(UNREAD, 'SO WW', NOTHING, 'commit-order'),
  'strong-session-pl-2': row(ADYA, 'SO WR WW', NOTHING, 'commit-order'),
  'strong-pl-1': row(UNREAD, 'SO WW RT', NOTHING, 'commit-order'),
  'strong-pl-2': row(ADYA, 'SO WR WW RT', NOTHING, 'commit-order'),
  ci: row(CUT, '', NOTHING, 'none'),
  rc: row(SOUND, 'SO WR WW CO', EARLIER, 'commit-order'),
  ryw: row(SOUND, 'SO WR WW CO', guarantee('ryw'), 'commit-order'),
  mr: row(SOUND, 'SO WR WW CO', guarantee('mr'), 'commit-order'),
  mw: row(SOUND, 'SO WR WW CO', guarantee('mw'), 'commit-order'),
  wfr: row(SOUND, 'SO WR WW CO', guarantee('wfr'), 'commit-order'),
  ra: row(CUT, 'SO WR WW CO', DIRECT, 'commit-order'),
  cc: row(CUT, 'SO WR WW CO', CAUSAL, 'commit-order'),
  pc: row(CUT, 'SO WR WW CO RW', PREFIX, 'commit-order snapshots'),
  psi: row(CUT, 'SO WR WW CO RW', PARALLEL, 'commit-order snapshots'),
  si: row(CUT, 'SO WR WW CO RW', SNAPSHOT, 'commit-order snapshots'),
  'strong-si': row(CUT, 'SO WR WW CO RW RT', SNAPSHOT, 'commit-order snapshots'),
  ser: row(CUT, 'SO WR WW CO RW', SERIAL, 'commit-order'),
  'ser+lin': row(CUT, 'SO WR WW CO RW RT', SERIAL, 'commit-order'),
  sser: row(CUT, 'SO WR WW CO RW RT', SERIAL, 'commit-order'),
  lin: row(CUT, 'WR WW RW RT', LINEAR, 'commit-order'),
  stale: row(SOUND, 'SO WR WW CO RT', OVER, 'commit-order'),
  // Each transaction at its own level: what a reader makes visible is its own row's business.
  mixed: row(SOUND, 'SO WR WW CO RW', PREFIX, 'witness'),
}

/** Whether session order matters to the level; that the initial state comes first always does. */
export function knowsSessions(level: LevelId): boolean {
  return !isAdyaLevel(level) && LEVEL_RULES[level].edges.has('SO')
}
