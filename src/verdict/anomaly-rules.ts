// What the evidence of each anomaly has to show: one predicate for each name, over the cycle, or
// over every cycle of a case split, and over the reads and writes of its transactions. docs/
// anomalies.md says the same in words. Checkers take the first name that fits (nameEvidence), the
// certifier refuses a name that does not (misnomer). Names of single reads are certify-reads' and
// sql-rows' business. Sources: Plume (TAPs), MTC (Table I), Fekete (read-only anomaly), Adya
// (classes).
//
// A cycle that rests on more than it shows is no plainer than its reasons: where a version order is
// proved by refuting its opposite, that refutation is a cycle too, and the class of the whole is
// the highest of all. So a cycle with one anti-dependency that only serializability forces is not
// called G-single, which snapshot isolation forbids. Main functions: nameEvidence, misnomer.

import { largest } from '../base/grow.ts'
import { ABORTED, type History, INITIAL, NONE, READ, READ_LIST } from '../history/history.ts'
import type { AnomalyName } from '../levels/anomalies.ts'
import { foreignVersion, isWrite } from './certify-reads.ts'
import { writeCommonKey } from './certify-shape.ts'
import { type Case, type Edge, type EdgeKind, findEdges, INITIAL_TXN } from './verdict.ts'

/** Adya's classes of cycles, from the least that a level must forbid to the most. */
const CLASSES: readonly AnomalyName[] = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item']

/** A cycle and what its names are about. */
interface Cycle {
  readonly history: History
  readonly edges: readonly Edge[]
  /** Anti-dependencies. */
  readonly overwrites: readonly Edge[]
  /** Commit orders that a level forces. */
  readonly forced: readonly Edge[]
  /** If there is one anti-dependency: the rest, from who was missed to who missed it. */
  readonly path: readonly Edge[]
  /** Whether one anti-dependency follows another. */
  readonly adjacent: boolean
}

function cycleOf(history: History, edges: readonly Edge[]): Cycle {
  const overwrites = edges.filter(({ kind }) => kind === 'RW')
  const forced = edges.filter(({ kind }) => kind === 'CO')
  const at = overwrites.length === 1 ? edges.indexOf(overwrites[0]!) : NONE
  const path = at === NONE ? [] : [...edges.slice(at + 1), ...edges.slice(0, at)]
  const adjacent = edges.some((edge, i) => edge.kind === 'RW' && edges.at(i - 1)!.kind === 'RW')
  return { history, edges, overwrites, forced, path, adjacent: adjacent && edges.length > 1 }
}

const isOnly = (edges: readonly Edge[], ...kinds: EdgeKind[]) =>
  edges.every(({ kind }) => kinds.includes(kind))

/** Edges of session order and reads: what makes visible. */
const isCause = (edges: readonly Edge[]) => isOnly(edges, 'SO', 'WR')

/** Whether only the clock says that the reader of a forced order had to see something. */
const isOfTime = ({ premises }: Edge) => premises.slice(1).some(({ kind }) => kind === 'RT')

/** One forced order against a path of causes. */
const isCausalConflict = ({ edges, forced }: Cycle) =>
  forced.length === 1 &&
  !isOfTime(forced[0]!) &&
  isCause(edges.filter((edge) => edge !== forced[0]))

/** Forced orders that contradict each other, or an observed order of versions. */
const isForcedConflict = (cycle: Cycle) =>
  cycle.forced.length > 0 &&
  isOnly(cycle.edges, 'SO', 'WR', 'WW', 'CO') &&
  !cycle.forced.some(isOfTime) &&
  !isCausalConflict(cycle)

/** The one anti-dependency of a cycle in which nothing but causes leads back. */
const isMissed = ({ overwrites, path }: Cycle) => overwrites.length === 1 && isCause(path)

/** Causes that stay in the session of whoever missed the effect: at most one read by it before. */
const isOfSession = (path: readonly Edge[]) =>
  isOnly(path.slice(1), 'SO') && (path.length > 1 || path[0]?.kind === 'SO')

/** Whether the transaction of a forced order's read saw `from` in an earlier read, or statement. */
function sawBefore({ history }: Cycle, { premises: [seen, ...visible] }: Edge): boolean {
  const [step] = visible
  if (!seen || !step || visible.length > 1 || step.kind !== 'WR') return false
  return placeOf(history, step) < placeOf(history, seen)
}

