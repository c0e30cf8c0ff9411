// Evidence as the verdict file has it: names instead of numbers, a sentence for every edge. The
// transactions that it speaks of are told once for all anomalies, however many speak of them. Main
// class: EvidenceDescriber.

import { Deadline } from '../base/deadline.ts'
import { obtain } from '../base/maps.ts'
import { afterAmong } from '../history/after-as-reads.ts'
import { type History, INITIAL, listsOf, NONE, READ, WRITE } from '../history/history.ts'
import { assume, type Source } from '../history/writers.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { adyaNames } from '../verdict/adya.ts'
import { patternOf } from '../verdict/anomaly-rules.ts'
import { type Anomaly, type Edge, findEdges, INITIAL_TXN } from '../verdict/verdict.ts'
import type {
  AnomalyJson,
  EdgeJson,
  GivenJson,
  PassedJson,
  PlaceJson,
  VerdictJson,
} from '../verdict/verdict-file.ts'
import { describeTxn } from './describe-txn.ts'
import { describePassed, describeTables, findDeleted } from './sql-json.ts'
import { timeToTell } from './told.ts'
import { because, headCase, sourceWords, tellOffence } from './words.ts'

/** Elements of a list whose writers belong to an example. */
const MAX_WRITERS = 16

export class EvidenceDescriber {
  private history: History // as the anomaly sees it that is described
  private readonly told = new Map<readonly Anomaly[], AnomalyJson[]>()
  private readonly txns = new Set<number>() // that some evidence names
  private readonly keys = new Set<number>() // that some evidence names
  private lazyWriters: ReadonlyMap<number, ReadonlySet<number>> | null = null

  constructor(
    private readonly recorded: History,
    private readonly deadline: Deadline = Deadline.none(),
  ) {
    this.history = recorded
  }

  /** Levels that are settled by another one share its anomalies. */
  describe(anomalies: readonly Anomaly[]): AnomalyJson[] {
    const known = this.told.get(anomalies) ?? this.describeAll(anomalies)
    this.told.set(anomalies, known)
    return known
  }

  /** The transactions that were spoken of so far, and their tables. */
  mentioned(): Pick<VerdictJson, 'transactions' | 'tables'> {
    const { recorded: history } = this
    const txns = this.mentionedTxns()
    const transactions = txns.map((txn) => describeTxn(history, txn))
    if (history.sql === null) return { transactions }
    return { transactions, tables: describeTables(history, history.sql, txns, this.keys) }
  }

  /** In the order of the input. */
  mentionedTxns(): number[] {
    return [...this.txns].sort((a, b) => a - b)
  }

  private describeAll(anomalies: readonly Anomaly[]): AnomalyJson[] {
    const isTold = timeToTell(this.deadline)
    const lastOf = new Map<string, AnomalyJson>() // name -> the last one told
    const all: AnomalyJson[] = []
    for (const anomaly of anomalies) {
      if (!isTold(anomaly)) {
        lastOf.get(anomaly.name)!.count += anomaly.count
        continue
      }
      const described = this.anomaly(anomaly)
      lastOf.set(anomaly.name, described)
      all.push(described)
    }
    return all
  }

  private anomaly(anomaly: Anomaly): AnomalyJson {
    const { given } = anomaly
    this.history = given ? assume(this.recorded, given) : this.recorded
    const { history } = this
    const kind = findAnomaly(anomaly.name)
    const names = (txns: readonly number[]) => txns.map((txn) => history.txnName(txn))
    const keys = findKeys(history, anomaly)
    const core = findCore(history, anomaly, keys)
    for (const txn of core) this.txns.add(txn)
    for (const key of keys) this.keys.add(key)
    const after = [...afterAmong(history, core)].map(([txn, others]) => [
      history.txnName(txn),
      names(others),
    ])
    return {
      name: anomaly.name,
      tap: kind?.tap ?? patternLetter(history, anomaly),
      adya: adyaNames(history, anomaly)[0] ?? null,
      meaning: kind?.meaning ?? null,
      count: anomaly.count,
      transactions: names(anomaly.txns),
      earlier: names(anomaly.earlier),
      story: tellOffence(history, anomaly),
      ops: anomaly.ops.map((op) => this.place(op)),
      core: names(core),
      ...(after.length > 0 ? { after: Object.fromEntries(after) } : {}),
      edges: this.edges(anomaly.edges),
      cases: anomaly.cases.map((branch) => ({
        heading: headCase(history, branch),
        assumptions: this.edges(branch.assumptions),
        cycle: this.edges(branch.cycle),
      })),
      ...(given ? { given: given.map((source) => this.given(source)) } : {}),
      ...(history.sql ? { shared: this.shared(core, keys) } : {}),
      ...this.absence(anomaly),
    }
  }

  private given(source: Source): GivenJson {
    const { read, write } = source
    const says = sourceWords(this.history, source)
    return { read: this.place(read), write: write >= 0 ? this.place(write) : null, says }
  }

  /** The row that should have been returned. */
  private absence({ absence, ops }: Anomaly): Pick<AnomalyJson, 'absence'> {
    if (!absence) return {}
    return { absence: this.passed(absence.event, absence.key, ops[0] ?? INITIAL) }
  }

