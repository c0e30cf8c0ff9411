// The isolation levels, as one table. Ids are what users type and what JSON says; the chain goes
// from weakest to strongest, and each level implies all before it. ci, the four session guarantees,
// psi, strong-si, lin and stale stand beside the chain, and so do Adya's levels, which know no sessions, and
// what Elle makes of the weakest two of them with session order and with real time.

/** id -> name, and what the level forbids, in one clause. */
const TABLE = {
  ci: ['Cut Isolation', 'no transaction reads one key from two others'],
  rc: [
    'Read Committed',
    'what a transaction reads next is never older than what it has read before',
  ],
  ryw: ['Read Your Writes', 'read committed, and a session sees what it wrote'],
  mr: ['Monotonic Reads', 'read committed, and a session never reads older than what it has read'],
  mw: [
    'Monotonic Writes',
    'read committed, and who sees a write of a session sees what that session wrote before',
  ],
  wfr: [
    'Writes Follow Reads',
    'read committed, and who sees a write sees what its session had read',
  ],
  ra: ['Read Atomic', 'a transaction sees all of another transaction or nothing of it'],
  cc: ['Causal Consistency', 'who sees an effect sees its causes'],
  pc: ['Prefix Consistency', 'every transaction reads from a prefix of the commit order'],
  psi: [
    'Parallel Snapshot Isolation',
    'causal consistency, and no two transactions that do not see each other write one key',
  ],
  si: [
    'Snapshot Isolation',
    'prefix consistency, and no two concurrent transactions write the same key',
  ],
  'strong-si': [
    'Strong Snapshot Isolation',
    'snapshot isolation, and a snapshot has all that was committed before it was taken',
  ],
  ser: ['Serializability', 'some serial order explains every read'],
  'ser+lin': [
    'Serializability, linearizable by key',
    'a serial order that respects real time among those who use a common key',
  ],
  sser: ['Strict Serializability', 'a serial order that also respects real time'],
  lin: [
    'Linearizability',
    'each transaction takes effect at one instant between its start and its finish',
  ],
  stale: [
    'Bounded Staleness',
    'no read misses what was committed longer ago than a bound, or more versions than it',
  ],
  mixed: ['Mixed SQL levels', 'each transaction at its own level'],
  'pl-1': ['Adya PL-1', 'no dirty writes'],
  'pl-2': ['Adya PL-2', 'no dirty writes, no aborted, intermediate or circular information flow'],
  'pl-cs': ['Adya PL-CS', 'PL-2, and nobody replaces a version other than the one it read'],
  'pl-2l': [
    'Adya PL-2L',
    'PL-2, and no read misses what an earlier operation of its transaction depends on',
  ],
  'pl-2+': ['Adya PL-2+', 'PL-2, and no read misses what its transaction depends on'],
  'pl-3u': [
    'Adya PL-3U',
    'those who write are serializable, together with any one of those who only read',
  ],
  'pl-2.99': ['Adya PL-2.99', 'serializable as far as rows are read by their keys'],
  'strong-session-pl-1': [
    'Strong Session PL-1',
    'no dirty writes, and versions follow one another as the writers of each session do',
  ],
  'strong-session-pl-2': [
    'Strong Session PL-2',
    'PL-2, and nothing that is read or replaced comes later in its session',
  ],
  'strong-pl-1': [
    'Strong PL-1',
    'no dirty writes, and versions follow one another as their writers do in real time',
  ],
  'strong-pl-2': ['Strong PL-2', 'PL-2, and nothing is read or replaced before it has begun'],
} as const satisfies Record<string, readonly [name: string, meaning: string]>

/** The name of a level, such as `si`. */
export type LevelId = keyof typeof TABLE

/** A level, as reports name and explain it. */
export interface Level {
  readonly id: LevelId
  readonly name: string
  /** What the level forbids, in one clause. */
  readonly meaning: string
}

/** A level to judge, and the orders that it must respect besides. */
export interface LevelRequest {
  readonly level: LevelId
  /** As the caller has it for all levels, unless told. */
  readonly sessionOrder?: boolean
  /** Whether real time counts like session order; as the caller has it, unless told. */
  readonly realTime?: boolean
  /** How stale reads may be, `5s` or `3`, at stale; the least bound is sought unless told. */
  readonly bound?: string
}

/** Who asks twice for one thing is told once. */
export function withoutRepeats(requests: readonly LevelRequest[]): LevelRequest[] {
  const isSame = (a: LevelRequest, b: LevelRequest) =>
    a.level === b.level &&
    a.sessionOrder === b.sessionOrder &&
    a.realTime === b.realTime &&
    a.bound === b.bound
  return requests.filter((one, i) => requests.findIndex((other) => isSame(one, other)) === i)
}

/** Of a level that is asked for either way. */
export function idOf(asked: LevelId | LevelRequest): LevelId {
  return typeof asked === 'string' ? asked : asked.level
}

/** All levels that there are. */
export const LEVELS: readonly Level[] = Object.entries(TABLE).map(([id, [name, meaning]]) => ({
  id: id as LevelId,
  name,
  meaning,
}))

/** Adya's, weakest first. They know no session order. */
export const ADYA_LEVELS = ['pl-1', 'pl-2', 'pl-cs', 'pl-2l', 'pl-2+', 'pl-3u', 'pl-2.99'] as const
export type AdyaLevel = (typeof ADYA_LEVELS)[number]

export function isAdyaLevel(level: LevelId): level is AdyaLevel {
  return (ADYA_LEVELS as readonly LevelId[]).includes(level)
}