function sawDirectly(_: Cycle, { premises }: Edge): boolean {
  return premises.length === 2
}

/** Where a read stands in its transaction; all that a statement read stands at one place. */
function placeOf({ sql }: History, { ops, event }: Edge): number {
  const read = ops.at(-1) ?? NONE
  if (sql === null) return read
  const statement = event ?? sql.opEvent[read] ?? NONE
  if (statement === NONE) return (read + 1) * (sql.eventCount + 1) - 1
  return sql.eventOpStart[statement]! * (sql.eventCount + 1) + statement
}

/**
 * Whether a transaction writes a key and read one version of it and no other, but for its own
 * writes: what it wrote takes no account of any other.
 * @param version the write that it read, or INITIAL
 */
export function updatesBlindly(
  history: History,
  txn: number,
  key: number,
  version: number,
): boolean {
  const { txnOpStart, opKey, opKind, txnStatus } = history
  if (txnStatus[txn] === ABORTED) return false
  let writes = false
  for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
    if (opKey[op] !== key) continue
    if (isWrite(history, op)) writes = true
    else if (opKind[op] === READ || opKind[op] === READ_LIST) {
      const read = foreignVersion(history, op)
      if (read !== NONE && read !== version) return false
    }
  }
  return writes
}

/** The same of the reader of an anti-dependency. */
function isBlindUpdate(history: History, { from, key, premises: [seen] }: Edge): boolean {
  const version = seen?.ops[seen.from === INITIAL_TXN ? NONE : 0] ?? INITIAL
  return updatesBlindly(history, from, key, version)
}

/**
 * Two writers of a key, one of which, or each of which, read a version that the other one replaced,
 * and no other version of the key.
 */
export function isLostUpdate(history: History, cycle: readonly Edge[]): boolean {
  const [a, b] = cycle
  if (cycle.length !== 2 || a!.key !== b!.key || !isOnly(cycle, 'RW', 'WW')) return false
  const overwrites = cycle.filter(({ kind }) => kind === 'RW')
  return overwrites.length > 0 && overwrites.every((edge) => isBlindUpdate(history, edge))
}

function isWriteSkew({ history, edges }: Cycle): boolean {
  const [a, b] = edges
  if (edges.length !== 2 || !isOnly(edges, 'RW') || a!.key === b!.key) return false
  return !writeCommonKey(history, a!.from, a!.to)
}

/** Two adjacent anti-dependencies, and causes that lead back to who writes nothing. */
function isReadOnlyAnomaly({ history, edges, overwrites, adjacent }: Cycle): boolean {
  if (overwrites.length !== 2 || edges.length < 3 || !adjacent) return false
  if (!isOnly(edges, 'SO', 'WR', 'RW')) return false
  const reader = overwrites.find((edge) => edges.at(edges.indexOf(edge) - 1)!.kind !== 'RW')!.from
  for (let op = history.txnOpStart[reader]!; op < history.txnOpStart[reader + 1]!; op++) {
    if (isWrite(history, op)) return false
  }
  return true
}

type Rules = readonly (readonly [AnomalyName, (cycle: Cycle) => boolean])[]

function isNonMonotonic(cycle: Cycle): boolean {
  if (isCausalConflict(cycle)) return sawBefore(cycle, cycle.forced[0]!)
  const { path, overwrites, history } = cycle
  if (!isMissed(cycle) || path.length !== 1 || path[0]!.kind !== 'WR') return false
  const seen = overwrites[0]!.premises[0]
  return seen !== undefined && placeOf(history, path[0]!) < placeOf(history, seen)
}

function isFractured(cycle: Cycle): boolean {
  if (isCausalConflict(cycle)) return sawDirectly(cycle, cycle.forced[0]!)
  return isMissed(cycle) && cycle.path.length === 1 && cycle.path[0]!.kind === 'WR'
}

