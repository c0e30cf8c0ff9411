// From names to numbers: the verdicts of a file as verdicts on a history, in its dense numbering,
// so that they can be verified, shrunk or told anew. Shapes were checked when the file was read;
// here every name is looked up, and whatever the history does not have is turned away. Nothing is
// believed: what is true is for certify.ts to say. Main function: resolveResults.

import { InputError } from '../base/errors.ts'
import { type History, INITIAL, NONE } from '../history/history.ts'
import { showValue } from '../history/initial.ts'
import type { Value } from '../history/values.ts'
import type { Source } from '../history/writers.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { countHistory } from './count-history.ts'
import {
  type Anomaly,
  type Edge,
  findEdges,
  INITIAL_TXN,
  type LevelResult,
  type Proof,
} from './verdict.ts'
import type {
  AnomalyJson,
  EdgeJson,
  PassedJson,
  PlaceJson,
  ProofJson,
  ResultJson,
  SourceJson,
  VerdictJson,
} from './verdict-file.ts'

/** The verdicts of the file, in its order. Throws InputError if it is about another history. */
export function resolveResults(history: History, file: VerdictJson): LevelResult[] {
  checkCounts(history, file)
  if (file.results.length === 0) throw bad('it holds no verdict')
  const resolver = new Resolver(history, file)
  return file.results.map((result) => resolver.result(result))
}

/** Throws InputError if the file is plainly about another history. */
export function checkCounts(history: History, file: VerdictJson): void {
  for (const [name, count] of Object.entries(countHistory(history))) {
    const found = file.history[name as keyof typeof file.history]
    if (found === count) continue
    throw bad(`it is for another history (${name}: ${found} instead of ${count})`)
  }
}

class Resolver {
  private readonly txns: ReadonlyMap<string, number>
  private readonly keys: ReadonlyMap<Value, number>
  private readonly proofs: (Proof | null)[] = [] // of the results so far

  constructor(
    private readonly history: History,
    { transactions, results }: VerdictJson,
  ) {
    const names = transactions.map(({ id }) => id)
    this.txns = findTxns(history, names)
    this.keys = findKeys(history, results)
  }

  result(result: ResultJson): LevelResult {
    const { level, sessionOrder, realTime, bound, abortedReads, verdict, reason } = result
    const { impliedBy, algorithm, elapsedMs, stages, certificate, sources, staleness } = result
    const proof = result.proof && this.proof(result.proof)
    this.proofs.push(proof)
    return {
      level,
      ...(sessionOrder === false ? { sessionOrder } : {}),
      ...(realTime ? { realTime } : {}),
      ...(bound === undefined ? {} : { bound }),
      ...(abortedReads ? { abortedReads } : {}),
      verdict,
      reason,
      impliedBy,
      algorithm,
      elapsedMs,
      stages,
      anomalies: result.anomalies.map((anomaly) => this.anomaly(anomaly)),
      proof,
      ...(sources ? { sources: sources.map((source) => this.source(source)) } : {}),
      ...(staleness ? { staleness } : {}),
      certificate,
    }
  }

  private source([reader, read, writer, write]: SourceJson): Source {
    const source = this.opAt(reader, read)
    return { read: source, write: writer === null ? INITIAL : this.opAt(writer, write!) }
  }

  private opAt(txn: number, index: number): number {
    const op = this.history.txnOpStart[this.position(txn)]! + index
    if (op < this.history.txnOpStart[txn + 1]!) return op
    throw bad(`transaction ${this.history.txnName(txn)} has no operation ${index}`)
  }

  private proof({ kind, order, choices, sameAs }: ProofJson): Proof {
    if (sameAs !== undefined) {
      const same = this.proofs[sameAs]
      if (same?.kind === kind && order === undefined && choices === undefined) return same
      throw bad(`results[${sameAs}] has no proof of kind ${kind} to share`)
    }
    if ((order === undefined) !== (kind === 'none') || (kind === 'witness') !== !!choices) {
      throw bad(`a proof of kind ${kind} has other parts`)
    }
    if (kind === 'none' || !order) return { kind: 'none' }
    const limit = kind === 'snapshots' ? 2 * this.history.txnCount : this.history.txnCount
    const beyond = order.find((entry) => entry >= limit)
    if (beyond !== undefined) throw bad(`the order has ${beyond}, which is no transaction`)
    const numbers = Int32Array.from(order)
    if (kind === 'commit-order') return { kind, order: numbers }
    if (kind === 'snapshots') return { kind, events: numbers }
    const resolved = choices!.map(([reader, statement, row, writer]) => ({
      event: this.event(reader, statement),
      key: this.key(row),
      txn: writer === null ? INITIAL_TXN : this.position(writer),
    }))
    return { kind, order: numbers, choices: resolved }
  }

