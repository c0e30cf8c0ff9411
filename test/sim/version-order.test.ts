// Strong levels at a size beyond brute force. The simulation knows in which order the versions of a
// key were made, so a level holds if its graph over so, wr, ww, rw (and rt) has no cycle; the forms
// are those of the definitions. Finding a cycle would not prove a violation in general, but strikes
// read before they write, which leaves no other order.

import { describe, expect, test } from 'vitest'
import { ABORTED, APPEND, NONE, WRITE } from '../../src/history/history.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import type { Execution } from '../../src/sim/execution.ts'
import { FAULTS } from '../../src/sim/faults.ts'
import { type SimOptions, simulate } from '../../src/sim/simulate.ts'
import type { WorkloadRequest } from '../../src/workload/parameters.ts'
import { planWorkload } from '../../src/workload/workload.ts'

type Relation = Set<number>[] // txn -> its successors

const STRONG: readonly LevelId[] = ['pc', 'si', 'ser', 'sser']

const SHAPES: WorkloadRequest[] = [
  { shape: 'general', sessions: 6, transactions: 150, ops: 5, keys: 20 },
  { sessions: 6, transactions: 150, keys: 20, shape: 'mini' },
  { sessions: 6, transactions: 150, ops: 4, keys: 5, shape: 'append' },
]

function relationsOf(execution: Execution) {
  const { txnCount, txnStatus, txnOpStart, txnOpCount, opKind, opFrom, opPrev } = execution
  const relation = (): Relation => Array.from({ length: txnCount }, () => new Set<number>())
  const [so, wr, ww, rw, rt] = [relation(), relation(), relation(), relation(), relation()]
  const opTxn = new Int32Array(opKind.length).fill(NONE)
  const committed = Array.from({ length: txnCount }, (_, txn) => txn).filter(
    (txn) => txnStatus[txn] !== ABORTED,
  )
  const opsOf = (txn: number) =>
    Array.from({ length: txnOpCount[txn]! }, (_, i) => txnOpStart[txn]! + i)
  const isWrite = (op: number) => opKind[op] === WRITE || opKind[op] === APPEND
  for (const txn of committed) for (const op of opsOf(txn)) opTxn[op] = txn

  const next = new Int32Array(opKind.length).fill(NONE) // version -> the one after it
  const first = new Map<number, number>() // key -> its first version
  for (const txn of committed) {
    for (const op of opsOf(txn).filter(isWrite)) {
      if (opPrev[op] === NONE) first.set(execution.opKey[op]!, op)
      else next[opPrev[op]!] = op
    }
  }
  /** The first version after this one that another transaction made. */
  const successor = (version: number, key: number) => {
    let after = version === NONE ? (first.get(key) ?? NONE) : next[version]!
    while (version !== NONE && after !== NONE && opTxn[after] === opTxn[version])
      after = next[after]!
    return after
  }
  const last = new Map<number, number>() // session -> its last transaction so far
  for (const txn of committed) {
    const session = execution.txnSession[txn]!
    if (last.has(session)) so[last.get(session)!]!.add(txn)
    last.set(session, txn)
    for (const other of committed) {
      if (execution.txnFinish[txn]! < execution.txnStart[other]!) rt[txn]!.add(other)
    }
    for (const op of opsOf(txn)) {
      const from = isWrite(op) ? op : opFrom[op]!
      const after = successor(from, execution.opKey[op]!)
      if (!isWrite(op) && from !== NONE && opTxn[from] !== txn) wr[opTxn[from]!]!.add(txn)
      if (after !== NONE && opTxn[after] !== txn) (isWrite(op) ? ww : rw)[txn]!.add(opTxn[after]!)
    }
  }
  return { so, wr, ww, rw, rt }
}

const union = (...relations: Relation[]): Relation =>
  relations[0]!.map((_, txn) => new Set(relations.flatMap((relation) => [...relation[txn]!])))

/** first, then perhaps second. */
const then = (first: Relation, second: Relation): Relation =>
  first.map((after) => new Set([...after].flatMap((txn) => [txn, ...second[txn]!])))

function isAcyclic(relation: Relation): boolean {
  const indegree = new Array<number>(relation.length).fill(0)
  for (const after of relation) for (const txn of after) indegree[txn]!++
  const ready = relation.map((_, txn) => txn).filter((txn) => indegree[txn] === 0)
  let count = 0
  for (let txn = ready.pop(); txn !== undefined; txn = ready.pop()) {
    count++
    for (const other of relation[txn]!) if (--indegree[other]! === 0) ready.push(other)
  }
  return count === relation.length
}

function holds(execution: Execution, level: LevelId): boolean {
  const { so, wr, ww, rw, rt } = relationsOf(execution)
  if (level === 'pc') return isAcyclic(union(then(union(so, wr), rw), ww))
  if (level === 'si') return isAcyclic(then(union(so, wr, ww), rw))
  return isAcyclic(level === 'ser' ? union(so, wr, ww, rw) : union(so, wr, ww, rw, rt))
}

const run = (shape: WorkloadRequest, seed: number, options: Partial<SimOptions>) =>
  simulate(planWorkload({ ...shape, seed }), { seed, ...options })

describe('a store of some size', () => {
  for (const level of STRONG) {
    test(`keeps ${level} and no stronger level`, () => {
      for (const shape of SHAPES) {
        const stronger = STRONG[STRONG.indexOf(level) + 1]
        let apart = 0
        for (let seed = 0; seed < 10; seed++) {
          const execution = run(shape, seed, { level, conflicts: seed % 2 ? 'abort' : 'retry' })
          expect([shape.shape, seed, holds(execution, level)]).toEqual([shape.shape, seed, true])
          if (stronger && !holds(execution, stronger)) apart++
        }
        if (stronger) expect(apart).toBeGreaterThan(0)
      }
    })
  }
})

describe('faults in a store of some size', () => {
  for (const fault of FAULTS.filter(({ forbiddenFrom }) => STRONG.includes(forbiddenFrom))) {
    test(`${fault.name} breaks ${fault.forbiddenFrom} and stronger levels only`, () => {
      for (const shape of SHAPES) {
        for (const level of STRONG) {
          for (let seed = 0; seed < 4; seed++) {
            const execution = run(shape, seed, { level, faults: [{ fault, count: 4 }] })
            for (const judged of STRONG) {
              const forbidden = CHAIN.indexOf(judged) >= CHAIN.indexOf(fault.forbiddenFrom)
              if (!forbidden && CHAIN.indexOf(level) < CHAIN.indexOf(judged)) continue
              const found = holds(execution, judged)
              expect([shape.shape, level, seed, judged, found]).toEqual([
                shape.shape,
                level,
                seed,
                judged,
                !forbidden,
              ])
            }
          }
        }
      }
    })
  }
})