/** One effect that was missed, though the clock says that it was there. */
function isStale({ edges, overwrites, forced, path }: Cycle): boolean {
  if (overwrites.length === 1) return path.some(({ kind }) => kind === 'RT')
  if (overwrites.length > 0 || forced.length !== 1) return false
  if (isOfTime(forced[0]!)) return isOnly(edges, 'SO', 'WR', 'WW', 'RT', 'CO')
  return edges.some(({ kind }) => kind === 'RT') && isOnly(edges, 'SO', 'WR', 'RT', 'CO')
}

/** As fractured, of one key: a version of it was seen, and an older one as well. */
function isUnrepeated(cycle: Cycle): boolean {
  if (!isFractured(cycle)) return false
  const [older, newer] = isCausalConflict(cycle)
    ? cycle.forced[0]!.premises
    : [cycle.overwrites[0], cycle.path[0]]
  return newer!.kind === 'WR' && newer!.key === older!.key
}

/** What a cycle must be for each name, the most telling name first. */
const CYCLE_RULES: Rules = [
  ['CircularInformationFlow', ({ edges }) => isCause(edges)],
  ['NonMonotonicRead', isNonMonotonic],
  [
    'SessionGuaranteeViolation',
    (cycle) => {
      if (!isCausalConflict(cycle)) return isMissed(cycle) && isOfSession(cycle.path)
      return isOfSession(cycle.forced[0]!.premises.slice(1))
    },
  ],
  ['NonRepeatableRead', isUnrepeated],
  ['FracturedRead', isFractured],
  [
    'CausalityViolation',
    (cycle) => isCausalConflict(cycle) || (isMissed(cycle) && cycle.path.length > 1),
  ],
  [
    'NonMonoReadCM',
    (cycle) => isForcedConflict(cycle) && cycle.forced.every((edge) => sawBefore(cycle, edge)),
  ],
  [
    'FracturedReadCM',
    (cycle) => isForcedConflict(cycle) && cycle.forced.every((edge) => sawDirectly(cycle, edge)),
  ],
  ['ConflictCM', isForcedConflict],
  ['StaleRead', isStale],
  ['LostUpdate', ({ history, edges }) => isLostUpdate(history, edges)],
  ['WriteSkew', isWriteSkew],
  [
    'LongFork',
    ({ edges, overwrites, adjacent }) =>
      overwrites.length === 2 && !adjacent && isOnly(edges, 'SO', 'WR', 'RW'),
  ],
  ['ReadOnlyAnomaly', isReadOnlyAnomaly],
]

/** What the reader had to see because of causes; null if that is not what the cycle says. */
function sightOf(cycle: Cycle): readonly Edge[] | null {
  if (isCausalConflict(cycle)) return cycle.forced[0]!.premises.slice(1)
  return isMissed(cycle) ? cycle.path : null
}

const sees = (fits: (path: readonly Edge[]) => boolean) => (cycle: Cycle) => {
  const path = sightOf(cycle)
  return path !== null && path.length > 0 && fits(path)
}
const isWrittenBefore = (path: readonly Edge[]) => isOnly(path, 'SO')

/** Each session guarantee by what it makes visible; at other levels such cycles have other names. */
const GUARANTEE_RULES: Rules = [
  ['ReadYourWritesViolation', sees(isWrittenBefore)],
  [
    'MonotonicReadsViolation',
    sees(([first, ...rest]) => first!.kind === 'WR' && rest.length > 0 && isWrittenBefore(rest)),
  ],
  [
    'MonotonicWritesViolation',
    sees((path) => {
      const before = path.slice(0, -1)
      return path.at(-1)!.kind === 'WR' && before.length > 0 && isWrittenBefore(before)
    }),
  ],
  [
    'WritesFollowReadsViolation',
    sees((path) => path.length > 1 && path[0]!.kind === 'WR' && path.at(-1)!.kind === 'WR'),
  ],
]

/** Plume's patterns that have common names, by what its letters mean. */
const PATTERN_RULES: Rules = [
  ['CyclicCO', ({ edges }) => isCause(edges)],
  ['NonMonoReadCO', isNonMonotonic],
  ['FracturedReadCO', isFractured],
  ['COConflictCM', isCausalConflict],
]

/** The pattern that a cycle shows, null if none. */
export function patternOf(history: History, edges: readonly Edge[]): AnomalyName | null {
  if (edges.length === 0) return null
  const cycle = cycleOf(history, edges)
  return PATTERN_RULES.find(([, fits]) => fits(cycle))?.[0] ?? null
}