  private passed(event: number, key: number, write: number): PassedJson {
    return describePassed(this.history, event, key, write)
  }

  /** Edges rest on others, to any depth. */
  private edges(edges: readonly Edge[]): EdgeJson[] {
    const described: EdgeJson[] = []
    const pending: [edge: Edge, into: EdgeJson[]][] = edges.map((edge) => [edge, described])
    for (const [edge, into] of pending) {
      const told = this.edge(edge)
      into.push(told)
      for (const premise of edge.premises) pending.push([premise, told.premises])
    }
    return described
  }

  private edge(edge: Edge): EdgeJson {
    const { history } = this
    const name = (txn: number) => (txn === INITIAL_TXN ? null : history.txnName(txn))
    return {
      from: name(edge.from),
      to: name(edge.to),
      kind: edge.kind,
      key: edge.key === NONE ? null : history.keyName(edge.key),
      ops: edge.ops.filter((op) => op !== NONE).map((op) => this.place(op)),
      because: because(history, edge),
      premises: [],
      ...(edge.refutes ? { refutes: true } : {}),
      ...(edge.assumed ? { assumed: true } : {}),
      ...(edge.event === undefined
        ? {}
        : { passed: this.passed(edge.event, edge.key, edge.ops[0] ?? INITIAL) }),
    }
  }

  /** An operation by its transaction and its position in it. */
  private place(op: number): PlaceJson {
    const { history } = this
    const txn = history.opTxn[op]!
    return { transaction: history.txnName(txn), index: op - history.txnOpStart[txn]! }
  }

  /**
   * Rows that others than the core write, of those that the evidence speaks of or that several of
   * the core write.
   */
  private shared(core: readonly number[], spokenOf: ReadonlySet<number>): string[] {
    const { history } = this
    const { opKind, opKey, txnOpStart } = history
    const keys = new Set(spokenOf)
    const writer = new Map<number, number>()
    for (const txn of core) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opKind[op] !== WRITE) continue
        const key = opKey[op]!
        if ((writer.get(key) ?? txn) !== txn) keys.add(key)
        writer.set(key, txn)
      }
    }
    const [writers, known] = [this.writers(), new Set(core)]
    const isShared = (key: number) => {
      for (const txn of writers.get(key) ?? []) if (!known.has(txn)) return true
      return false
    }
    return [...keys]
      .sort((a, b) => a - b)
      .filter(isShared)
      .map((key) => String(history.keyName(key)))
  }

  /** key -> those who write it. */
  private writers(): ReadonlyMap<number, ReadonlySet<number>> {
    if (this.lazyWriters) return this.lazyWriters
    const { opKind, opKey, opTxn, opCount } = this.history
    const writers = new Map<number, Set<number>>()
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] === WRITE) obtain(writers, opKey[op]!, () => new Set()).add(opTxn[op]!)
    }
    this.lazyWriters = writers
    return writers
  }
}

/** Every transaction that the evidence names, those of its operations too, in input order. */
function findCore(history: History, anomaly: Anomaly, keys: ReadonlySet<number>): number[] {
  const found = new Set([...anomaly.txns, ...anomaly.earlier])
  for (const op of anomaly.ops) {
    found.add(history.opTxn[op]!)
    for (const txn of findWriters(history, op)) found.add(txn)
  }
  for (const { from, to, ops } of findEdges(anomaly.edges, anomaly.cases)) {
    found.add(from).add(to)
    for (const op of ops) if (op !== NONE) found.add(history.opTxn[op]!)
  }
  for (const { read, write } of anomaly.given ?? []) {
    found.add(history.opTxn[read]!)
    if (write >= 0) found.add(history.opTxn[write]!)
  }
  found.delete(INITIAL_TXN)
  if (history.sql) for (const txn of findDeleted(history, found, keys)) found.add(txn)
  return [...found].sort((a, b) => a - b)
}

/** The transactions that wrote what a read returned; of a long list none, it has too many. */
function findWriters(history: History, op: number): number[] {
  const writes: number[] = []
  if (history.opKind[op] === READ) writes.push(history.readFrom[op]!)
  for (const list of Array.from(listsOf(history, op))) {
    const [from, to] = [history.listStart[list]!, history.listStart[list + 1]!]
    if (to - from <= MAX_WRITERS) writes.push(...history.listFrom.subarray(from, to))
  }
  return writes.filter((write) => write >= 0).map((write) => history.opTxn[write]!)
}

/** The keys that the evidence speaks of. */
function findKeys(history: History, { absence, edges, cases, ops }: Anomaly): Set<number> {
  const keys = new Set(ops.map((op) => history.opKey[op]!))
  for (const { key } of findEdges(edges, cases)) keys.add(key)
  if (absence) keys.add(absence.key)
  keys.delete(NONE)
  return keys
}

/** The letter of Plume's pattern that a cycle under a common name shows. */
function patternLetter(history: History, { edges }: Anomaly): string | null {
  const pattern = patternOf(history, edges)
  return pattern === null ? null : (findAnomaly(pattern)?.tap ?? null)
}