/** rc … sser, weakest first: each implies those before it. */
export const CHAIN: readonly LevelId[] = ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'sser']

/** What a session may rely on, each by itself (Terry and others 1994). */
export const SESSION_GUARANTEES = ['ryw', 'mr', 'mw', 'wfr'] as const satisfies readonly LevelId[]
export type SessionGuarantee = (typeof SESSION_GUARANTEES)[number]

export function isSessionGuarantee(level: string): level is SessionGuarantee {
  return (SESSION_GUARANTEES as readonly string[]).includes(level)
}

/** Those that a transaction may have for itself, in SQL or in a mix, weakest first. */
export const OWN_LEVELS: readonly LevelId[] = CHAIN.filter((level) => level !== 'sser')

/** Those at which SQL statements are judged. */
export const STATEMENT_LEVELS: readonly LevelId[] = [...OWN_LEVELS, 'sser', 'mixed']

/** Those whose anomalies are patterns of reads. */
export const WEAK_LEVELS: readonly LevelId[] = ['ci', 'rc', 'ryw', 'mr', 'mw', 'wfr', 'ra', 'cc']

/** The levels with session order, weakest first: none implies another of its row, or of a later. */
export const LATTICE: readonly (readonly LevelId[])[] = [
  ['ci', 'rc'],
  SESSION_GUARANTEES,
  ['ra'],
  ['cc'],
  ['pc', 'psi'],
  ['si'],
  ['strong-si', 'ser'],
  ['ser+lin'],
  ['sser'],
]

/** Those of a profile, in its order: each implies all that stand in rows before its own. */
export const PROFILE: readonly LevelId[] = LATTICE.flat().filter(
  (level) => level !== 'ser+lin' && !isSessionGuarantee(level),
)

export function findLevel(id: string): Level | null {
  return LEVELS.find((level) => level.id === id) ?? null
}

export function levelName(id: LevelId): string {
  return findLevel(id)?.name ?? id
}

/** What each level implies at once; predicates or not, and of Adya's session order aside. */
const IMPLIES: Partial<Record<LevelId, readonly LevelId[]>> = {
  rc: ['strong-session-pl-2'],
  ryw: ['rc'],
  mr: ['rc'],
  mw: ['rc'],
  wfr: ['rc'],
  ra: ['ryw', 'ci'],
  cc: ['ra', 'mr', 'mw', 'wfr'],
  pc: ['cc'],
  psi: ['cc', 'pl-2+'],
  si: ['pc', 'psi'],
  'strong-si': ['si', 'strong-pl-2'],
  ser: ['si', 'pl-3u', 'pl-2.99'],
  'ser+lin': ['ser'],
  sser: ['ser+lin', 'strong-si'],
  stale: ['strong-pl-2'],
  'strong-session-pl-1': ['pl-1'],
  'strong-session-pl-2': ['strong-session-pl-1', 'pl-2'],
  'strong-pl-1': ['strong-session-pl-1'],
  'strong-pl-2': ['strong-session-pl-2', 'strong-pl-1'],
  'pl-2': ['pl-1'],
  'pl-cs': ['pl-2'],
  'pl-2l': ['pl-2'],
  'pl-2+': ['pl-cs', 'pl-2l'],
  'pl-3u': ['pl-2+'],
  'pl-2.99': ['pl-cs'],
}

/** Levels that need start and finish times, and what is left of them without. */
export const WITHOUT_TIMES: Partial<Record<LevelId, LevelId>> = {
  sser: 'ser',
  'ser+lin': 'ser',
  'strong-si': 'si',
  'strong-pl-1': 'strong-session-pl-1',
  'strong-pl-2': 'strong-session-pl-2',
  stale: 'stale', // all but what reads missed
}

/** Levels that have a name of their own where all of real time counts. */
const TIMED_FORMS: Partial<Record<LevelId, LevelId>> = {
  ser: 'sser',
  'ser+lin': 'sser',
  si: 'strong-si',
  'strong-session-pl-1': 'strong-pl-1',
  'strong-session-pl-2': 'strong-pl-2',
}

/** The level that is the given one with real time; null if it has no name of its own. */
export function timedForm(level: LevelId): LevelId | null {
  return TIMED_FORMS[level] ?? null
}

/** Whether asking for real time says anything that the level does not say anyway. */
export function takesTime(level: LevelId): boolean {
  if (level === 'ci' || level === 'lin') return false
  return WITHOUT_TIMES[level] === undefined || timedForm(level) !== null
}

/**
 * True if a history that satisfies `strong` always satisfies `weak`, which is none of Adya's.
 *
 * @example
 * implies('ser', 'si') // true
 */
export function implies(strong: LevelId, weak: LevelId): boolean {
  return strong === weak || (!isAdyaLevel(weak) && reaches(strong, weak))
}

/** True if `strong` implies `weak`, Adya's or not, and is another level. */
export function stronger(strong: LevelId, weak: LevelId): boolean {
  return strong !== weak && reaches(strong, weak)
}

/** True if a history that satisfies `strong` always satisfies Adya's `weak`. */
export function impliesAdya(strong: LevelId, weak: AdyaLevel): boolean {
  return reaches(strong, weak)
}

function reaches(strong: LevelId, weak: LevelId): boolean {
  const found = new Set<LevelId>([strong])
  for (const level of found) for (const below of IMPLIES[level] ?? []) found.add(below)
  return found.has(weak)
}
