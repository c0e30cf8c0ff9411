// Whether every name is true of what happened: the claims of docs/anomalies.md once more, from the
// reads and writes of the transactions that an anomaly speaks of and not from its edges, on every
// anomaly that any level finds. Counts how many of each name it has seen:
// npm run fuzz -- --only names --seconds 600

import { Random } from '../../src/base/random.ts'
import { check, checkLevels } from '../../src/check/check.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { comesBefore } from '../../src/history/after.ts'
import { ABORTED, COMMITTED, type History, NONE } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { COMMON_NAMES } from '../../src/levels/anomalies.ts'
import { OWN_LEVELS } from '../../src/levels/levels.ts'
import { foreignVersion, isLastWrite, isWrite } from '../../src/verdict/certify-reads.ts'
import type { Anomaly, LevelResult } from '../../src/verdict/verdict.ts'
import { randomSql, sqlShapeOf } from '../small/random-sql.ts'
import { historyOfSql, renderSql } from '../small/sql-draft.ts'
import { aimedHistory, aimedSql, brokenHistory, MOST_COPIES } from './aimed.ts'
import { anyHistory } from './histories.ts'
import type { Judge, Property } from './property.ts'

/** What somebody read of a key without seeing what another one wrote there. */
interface Miss {
  readonly reader: number
  readonly writer: number
  readonly key: number
}

class Facts {
  constructor(
    readonly history: History,
    readonly anomaly: Anomaly,
  ) {}

  private opsOf(txn: number): number[] {
    const { txnOpStart } = this.history
    const [from, to] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
    return Array.from({ length: to - from }, (_, i) => from + i)
  }

  private readsOf(txn: number): number[] {
    return this.opsOf(txn).filter((op) => foreignVersion(this.history, op) !== NONE)
  }

  private sourceOf(read: number): number {
    const version = foreignVersion(this.history, read)
    return version >= 0 ? this.history.opTxn[version]! : version
  }

  writes(txn: number, key: number): boolean {
    const { history } = this
    return this.opsOf(txn).some((op) => history.opKey[op] === key && isWrite(history, op))
  }

  keysWritten(txn: number): Set<number> {
    const { history } = this
    const writes = this.opsOf(txn).filter((op) => isWrite(history, op))
    return new Set(writes.map((op) => history.opKey[op]!))
  }

  versionsRead(txn: number, key: number): Set<number> {
    const reads = this.readsOf(txn).filter((op) => this.history.opKey[op] === key)
    return new Set(reads.map((op) => foreignVersion(this.history, op)))
  }

  /** Pairs of those involved of whom one read a key from somebody else than the other, a writer. */
  misses(): Miss[] {
    const { txns } = this.anomaly
    return txns.flatMap((reader) =>
      this.readsOf(reader).flatMap((op) => {
        const key = this.history.opKey[op]!
        const missed = txns.filter(
          (txn) => txn !== reader && txn !== this.sourceOf(op) && this.writes(txn, key),
        )
        return missed.map((writer) => ({ reader, writer, key }))
      }),
    )
  }

  readFrom(reader: number, writer: number): boolean {
    return this.readsOf(reader).some((op) => this.sourceOf(op) === writer)
  }

  /** Whether it read from the writer before some read of the key. */
  sawBefore({ reader, writer, key }: Miss): boolean {
    const { history } = this
    const seen = this.readsOf(reader).find((op) => this.sourceOf(op) === writer)
    return (
      seen !== undefined &&
      this.readsOf(reader).some(
        (op) => op > seen && history.opKey[op] === key && this.sourceOf(op) !== writer,
      )
    )
  }

  /** Whether session order and reads lead from one to the other, through those involved. */
  causes(from: number, to: number): boolean {
    const reached = new Set([from])
    for (const at of reached) {
      for (const next of this.anomaly.txns) {
        if (comesBefore(this.history, at, next) || this.readFrom(next, at)) reached.add(next)
      }
    }
    return from !== to && reached.has(to)
  }

  /** The same with the clock, and with orders of versions that were shown. */
  leads(from: number, to: number): boolean {
    const { txnStartTime: start, txnFinishTime: finish, txnStatus } = this.history
    const reached = new Set([from])
    for (const at of reached) {
      for (const next of this.anomaly.txns) {
        const isEarlier = txnStatus[at] === COMMITTED && finish![at]! < start![next]!
        const isSeen = comesBefore(this.history, at, next) || this.readFrom(next, at)
        const isReplaced = this.anomaly.edges.some(
          ({ kind, from: first, to: second }) => kind === 'WW' && first === at && second === next,
        )
        if (isEarlier || isSeen || isReplaced) reached.add(next)
      }
    }
    return from !== to && reached.has(to)
  }

  count(kind: string): number {
    return this.anomaly.edges.filter((edge) => edge.kind === kind).length
  }
}

type Claim = (facts: Facts) => boolean

const some =
  (holds: (facts: Facts, miss: Miss) => boolean): Claim =>
  (facts) =>
    facts.misses().some((miss) => holds(facts, miss))

