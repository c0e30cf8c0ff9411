// The groups that can have cycles, held to the graphs of the levels: whoever is on a cycle there is
// in one group with the others of that cycle.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { check } from '../../../src/check/check.ts'
import { findCyclicGroups } from '../../../src/check/phenomena/cyclic-groups.ts'
import { Dependencies } from '../../../src/check/phenomena/dependencies.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { buildCsr } from '../../../src/graph/csr.ts'
import { findComponents } from '../../../src/graph/scc.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { FAULTS } from '../../../src/sim/faults.ts'
import { buildHistory } from '../../small/draft.ts'
import { randomHistory, shapeOf } from '../../small/random-history.ts'

const SEEDS = 400

const countingOf = ({ txnCount, txnCounts }: History) =>
  Int32Array.from({ length: txnCount }, (_, txn) => txn).filter((txn) => txnCounts[txn])

const groupsOf = (history: History, txns = countingOf(history)) =>
  findCyclicGroups(history, checkReads(history, Deadline.none()), txns, Deadline.none())

/** The transactions on cycles of a level's graph, cycle by cycle. */
function cyclesOf(history: History, txns: Int32Array, level: 'psi' | 'pl-2l' | 'pl-2.99') {
  const graph = new Dependencies(history, checkReads(history, Deadline.none()), level, txns)
  const from = graph.edges.map((edge) => edge.from)
  const to = graph.edges.map((edge) => edge.to)
  const { componentOf } = findComponents(buildCsr(graph.nodeCount, from, to))
  const members = new Map<number, Set<number>>()
  for (let node = 0; node < graph.nodeCount; node++) {
    const known = members.get(componentOf[node]!) ?? new Set()
    members.set(componentOf[node]!, known.add(txns[graph.txnAt[node]!]!))
  }
  return [...members.values()].filter((cycle) => cycle.size > 1)
}

describe('Dependencies', () => {
  it('asks for the time while it is built and while versions are put in order', () => {
    const writers = Array.from({ length: 12_000 }, (_, i) => `s${i}: r(x,${i}) w(x,${i + 1})`)
    const history = parseNotation(`initial 0\n${writers.join('\n')}`)
    const txns = countingOf(history)
    const reads = checkReads(history, Deadline.none())
    const deadline = new Deadline(null, null, null)
    const graph = new Dependencies(history, reads, 'psi', txns, undefined, deadline)
    const whileBuilt = deadline.checkCount
    expect(whileBuilt).toBeGreaterThan(0)
    graph.orderVersions(txns)
    expect(deadline.checkCount).toBeGreaterThan(whileBuilt)
  })
})

describe('findCyclicGroups', () => {
  it('finds who replaced the same version, and nobody else', () => {
    const lines = ['a: w(x,1)', 'b: r(x,1) w(x,2)', 'c: r(x,1) w(x,3)', 'd: r(x,3)']
    const history = parseNotation(`initial 0\n${lines.join('\n')}`)
    expect(groupsOf(history).map((group) => [...group])).toEqual([[1, 2]])
    expect(groupsOf(history, Int32Array.from([0, 1, 3]))).toEqual([])
  })

  it.each(['registers', 'lists'] as const)('has every cycle of the levels, on %s', (kind) => {
    let cycles = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const shape = shapeOf(seed, { lists: kind === 'lists' ? 1 : 0, after: 0 })
      const history = buildHistory(randomHistory(seed, shape))
      const all = countingOf(history)
      // Leaving one out must not lead to cycles elsewhere.
      const groups = groupsOf(history, all).map((group) => new Set(group))
      for (const txns of [all, all.filter((_, i) => i !== seed % all.length)]) {
        for (const level of ['psi', 'pl-2l', 'pl-2.99'] as const) {
          for (const cycle of cyclesOf(history, txns, level)) {
            cycles++
            expect(groups.some((group) => [...cycle].every((txn) => group.has(txn)))).toBe(true)
          }
        }
      }
    }
    expect(cycles).toBeGreaterThan(SEEDS / 4)
  })
})

describe('PartSearch', () => {
  it('counts the lost updates of a history that is too large to be searched', () => {
    const fault = FAULTS.find(({ name }) => name === 'lost-update')!
    const { history } = generate({
      seed: 1,
      workload: { shape: 'general', transactions: 3000 },
      store: { level: 'sser', faults: [{ fault, count: 12 }] },
    })
    const { anomalies, certificate } = check(history, 'psi')
    expect(anomalies.map(({ name, count }) => [name, count])).toEqual([['LostUpdate', 12]])
    expect(certificate?.verified).toBe(true)
  })
})
