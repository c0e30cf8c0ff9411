// The isolation levels, as one table. Ids are what users type and what JSON says; the chain goes
// from weakest to strongest, and each level implies all before it. ci and lin stand beside the
// chain.

export type LevelId =
  | 'ci'
  | 'rc'
  | 'ra'
  | 'cc'
  | 'pc'
  | 'si'
  | 'ser'
  | 'sser'
  | 'lin'
  | 'mixed'
  | 'pl-2'

export interface Level {
  readonly id: LevelId
  readonly name: string
  /** What the level forbids, in one clause. */
  readonly meaning: string
}

/** A level to judge, with session order or without. */
export interface LevelRequest {
  readonly level: LevelId
  /** As the caller has it for all levels, unless told. */
  readonly sessionOrder?: boolean
}

/** Of a level that is asked for either way. */
export function idOf(asked: LevelId | LevelRequest): LevelId {
  return typeof asked === 'string' ? asked : asked.level
}

export const LEVELS: readonly Level[] = [
  { id: 'ci', name: 'Cut Isolation', meaning: 'no transaction reads one key from two others' },
  {
    id: 'rc',
    name: 'Read Committed',
    meaning: 'what a transaction reads next is never older than what it has read before',
  },
  {
    id: 'ra',
    name: 'Read Atomic',
    meaning: 'a transaction sees all of another transaction or nothing of it',
  },
  {
    id: 'cc',
    name: 'Causal Consistency',
    meaning: 'who sees an effect sees its causes',
  },
  {
    id: 'pc',
    name: 'Prefix Consistency',
    meaning: 'every transaction reads from a prefix of the commit order',
  },
  {
    id: 'si',
    name: 'Snapshot Isolation',
    meaning: 'prefix consistency, and no two concurrent transactions write the same key',
  },
  {
    id: 'ser',
    name: 'Serializability',
    meaning: 'some serial order explains every read',
  },
  {
    id: 'sser',
    name: 'Strict Serializability',
    meaning: 'a serial order that also respects real time',
  },
  {
    id: 'lin',
    name: 'Linearizability of lightweight transactions',
    meaning: 'each compare-and-set takes effect at one instant between its start and its finish',
  },
  { id: 'mixed', name: 'Mixed SQL levels', meaning: 'each transaction at its own level' },
  {
    id: 'pl-2',
    name: 'Adya PL-2',
    meaning: 'no dirty writes, no aborted, intermediate or circular information flow',
  },
]

/** rc … sser, weakest first: each implies those before it. */
export const CHAIN: readonly LevelId[] = ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'sser']

/** Those that a transaction may have for itself, in SQL or in a mix, weakest first. */
export const OWN_LEVELS: readonly LevelId[] = CHAIN.filter((level) => level !== 'sser')

/** Those whose anomalies are patterns of reads. */
export const WEAK_LEVELS: readonly LevelId[] = ['ci', 'rc', 'ra', 'cc']

/** Levels in the order in which a profile lists them. */
export const PROFILE: readonly LevelId[] = ['ci', ...CHAIN]

export function findLevel(id: string): Level | null {
  return LEVELS.find((level) => level.id === id) ?? null
}

export function levelName(id: LevelId): string {
  return findLevel(id)?.name ?? id
}

/** True if a history that satisfies `strong` always satisfies `weak`. */
export function implies(strong: LevelId, weak: LevelId): boolean {
  if (strong === weak) return true
  if (weak === 'ci') return CHAIN.indexOf(strong) >= CHAIN.indexOf('ra')
  const s = CHAIN.indexOf(strong)
  const w = CHAIN.indexOf(weak)
  return s >= 0 && w >= 0 && s > w
}
