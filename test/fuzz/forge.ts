// Forged verdicts: a true one with one to three things changed, anywhere in it, or grafted onto it
// from another verdict, another history, or from edges that are true by themselves. Whatever the
// certifier accepts of these must be so. Main function: forge.

import type { Random } from '../../src/base/random.ts'
import { APPEND, type History, NONE, READ, READ_LIST, WRITE } from '../../src/history/history.ts'
import { ANOMALIES } from '../../src/levels/anomalies.ts'
import { LEVELS, WITHOUT_TIMES } from '../../src/levels/levels.ts'
import { offenceOf } from '../../src/verdict/certify-reads.ts'
import {
  type Anomaly,
  type Case,
  type Edge,
  findEdges,
  INITIAL_TXN,
  type LevelResult,
  type Proof,
} from '../../src/verdict/verdict.ts'
import { afterInitial, assumed, replaced, rt, rw, so, wr, ww } from '../verdict/edges.ts'

const TIMED_LEVELS = LEVELS.filter(({ id }) => WITHOUT_TIMES[id] !== undefined)

function isTimed({ anomalies }: LevelResult): boolean {
  return anomalies.some(({ edges, cases }) =>
    [...findEdges(edges, cases)].some(({ kind }) => kind === 'RT'),
  )
}

const KINDS = ['SO', 'WR', 'WW', 'RW', 'RT', 'CO'] as const

/** @param pool true verdicts on this history and on others */
export function forge(random: Random, history: History, pool: readonly LevelResult[]): LevelResult {
  const result = structuredClone(random.pick(pool))
  const forger = new Forger(random, history, pool)
  for (let left = random.pick([1, 1, 1, 2, 2, 3]); left > 0; left--) forger.change(result)
  return result
}

class Forger {
  constructor(
    private readonly random: Random,
    private readonly history: History,
    private readonly pool: readonly LevelResult[],
  ) {}

  change(result: LevelResult): void {
    const { random } = this
    switch (random.below(result.verdict === 'violated' ? 10 : 7)) {
      case 0:
        result.level = random.pick(LEVELS).id
        break
      case 1:
        // Evidence that rests on times is soon refused at levels that have none.
        result.level = random.pick(isTimed(result) ? TIMED_LEVELS : LEVELS).id
        break
      case 2:
        if (result.sessionOrder === false) delete result.sessionOrder
        else result.sessionOrder = false
        break
      case 3:
        this.turn(result)
        break
      case 4:
        if (result.abortedReads === 'ignore') delete result.abortedReads
        else result.abortedReads = 'ignore'
        break
      case 5:
        if (result.proof) this.changeProof(result.proof)
        else result.anomalies.push(structuredClone(this.anyAnomaly()))
        break
      case 6:
        if (result.realTime) delete result.realTime
        else result.realTime = true
        break
      default:
        if (result.anomalies.length > 0) this.changeAnomaly(random.pick(result.anomalies))
    }
  }

  /** The opposite verdict, mostly with evidence of the right kind. */
  private turn(result: LevelResult): void {
    const { random, pool } = this
    if (result.verdict === 'violated') {
      const proofs = pool.map(({ proof }) => proof).filter((proof) => proof !== null)
      result.verdict = 'satisfied'
      result.proof = proofs.length > 0 ? structuredClone(random.pick(proofs)) : null
      if (random.chance(0.9)) result.anomalies = []
      return
    }
    result.verdict = 'violated'
    if (random.chance(0.9)) result.proof = null
    const made = random.below(3)
    if (made === 0) result.anomalies = [this.makeOffence()]
    else result.anomalies = [structuredClone(this.anyAnomaly())]
    if (made === 2) {
      Object.assign(result.anomalies[0]!, { edges: this.makeCycle(), cases: [], ops: [] })
      this.relabel(result.anomalies[0]!)
    }
  }

  private changeProof(proof: Proof): void {
    const { random } = this
    if (proof.kind === 'none') return
    const order = proof.kind === 'snapshots' ? proof.events : proof.order
    if (order.length > 0) {
      const [a, b] = [random.below(order.length), random.below(order.length)]
      if (random.chance(0.8)) [order[a], order[b]] = [order[b]!, order[a]!]
      else order[a] = random.below(order.length + 2) - 1
    }
    if (proof.kind !== 'witness' || proof.choices.length === 0) return
    const choices = proof.choices.slice()
    const at = random.below(choices.length)
    if (random.chance(0.2)) choices.splice(at, 1)
    else choices[at] = { ...choices[at]!, txn: this.anyTxn() }
    Object.assign(proof, { choices })
  }

