// What follows for pairs of writers is the same whether all are looked at in every round, or after
// the first one only those that were in no order.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { buildKnownEdges, type KnownEdges } from '../../../src/check/general/known-edges.ts'
import { ofRegisters } from '../../../src/check/general/problem.ts'
import { saturate } from '../../../src/check/general/saturate.ts'
import type { StrongLevel } from '../../../src/check/problem/levels.ts'
import { ProblemBuilder } from '../../../src/check/problem/register-problem.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import type { History } from '../../../src/history/history.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { buildHistory } from '../../small/draft.ts'
import { randomHistory, shapeOf } from '../../small/random-history.ts'

const LEVELS: readonly StrongLevel[] = ['pc', 'si', 'ser']

/** What is inferred; null if that contradicts itself. */
function infer(history: History, level: StrongLevel, looksAtAll: boolean): KnownEdges | null {
  const deadline = Deadline.none()
  const reads = checkReads(history, deadline)
  const problem = ofRegisters(new ProblemBuilder(history, reads).build(), level)
  const known = buildKnownEdges(problem, deadline, 2 ** 24)
  if (looksAtAll) known.openPairs = null
  return saturate(known, null, deadline) ? known : null
}

/** Every transaction in a session of its own. */
function alone(seed: number): History {
  const { sessions, ...draft } = randomHistory(
    seed,
    shapeOf(seed, { txns: 6 + (seed % 20), keys: 1 + (seed % 4), lead: 0, after: 0, times: false }),
  )
  return buildHistory({ ...draft, sessions: sessions.flat().map((txn) => [txn]) })
}

function reachable({ graph }: KnownEdges): string {
  const rows: string[] = []
  for (let from = 0; from < graph.nodeCount; from++) {
    for (let to = 0; to < graph.nodeCount; to++) rows.push(graph.reaches(from, to) ? '1' : '0')
  }
  return rows.join('')
}

describe('inferFromPairs', () => {
  it('infers what looking at all pairs infers, on random histories', () => {
    const counts = { sound: 0, contradictory: 0, inPairs: 0 }
    for (let seed = 1; seed <= 1500; seed++) {
      const history = alone(seed)
      for (const level of LEVELS) {
        const all = infer(history, level, true)
        const few = infer(history, level, false)
        expect(few === null, `seed ${seed} at ${level}`).toBe(all === null)
        counts[few === null ? 'contradictory' : 'sound']++
        if (few === null || all === null) continue
        if (few.openPairs) counts.inPairs++
        expect(reachable(few), `seed ${seed} at ${level}`).toBe(reachable(all))
      }
    }
    expect(counts.sound).toBeGreaterThan(1000)
    expect(counts.contradictory).toBeGreaterThan(300)
    expect(counts.inPairs).toBe(counts.sound)
  })

  it('infers the same in rounds upon rounds, and keeps few pairs', () => {
    const workload = {
      shape: 'general' as const,
      sessions: 400,
      transactions: 400,
      ops: 8,
      keys: 130,
    }
    const { history } = generate({ workload, store: { level: 'ser' }, layout: 'session' })
    for (const level of LEVELS) {
      const all = infer(history, level, true)!
      const few = infer(history, level, false)!
      expect(few.roundStart.length).toBeGreaterThan(4)
      expect(reachable(few)).toBe(reachable(all))
      for (let i = 0; i < few.openPairs!.one.length; i++) {
        const [one, other] = [few.openPairs!.one.data[i]!, few.openPairs!.other.data[i]!]
        const [a, b] = [all.problem.versionTxn[one]!, all.problem.versionTxn[other]!]
        expect(all.isOrdered(a, b) || all.isOrdered(b, a)).toBe(false)
      }
    }
  })
})