  private anomaly(anomaly: AnomalyJson): Anomaly {
    const kind = findAnomaly(anomaly.name)
    if (!kind) throw bad(`unknown anomaly ${JSON.stringify(anomaly.name)}`)
    const { count, transactions, earlier, ops, edges, cases, absence, given } = anomaly
    const resolved: Anomaly = {
      name: kind.name as Anomaly['name'],
      count,
      txns: transactions.map((name) => this.txn(name)),
      earlier: earlier.map((name) => this.txn(name)),
      ops: ops.map((place) => this.op(place)),
      edges: this.edges(edges),
      cases: cases.map(({ assumptions, cycle }) => ({
        assumptions: this.edges(assumptions),
        cycle: this.edges(cycle),
      })),
    }
    const source = ({ read, write }: NonNullable<AnomalyJson['given']>[number]) => {
      return { read: this.op(read), write: write === null ? INITIAL : this.op(write) }
    }
    if (given) resolved.given = given.map(source)
    if (absence) resolved.absence = { event: this.passed(absence), key: this.key(absence.key) }
    return resolved
  }

  /** Edges may rest on others as deep as a file likes. */
  private edges(edges: readonly EdgeJson[]): Edge[] {
    const resolved: Edge[] = []
    const pending: [edge: EdgeJson, into: Edge[]][] = edges.map((edge) => [edge, resolved])
    for (const [edge, into] of pending) {
      const made = this.edge(edge)
      into.push(made)
      for (const premise of edge.premises) pending.push([premise, made.premises])
    }
    return resolved
  }

  private edge({ from, to, kind, key, ops, refutes, assumed, passed }: EdgeJson): Edge {
    const edge: Edge = {
      from: from === null ? INITIAL_TXN : this.txn(from),
      to: to === null ? INITIAL_TXN : this.txn(to),
      kind,
      key: key === null ? NONE : this.key(key),
      ops: ops.map((place) => this.op(place)),
      premises: [],
    }
    if (refutes) edge.refutes = true
    if (assumed) edge.assumed = true
    if (passed) edge.event = this.passed(passed)
    return edge
  }

  private txn(name: string): number {
    const txn = this.txns.get(name)
    if (txn === undefined) throw bad(`its transactions are without ${JSON.stringify(name)}`)
    return txn
  }

  private position(at: number): number {
    if (at < this.history.txnCount) return at
    throw bad(`${at} is no transaction of the history`)
  }

  private key(name: Value): number {
    const key = this.keys.get(name)
    if (key === undefined) throw bad(`the history has no key ${showValue(name)}`)
    return key
  }

  private op({ transaction, index }: PlaceJson): number {
    const txn = this.txn(transaction)
    const op = this.history.txnOpStart[txn]! + index
    if (op < this.history.txnOpStart[txn + 1]!) return op
    throw bad(`transaction ${JSON.stringify(transaction)} has no operation ${index}`)
  }

  private passed({ transaction, statement }: PassedJson): number {
    return this.event(this.txn(transaction), statement)
  }

  private event(txn: number, statement: number): number {
    const { sql } = this.history
    if (sql === null) throw bad('it speaks of statements, and the history has none')
    const event = sql.txnEventStart[this.position(txn)]! + statement
    if (event < sql.txnEventStart[txn + 1]!) return event
    throw bad(`transaction ${this.history.txnName(txn)} has no statement ${statement}`)
  }
}

/** The transactions of those names; only these, of histories of millions. */
function findTxns(history: History, names: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  const wanted = new Set(names)
  if (wanted.size === 0) return found
  for (let txn = 0; txn < history.txnCount; txn++) {
    const name = history.txnName(txn)
    if (!wanted.has(name)) continue
    if (found.has(name)) throw bad(`two transactions of the history are ${JSON.stringify(name)}`)
    found.set(name, txn)
  }
  for (const name of names) {
    if (!found.has(name)) throw bad(`the history has no transaction ${JSON.stringify(name)}`)
  }
  return found
}

/** The keys that the evidence speaks of, by name. */
function findKeys(history: History, results: readonly ResultJson[]): Map<Value, number> {
  const wanted = new Set<Value>()
  for (const { anomalies, proof } of results) {
    for (const [, , row] of proof?.choices ?? []) wanted.add(row)
    for (const anomaly of anomalies) {
      for (const { key } of findEdges(anomaly.edges, anomaly.cases)) wanted.add(key)
      if (anomaly.absence) wanted.add(anomaly.absence.key)
    }
  }
  const keys = new Map<Value, number>()
  for (let key = 0; wanted.size > 0 && key < history.keyCount; key++) {
    const name = history.keyName(key)
    if (wanted.has(name)) keys.set(name, key)
  }
  return keys
}

function bad(message: string): InputError {
  return new InputError('bad-verdict', `the verdict cannot be used: ${message}`)
}