/** The class of a cycle by its own edges: how many anti-dependencies it has, and how they stand. */
function rankOf({ history, edges, overwrites, forced, adjacent }: Cycle): number {
  // Whichever of two lost updates comes first, it misses nothing: one anti-dependency is left.
  if (isLostUpdate(history, edges)) return CLASSES.indexOf('G-single')
  if (overwrites.length > 1) return CLASSES.indexOf(adjacent ? 'G2-item' : 'G-nonadjacent')
  if (overwrites.length + forced.length > 0) return CLASSES.indexOf('G-single')
  return CLASSES.indexOf(edges.some(({ kind }) => kind === 'WR') ? 'G1c' : 'G0')
}

/** Adya's class of a cycle by its own edges. */
export function classOfCycle(history: History, edges: readonly Edge[]): AnomalyName {
  return CLASSES[rankOf(cycleOf(history, edges))]!
}

/** A cycle with its class by its own edges, and by what its version orders rest on besides. */
interface Ranked {
  readonly cycle: Cycle
  readonly own: number
  readonly rank: number
}

function rankedOf(history: History, edges: readonly Edge[]): Ranked {
  const cycle = cycleOf(history, edges)
  const own = rankOf(cycle)
  let rank = own
  for (const { kind, premises, refutes } of findEdges(edges, [])) {
    if (kind !== 'WW' || premises.length === 0) continue
    if (refutes) rank = Math.max(rank, rankOf(cycleOf(history, premises)))
    else if (premises.some((edge, i) => edge.kind === 'RW' && premises[i - 1]?.kind === 'RW')) {
      rank = CLASSES.length - 1
    }
  }
  return { cycle, own, rank }
}

const RULE_OF = new Map([...GUARANTEE_RULES, ...PATTERN_RULES, ...CYCLE_RULES])

/** Whether a cycle by itself, with what it rests on, shows the anomaly. */
function isShownBy({ cycle, own, rank }: Ranked, name: AnomalyName): boolean {
  if (CLASSES.includes(name)) return CLASSES[rank] === name
  return rank === own && (RULE_OF.get(name)?.(cycle) ?? false)
}

/** Every cycle of an argument by cases. */
function cyclesOf(cases: readonly Case[]): Edge[][] {
  return cases.map(({ cycle }) => cycle).filter((cycle) => cycle.length > 0)
}

/** Rows that statements passed over are part of the argument. */
function isByPredicate(edges: readonly Edge[], cases: readonly Case[]): boolean {
  return [...findEdges(edges, cases)].some(({ event }) => event !== undefined)
}

/** Two transactions, each of which missed what the other wrote, a row passed over among it. */
function isPredicateSkew(cycle: readonly Edge[]): boolean {
  return cycle.length === 2 && isOnly(cycle, 'RW') && isByPredicate(cycle, [])
}

/** The most telling name that fits a cycle, or all cycles of a case split. */
export function nameEvidence(
  history: History,
  edges: readonly Edge[],
  cases: readonly Case[],
): AnomalyName {
  const cycles = edges.length > 0 ? [edges] : cyclesOf(cases)
  if (isByPredicate(edges, cases)) {
    return cycles.some(isPredicateSkew) ? 'PredicateWriteSkew' : 'Phantom'
  }
  const ranked = cycles.map((cycle) => rankedOf(history, cycle))
  for (const [name] of CYCLE_RULES) {
    if (ranked.every((each) => isShownBy(each, name))) return name
  }
  const ranks = ranked.map(({ rank }) => rank)
  return CLASSES[largest(ranks, 0)]!
}

/** What is wrong with the name of a cycle or case split; null if it fits. */
export function misnomer(
  history: History,
  name: AnomalyName,
  edges: readonly Edge[],
  cases: readonly Case[],
): string | null {
  const best = nameEvidence(history, edges, cases)
  if (name === best) return null
  const cycles = edges.length > 0 ? [edges] : cyclesOf(cases)
  const fits =
    !CLASSES.includes(name) &&
    !isByPredicate(edges, cases) &&
    cycles.every((cycle) => isShownBy(rankedOf(history, cycle), name))
  return fits ? null : `the evidence shows ${best}, not ${name}`
}
