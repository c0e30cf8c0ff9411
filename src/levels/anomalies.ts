// The anomalies and what they mean: Plume's 14 transactional anomalous patterns (letters a … n), then
// the names of the strong levels' cycles, of lists and of SQL statements. Adya's code, or Jepsen's
// word where Adya has none, is told for most. Four patterns have common names, under which one
// fault is told once at every level; their own are for those who ask for patterns (COMMON_NAMES).

/** A kind of anomaly, as reports name and explain it. */
export interface AnomalyKind {
  readonly name: string
  /** Plume's letter, null for anomalies that are not one of the 14 patterns. */
  readonly tap: string | null
  /** Adya's phenomenon, null where there is none. */
  readonly adya: string | null
  /** One sentence that explains the kind to somebody who never heard of it. */
  readonly meaning: string
}

const MEANINGS = {
  ThinAirRead: 'A transaction read a value that nobody ever wrote.',
  AbortedRead: 'A transaction read a value written by one that aborted.',
  FutureRead: 'A transaction read its own write before it made it.',
  NotMyOwnWrite: 'A transaction wrote a key and then read it, but got somebody else’s value.',
  NotMyLastWrite: 'A transaction read one of its own writes, though it had overwritten it since.',
  IntermediateRead: 'A transaction read a value that its writer overwrote before committing.',
  CyclicCO:
    'Transactions depend on each other in a circle: each saw, or followed, the next one’s effects.',
  NonMonoReadCO:
    'A transaction saw another one’s effects, then read a version that one had already replaced.',
  NonMonoReadCM: 'Reads within transactions force an order of commits that contradicts itself.',
  NonRepeatableRead:
    'A transaction read one key twice and got values from two different transactions.',
  FracturedReadCO:
    'A transaction saw part of another one’s effects, but an older version of the rest.',
  FracturedReadCM: 'All-or-nothing visibility forces an order of commits that contradicts itself.',
  COConflictCM:
    'A transaction read a version although a newer one was among the causes of what it saw.',
  ConflictCM: 'Causality forces an order of commits that contradicts itself: replicas disagree.',
  WrongVersion:
    'A read reported another version than the write that it saw has: the store’s own order is wrong.',
  CircularInformationFlow:
    'Transactions depend on each other in a circle: each saw, or followed, the next one’s effects.',
  NonMonotonicRead:
    'A transaction saw another one’s effects, then read a version that one had already replaced.',
  FracturedRead:
    'A transaction saw part of another one’s effects, but an older version of the rest.',
  LostUpdate:
    'A transaction overwrote a key it had read, blind to a write in between; one update is lost.',
  LongFork: 'Two readers saw two independent writes in opposite orders.',
  WriteSkew:
    'Two transactions each read what the other one overwrites; no serial order explains both.',
  ReadOnlyAnomaly:
    'A read-only transaction saw a state that no serial order of the writers passes through.',
  CausalityViolation:
    'A transaction missed an effect although it saw something that depends on it.',
  SessionGuaranteeViolation:
    'A session did not see its own earlier effects, or went back to an older state.',
  ReadYourWritesViolation: 'A session read a version older than what it had written itself.',
  MonotonicReadsViolation: 'A session read a version older than what it had read before.',
  MonotonicWritesViolation:
    'A transaction saw a write of a session, then missed what that session had written before.',
  WritesFollowReadsViolation:
    'A transaction saw a write, then missed what its writer had read before writing it.',
  StaleRead: 'A transaction missed an effect that was complete before it started.',
  G0: 'Writes of several transactions are interleaved: a dirty write.',
  G1c: 'Information flows in a circle.',
  'G-single': 'A cycle of dependencies with exactly one anti-dependency.',
  'G-nonadjacent': 'A cycle of dependencies in which no two anti-dependencies are adjacent.',
  'G2-item': 'A cycle of dependencies with adjacent anti-dependencies.',
  IncompatibleOrder: 'Two reads of a list disagree about the order of its elements.',
  DuplicateElements: 'A read of a list returned an element twice.',
  PredicateMismatch:
    'A statement returned a row that does not satisfy its WHERE clause, or passed over one that does.',
  DuplicateRow: 'A read returned several rows under one primary key.',
  VanishedRow:
    'A read did not return a row that nobody deleted: every version of it is one that it looks for.',
  LostCommit:
    'The database acknowledged a commit, and later, when it had come to rest, knew nothing of it.',
  Phantom: 'A statement passed over a row that its transaction’s level obliged it to return.',
  PredicateWriteSkew:
    'Two transactions wrote, each unaware of rows by the other that its WHERE clause asked for.',
} as const