  private changeAnomaly(anomaly: Anomaly): void {
    const { random, history } = this
    const edges = [...findEdges(anomaly.edges, anomaly.cases)]
    switch (random.below(10)) {
      case 0:
        anomaly.name = random.pick(ANOMALIES).name as Anomaly['name']
        break
      case 1:
        anomaly.count += random.pick([-1, 1, 2, 1000])
        break
      case 2:
        this.changeList(random.chance(0.7) ? anomaly.txns : anomaly.earlier, () => this.anyTxn())
        break
      case 3:
        this.changeList(anomaly.ops, () => random.below(history.opCount + 1) - 1)
        break
      case 4:
        if (random.chance(0.5)) Object.assign(anomaly, this.makeOffence())
        else Object.assign(anomaly, structuredClone(this.anyAnomaly()))
        break
      case 5:
        anomaly.edges = this.makeCycle()
        if (random.chance(0.8)) anomaly.cases = []
        this.relabel(anomaly)
        break
      case 6:
        if (anomaly.cases.length > 0) this.changeCases(anomaly.cases)
        else if (random.chance(0.5)) this.changeList(anomaly.edges, () => this.makeEdge())
        else if (anomaly.absence) anomaly.absence.key = random.below(history.keyCount + 1)
        this.relabel(anomaly)
        break
      default:
        if (edges.length > 0) this.changeEdge(random.pick(edges))
        if (random.chance(0.7)) this.relabel(anomaly)
    }
  }

  /** What a careful forger would do: the transactions that the evidence names. */
  private relabel(anomaly: Anomaly): void {
    const txns = new Set<number>()
    for (const { from, to } of findEdges(anomaly.edges, anomaly.cases)) txns.add(from).add(to)
    txns.delete(INITIAL_TXN)
    if (txns.size > 0 && this.random.chance(0.8)) anomaly.txns = [...txns].sort((a, b) => a - b)
  }

  private changeEdge(edge: Edge): void {
    const { random, history } = this
    switch (random.below(8)) {
      case 0:
        edge.from = this.anyTxn()
        break
      case 1:
        edge.to = this.anyTxn()
        break
      case 2:
        edge.kind = random.pick(KINDS)
        break
      case 3:
        edge.key = random.below(history.keyCount + 2) - 1
        break
      case 4:
        this.changeList(edge.ops, () => random.below(history.opCount + 1) - 1)
        break
      case 5:
        this.changeList(edge.premises, () => this.makeEdge())
        break
      case 6:
        if (random.chance(0.5)) edge.assumed = !edge.assumed
        else edge.refutes = !edge.refutes
        break
      default:
        if (edge.event !== undefined && random.chance(0.5)) delete edge.event
        else if (history.sql) edge.event = random.below(history.sql.eventCount + 1)
        else Object.assign(edge, this.makeEdge())
    }
  }

  private changeCases(cases: Case[]): void {
    const { random } = this
    const at = random.below(cases.length)
    const way = random.below(5)
    if (way === 0) cases.splice(at, 1)
    else if (way === 1) cases.push(...cases.splice(at, 1))
    else this.changeCase(cases[at]!)
  }

  private changeCase(one: Case): void {
    const { random } = this
    const [first] = one.assumptions
    switch (random.below(4)) {
      case 0:
        if (first) this.changeEdge(random.pick(one.assumptions))
        break
      case 1:
        one.cycle = random.chance(0.5) ? [] : this.makeCycle()
        break
      case 2:
        this.changeList(one.assumptions, () => this.makeEdge())
        break
      default:
        if (first) [first.from, first.to] = [first.to, first.from]
    }
  }

  /** One element left out, repeated, changed, or put elsewhere. */
  private changeList<T>(list: T[], make: () => T): void {
    const { random } = this
    const at = random.below(list.length + 1)
    if (at === list.length) list.push(make())
    else {
      const way = random.below(3)
      if (way === 0) list.splice(at, 1)
      else if (way === 1) list.push(...list.splice(at, 1))
      else list[at] = make()
    }
  }

  private anyAnomaly(): Anomaly {
    const violated = this.pool.filter(({ anomalies }) => anomalies.length > 0)
    if (violated.length === 0) return { ...NO_ANOMALY, edges: this.makeCycle() }
    return this.random.pick(this.random.pick(violated).anomalies)
  }

  private anyTxn(): number {
    const { random, history } = this
    return random.chance(0.1) ? INITIAL_TXN : random.below(history.txnCount + 1)
  }