/** A claim about the read that the anomaly names. */
const read =
  (holds: (history: History, op: number, write: number) => boolean): Claim =>
  ({ history, anomaly }) => {
    const op = anomaly.ops[0]!
    return holds(history, op, history.readFrom[op] ?? NONE)
  }

const isOwn = ({ opTxn }: History, op: number, write: number) =>
  write >= 0 && opTxn[write] === opTxn[op]

/** Orders that reads force together: each follows from a read of whoever comes second. */
const isForced: Claim = (facts) =>
  facts.count('CO') > 0 &&
  facts.count('RW') === 0 &&
  facts.anomaly.edges.every(({ kind, from, to, key }) => {
    if (kind === 'SO') return comesBefore(facts.history, from, to)
    if (kind === 'WR') return facts.readFrom(to, from)
    return facts.writes(from, key) && (to < 0 || facts.writes(to, key))
  })

/** Claims that lists are held to as well. */
const CYCLES: Readonly<Record<string, Claim>> = {
  LostUpdate: (facts) => {
    const [first, second] = facts.anomaly.edges
    if (!first || !second) return false
    const { from: a, to: b, key } = first
    const blind = [first, second].filter(({ kind }) => kind === 'RW')
    return (
      facts.writes(a, key) &&
      facts.writes(b, key) &&
      blind.length > 0 &&
      blind.every(({ from }) => facts.versionsRead(from, key).size === 1)
    )
  },
  WriteSkew: (facts) => {
    const [a, b] = facts.anomaly.edges.map(({ from }) => from) as [number, number]
    const misses = facts.misses()
    const missed = (reader: number, writer: number) =>
      misses.some((miss) => miss.reader === reader && miss.writer === writer)
    const isApart = ![...facts.keysWritten(a)].some((key) => facts.writes(b, key))
    return missed(a, b) && missed(b, a) && isApart
  },
  LongFork: (facts) => new Set(facts.misses().map(({ reader }) => reader)).size > 1,
  ReadOnlyAnomaly: (facts) => facts.anomaly.txns.some((txn) => facts.keysWritten(txn).size === 0),
  CircularInformationFlow: (facts) =>
    facts.anomaly.edges.every(({ from, to, kind }) =>
      kind === 'SO' ? comesBefore(facts.history, from, to) : facts.readFrom(to, from),
    ),
  NonMonotonicRead: some((facts, miss) => facts.sawBefore(miss)),
  FracturedRead: some(
    (facts, { reader, writer }) =>
      facts.readFrom(reader, writer) || comesBefore(facts.history, writer, reader),
  ),
  SessionGuaranteeViolation: some((facts, { reader, writer }) => facts.causes(writer, reader)),
  CausalityViolation: some((facts, { reader, writer }) => facts.causes(writer, reader)),
  ReadYourWritesViolation: some(({ history }, { reader, writer }) =>
    comesBefore(history, writer, reader),
  ),
  MonotonicReadsViolation: some((facts, { reader, writer }) =>
    facts.anomaly.txns.some(
      (t) => facts.readFrom(t, writer) && comesBefore(facts.history, t, reader),
    ),
  ),
  MonotonicWritesViolation: some((facts, { reader, writer }) =>
    facts.anomaly.txns.some(
      (t) => facts.readFrom(reader, t) && comesBefore(facts.history, writer, t),
    ),
  ),
  WritesFollowReadsViolation: some(
    (facts, { reader, writer }) =>
      facts.causes(writer, reader) && facts.anomaly.txns.some((t) => facts.readFrom(t, writer)),
  ),
  StaleRead: some((facts, { reader, writer }) => facts.leads(writer, reader)),
  G0: (facts) => facts.count('RW') + facts.count('CO') + facts.count('WR') === 0,
  G1c: (facts) => facts.count('RW') + facts.count('CO') === 0 && facts.count('WR') > 0,
  NonMonoReadCM: isForced,
  FracturedReadCM: isForced,
  ConflictCM: isForced,
  'G-single': (facts) => facts.anomaly.cases.length > 0 || facts.count('RW') <= 1,
  'G-nonadjacent': (facts) => facts.anomaly.cases.length > 0 || facts.misses().length > 0,
  'G2-item': (facts) => facts.anomaly.cases.length > 0 || facts.misses().length > 0,
}

/** Whether a commit was over when the other transaction began. */
function isAcknowledged(history: History, writer: number, reader: number): boolean {
  const { txnStatus, txnStartTime: start, txnFinishTime: finish } = history
  const isEarlier = start !== null && finish![writer]! < start[reader]!
  return txnStatus[writer] === COMMITTED && (isEarlier || comesBefore(history, writer, reader))
}