/** The name of a kind of anomaly. */
export type AnomalyName = keyof typeof MEANINGS

/** Plume's patterns, in the order of their letters: the first of the table. */
const PATTERNS = Object.keys(MEANINGS).slice(0, 14)

/** Adya's phenomena, or Jepsen's words, and what they are called here. */
const ADYA: Record<string, readonly AnomalyName[]> = {
  G1a: ['AbortedRead'],
  internal: ['FutureRead', 'NotMyOwnWrite', 'NotMyLastWrite'],
  G1b: ['IntermediateRead'],
  G1c: ['CyclicCO', 'CircularInformationFlow', 'G1c'],
  'G-single': [
    'NonMonoReadCO',
    'NonMonoReadCM',
    'NonRepeatableRead',
    'FracturedReadCO',
    'FracturedReadCM',
    'COConflictCM',
    'ConflictCM',
    'NonMonotonicRead',
    'FracturedRead',
    'LostUpdate',
    'CausalityViolation',
    'SessionGuaranteeViolation',
    'ReadYourWritesViolation',
    'MonotonicReadsViolation',
    'MonotonicWritesViolation',
    'WritesFollowReadsViolation',
    'G-single',
  ],
  'G-nonadjacent': ['LongFork', 'G-nonadjacent'],
  'G2-item': ['WriteSkew', 'ReadOnlyAnomaly', 'G2-item'],
  'G-single-realtime': ['StaleRead'],
  G0: ['G0'],
  'incompatible-order': ['IncompatibleOrder'],
  'duplicate-elements': ['DuplicateElements'],
  G2: ['Phantom', 'PredicateWriteSkew'],
}

/** All kinds of anomalies that a verdict may name. */
export const ANOMALIES: readonly AnomalyKind[] = Object.entries(MEANINGS).map(([key, meaning]) => {
  const name = key as AnomalyName
  const letter = PATTERNS.indexOf(name)
  const tap = letter < 0 ? null : String.fromCharCode('a'.charCodeAt(0) + letter)
  const adya = Object.keys(ADYA).find((code) => ADYA[code]!.includes(name)) ?? null
  return { name, tap, adya, meaning }
})

const BY_NAME = new Map(ANOMALIES.map((kind) => [kind.name, kind]))
const BY_TAP = new Map(ANOMALIES.filter((kind) => kind.tap).map((kind) => [kind.tap, kind]))

/** What everybody calls a pattern. */
export const COMMON_NAMES: ReadonlyMap<string, AnomalyName> = new Map([
  ['CyclicCO', 'CircularInformationFlow'],
  ['NonMonoReadCO', 'NonMonotonicRead'],
  ['FracturedReadCO', 'FracturedRead'],
  ['COConflictCM', 'CausalityViolation'],
])

/** The letter of a kind, or of the pattern that it is the common name of. */
export function letterOf({ name, tap }: AnomalyKind): string | null {
  if (tap !== null) return tap
  for (const [pattern, common] of COMMON_NAMES)
    if (common === name) return findAnomaly(pattern)!.tap
  return null
}

/** Reads that contradict what their own transaction wrote; no other transaction is to blame. */
export const INTERNAL: ReadonlySet<string> = new Set<AnomalyName>([
  'FutureRead',
  'NotMyLastWrite',
  'NotMyOwnWrite',
])

export function findAnomaly(name: string): AnomalyKind | null {
  return BY_NAME.get(name) ?? null
}

/** The pattern with that letter. */
export function findTap(letter: string): AnomalyKind | null {
  return BY_TAP.get(letter) ?? null
}