  /** A read that is said to offend, or two that are said to contradict each other. */
  private makeOffence(): Anomaly {
    const { random, history } = this
    const { opKey, opTxn, opKind, opValue, readFrom, listStart, listFrom } = history
    const reads = [...this.opsOf(READ), ...this.opsOf(READ_LIST)]
    if (reads.length === 0) return { ...NO_ANOMALY }
    const read = random.pick(reads)
    const pairs = reads.filter((other) => opKey[other] === opKey[read] && other !== read)
    if (pairs.length > 0 && random.chance(0.6)) {
      const ops = [read, random.pick(pairs)].sort((a, b) => a - b)
      if (random.chance(0.2)) ops.reverse()
      const isOne = opTxn[ops[0]!] === opTxn[ops[1]!]
      const sources = isOne ? ops.map((op) => opTxn[readFrom[op]!] ?? NONE) : []
      const txns = new Set([...ops.map((op) => opTxn[op]!), ...sources.filter((txn) => txn >= 0)])
      const name = isOne ? 'NonRepeatableRead' : 'IncompatibleOrder'
      return { ...NO_ANOMALY, name, ops, txns: [...txns] }
    }
    const list = opValue[read]!
    const isList = opKind[read] === READ_LIST
    const shown = isList
      ? listFrom.subarray(listStart[list]!, listStart[list + 1]!)
      : [readFrom[read]!]
    const ops = [read, ...Array.from(shown).filter((write) => write >= 0)]
    const name = (offenceOf(history, read, random.chance(0.7)) ?? 'AbortedRead') as Anomaly['name']
    return { ...NO_ANOMALY, name, ops, txns: [...new Set(ops.map((op) => opTxn[op]!))] }
  }

  /** Edges of which each starts where the one before it ends, back to the first. */
  private makeCycle(): Edge[] {
    const { random } = this
    const cycle: Edge[] = []
    const length = random.pick([2, 2, 2, 3, 3, 4])
    for (let tries = 0; tries < 40 && cycle.length < length; tries++) {
      const edge = this.makeEdge()
      const first = cycle[0]
      if (first && edge.from !== cycle.at(-1)!.to) continue
      if (first && cycle.length === length - 1 && edge.to !== first.from) continue
      cycle.push(edge)
    }
    return cycle
  }

  /** An edge of the right form, mostly a true one. */
  private makeEdge(): Edge {
    const { random, history } = this
    const txn = () => random.below(history.txnCount)
    const reads = this.opsOf(READ)
    const writes = [...this.opsOf(WRITE), ...this.opsOf(APPEND)]
    const kind = random.below(6)
    if (reads.length === 0 || writes.length === 0 || kind === 0) return so(txn(), txn())
    if (kind === 1) return rt(txn(), txn())
    const read = random.pick(reads)
    if (kind === 2) return wr(history, read)
    const version = this.makeVersions(read, writes)
    if (kind === 3) return version
    const missed = rw(history, read, version)
    if (kind === 4) return missed
    const write = random.pick(writes)
    const path = random.chance(0.5)
      ? so(history.opTxn[write]!, history.opTxn[read]!)
      : wr(history, random.pick(reads))
    const seen = wr(history, read)
    const ops = [write, read, ...seen.ops.slice(0, -1)]
    const from = history.opTxn[write]!
    return { from, to: seen.from, kind: 'CO', key: seen.key, ops, premises: [seen, path] }
  }

  private makeVersions(read: number, writes: readonly number[]): Edge {
    const { random, history } = this
    const ofKey = writes.filter((write) => history.opKey[write] === history.opKey[read])
    const second = random.pick(ofKey.length > 0 ? ofKey : writes)
    const first = Math.max(0, history.readFrom[read]!)
    const lists = this.opsOf(READ_LIST)
    switch (random.below(5)) {
      case 0:
        return afterInitial(history, second)
      case 1:
        return replaced(history, read, second)
      case 2:
        return assumed(history, first, second)
      case 3:
        if (lists.length > 0) {
          const shown = ww(history, random.pick(writes), second, { premises: [] })
          shown.ops.push(random.pick(lists))
          return shown
        }
        return ww(history, first, second, { premises: [this.makeShort()] })
      default:
        return ww(history, first, second, {
          premises: [this.makeShort()],
          refutes: random.chance(0.3),
        })
    }
  }

  private makeShort(): Edge {
    const { random, history } = this
    const txn = () => random.below(history.txnCount)
    const reads = this.opsOf(READ)
    return reads.length > 0 && random.chance(0.5)
      ? wr(history, random.pick(reads))
      : so(txn(), txn())
  }

  private opsOf(kind: number): number[] {
    const found: number[] = []
    this.history.opKind.forEach((each, op) => {
      if (each === kind && op < this.history.opCount) found.push(op)
    })
    return found
  }
}

const NO_ANOMALY: Anomaly = {
  name: 'G-single',
  count: 1,
  txns: [],
  earlier: [],
  ops: [],
  edges: [],
  cases: [],
}