/** Claims about reads of registers. */
const READS: Readonly<Record<string, Claim>> = {
  ThinAirRead: read((_, __, write) => write === NONE),
  AbortedRead: read(({ txnStatus, opTxn }, _, w) => w >= 0 && txnStatus[opTxn[w]!] === ABORTED),
  FutureRead: read((history, op, write) => isOwn(history, op, write) && write > op),
  NotMyLastWrite: read((history, op, write) => isOwn(history, op, write) && write < op),
  NotMyOwnWrite: read((history, op, write) => !isOwn(history, op, write)),
  IntermediateRead: read(
    (history, op, write) => !isOwn(history, op, write) && !isLastWrite(history, write),
  ),
  WrongVersion: read(({ versions }, op, write) => {
    const { opVersion } = versions!
    return opVersion[op] !== opVersion[write]
  }),
  LostCommit: ({ history, anomaly }) => {
    const { opKey, opTxn, readFrom, txnAudit } = history
    const [read, write] = anomaly.ops as [number, number]
    return (
      txnAudit![opTxn[read]!] === 1 &&
      readFrom[read] !== write &&
      opKey[read] === opKey[write] &&
      isAcknowledged(history, opTxn[write]!, opTxn[read]!)
    )
  },
  NonRepeatableRead: ({ history, anomaly: { ops } }) => {
    const [a, b] = ops as [number, number]
    const source = (op: number) => history.readTxn[op]
    return history.opKey[a] === history.opKey[b] && source(a) !== source(b)
  },
}

/** The values of a list that a read returned, as numbers of the history. */
function elementsOf({ opValue, listStart, listFrom }: History, read: number): number[] {
  const list = opValue[read]!
  return [...listFrom.subarray(listStart[list]!, listStart[list + 1]!)]
}

/** Claims about reads of lists. */
const LISTS: Readonly<Record<string, Claim>> = {
  DuplicateElements: ({ history, anomaly: { ops } }) => {
    const elements = elementsOf(history, ops[0]!)
    return new Set(elements).size < elements.length
  },
  IncompatibleOrder: ({ history, anomaly: { ops } }) => {
    const [a, b] = ops.map((op) => elementsOf(history, op)) as [number[], number[]]
    const common = a.findIndex((element, i) => element !== b[i])
    return common >= 0 && common < b.length
  },
}

/** What the certifier alone verifies: claims about clauses, missing rows and audits. */
const CERTIFIED: ReadonlySet<string> = new Set([
  'PredicateMismatch',
  'Phantom',
  'PredicateWriteSkew',
  'DuplicateRow',
  'VanishedRow',
  'LostCommit',
])

const seen = new Map<string, number>()

function untrue(history: History, anomalies: readonly Anomaly[]): string | null {
  const isPlain = history.listStart.length <= 1 && history.sql === null
  for (const anomaly of anomalies) {
    const { name } = anomaly
    const common = COMMON_NAMES.get(name) ?? name // patterns claim what their common names do
    const claim = CYCLES[common] ?? LISTS[name] ?? (isPlain ? READS[name] : undefined)
    if (claim === undefined && !CERTIFIED.has(name)) continue
    if (claim && !claim(new Facts(history, anomaly))) return `${name} is not what happened`
    seen.set(anomaly.name, (seen.get(anomaly.name) ?? 0) + 1)
  }
  return null
}

function tellsTheTruth(seed: number, judge: Judge): string | null {
  const random = new Random(seed)
  const all = { all: true, limit: MOST_COPIES }
  if (random.chance(0.15)) {
    const isMismatched = random.chance(0.5) // rows against their clauses are rare otherwise
    const draft = randomSql(seed, sqlShapeOf(seed, isMismatched ? { wrong: 0.3 } : {}))
    const history = historyOfSql(draft)
    const wrong = untrueOf(history, checkMixed(history, null, all))
    return wrong && `${wrong}\n${renderSql(draft)}`
  }
  if (random.chance(0.2)) {
    const history = aimedSql(seed)
    const wrong = untrueOf(history, checkMixed(history, SQL_LEVELS, all))
    return wrong && `${wrong}\naimedSql(${seed})`
  }
  // Weak levels and patterns cost little.
  if (random.chance(0.4)) {
    const history = aimedHistory(seed, true)
    const patterns = check(history, 'cc', { ...all, byPattern: true })
    const wrong = untrueOf(history, [...checkLevels(history, WEAK, all), patterns])
    return wrong && `${wrong}\n${renderNotation(history)}`
  }
  // Every other seed aims at what the others seldom show.
  const isAimed = seed % 2 === 0
  const isBroken = random.chance(0.2)
  const aimed = () => (isBroken ? brokenHistory(seed) : aimedHistory(seed))
  const history = isAimed ? aimed() : anyHistory(seed)
  const wrong = untrueOf(history, judge(history, isAimed ? all : {}))
  return wrong && `${wrong}\n${renderNotation(history)}`
}

const WEAK = ['rc', 'ryw', 'mr', 'mw', 'wfr', 'cc'] as const
const SQL_LEVELS = OWN_LEVELS.map((level) => ({ level }))

function untrueOf(history: History, results: readonly LevelResult[]): string | null {
  for (const { level, anomalies, verdict, certificate } of results) {
    if (verdict !== 'unknown' && !certificate?.verified) return `${level}: is not verified`
    const wrong = untrue(history, anomalies)
    if (wrong) return `${level}: ${wrong}`
  }
  return null
}

export const NAMES: Property = {
  name: 'names',
  run: tellsTheTruth,
  told: () =>
    [...seen]
      .toSorted((a, b) => a[1] - b[1])
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
}
