import { describe, expect, it } from 'vitest'
import { Deadline, nowMs } from '../../src/base/deadline.ts'
import { BudgetExceeded } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { findCore } from '../../src/solver/core.ts'
import { AcyclicSolver } from '../../src/solver/solver.ts'
import { some } from '../long.ts'
import type { CandidateEdge } from './instances.ts'
import {
  addCandidate,
  isSatisfiable,
  load,
  pigeonhole,
  random3Sat,
  randomChoices,
  randomInstance,
  solveAndVerify,
  storeInstance,
  verifyCore,
  verifyModel,
} from './instances.ts'

describe('AcyclicSolver.solve', () => {
  it('agrees with brute force on random graphs with clauses', () => {
    const counts = { sat: 0, unsat: 0 }
    for (let seed = 0; seed < some(8000); seed++) {
      const instance = randomInstance(new Random(seed))
      const answer = solveAndVerify(instance)
      counts[answer]++
      expect(answer, `seed ${seed}`).toBe(isSatisfiable(instance) ? 'sat' : 'unsat')
    }
    // Both answers must occur often for the comparison to mean anything.
    expect(counts.sat).toBeGreaterThan(some(1500))
    expect(counts.unsat).toBeGreaterThan(some(1500))
  })

  it('agrees with brute force on random choices near their threshold', () => {
    const counts = { sat: 0, unsat: 0 }
    let conflictCount = 0
    for (let seed = 0; seed < some(400); seed++) {
      const random = new Random(seed)
      const variableCount = 8 + random.below(5)
      const instance = randomChoices(random, 7 + random.below(3), variableCount, 2)
      const solver = load(instance)
      const answer = solveAndVerify(instance, solver)
      counts[answer]++
      conflictCount += solver.conflictCount
      expect(answer, `seed ${seed}`).toBe(isSatisfiable(instance) ? 'sat' : 'unsat')
    }
    expect(Math.min(counts.sat, counts.unsat)).toBeGreaterThan(some(80))
    expect(conflictCount).toBeGreaterThan(some(1000))
  })

  it('agrees with brute force when variables are decided in turn, for a while or all the time', () => {
    let conflictCount = 0
    for (let seed = 0; seed < some(400); seed++) {
      const random = new Random(seed)
      const instance = randomChoices(random, 7 + random.below(3), 8 + random.below(5), 2)
      const solver = load(instance)
      solver.takeInTurn(seed % 2 === 0 ? 3 : 1000)
      const answer = solveAndVerify(instance, solver)
      conflictCount += solver.conflictCount
      expect(answer, `seed ${seed}`).toBe(isSatisfiable(instance) ? 'sat' : 'unsat')
    }
    expect(conflictCount).toBeGreaterThan(some(1000))
  })

  it('verifies its answer on choices that take thousands of conflicts', () => {
    for (const [seed, variableCount] of [
      [0, 100],
      [1, 120],
    ] as const) {
      const instance = randomChoices(new Random(seed), 60, variableCount, 2)
      const solver = load(instance)
      const answer = solver.solve(new Deadline(60_000))
      if (answer === 'sat') verifyModel(instance, solver)
      else verifyCore(instance, findCore(solver, new Deadline(500)), false)
    }
  })

  it('agrees with brute force when clauses and edges come one by one', () => {
    for (let seed = 0; seed < 500; seed++) {
      const random = new Random(seed)
      const whole = randomInstance(random)
      const solver = load({ ...whole, known: [], candidates: [], clauses: [] })
      const part = { ...whole, known: [], clauses: [], candidates: [] as CandidateEdge[] }
      const clauses: (readonly number[])[] = []
      for (let i = 0; i < Math.max(whole.candidates.length, whole.clauses.length); i++) {
        const edge = whole.candidates[i]
        if (edge !== undefined) {
          part.candidates.push(edge)
          addCandidate(solver, edge)
        }
        const clause = whole.clauses[i]
        if (clause !== undefined) {
          clauses.push(clause)
          solver.addClause(clause)
        }
        const now = { ...part, clauses }
        const answer = solveAndVerify(now, solver)
        expect(answer, `seed ${seed}`).toBe(isSatisfiable(now) ? 'sat' : 'unsat')
        if (answer === 'unsat') break
      }
    }
  })

  it('agrees with brute force on random 3-SAT near the threshold', () => {
    const counts = { sat: 0, unsat: 0 }
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed)
      const variableCount = 8 + random.below(7)
      const instance = random3Sat(random, variableCount, Math.round(4.6 * variableCount))
      const answer = solveAndVerify(instance)
      counts[answer]++
      expect(answer, `seed ${seed}`).toBe(isSatisfiable(instance) ? 'sat' : 'unsat')
    }
    expect(Math.min(counts.sat, counts.unsat)).toBeGreaterThan(40)
  })

  it('refutes six pigeons in five holes, and seats five', () => {
    expect(solveAndVerify(pigeonhole(5, 5))).toBe('sat')
    const solver = load(pigeonhole(6, 5))
    expect(solver.solve(Deadline.none())).toBe('unsat')
    verifyCore(pigeonhole(6, 5), findCore(solver), false)
  })

  it('stops after so many conflicts, and goes on from there', () => {
    const solver = load(pigeonhole(6, 5))
    let openCount = 0
    while (solver.solve(Deadline.none(), 1) === 'open') {
      openCount++
      expect(solver.conflictCount).toBe(openCount)
    }
    expect(openCount).toBeGreaterThan(10)
    expect(solver.solve(Deadline.none())).toBe('unsat')
    verifyCore(pigeonhole(6, 5), findCore(solver), false)
  })

  it('goes on when clauses and edges are added after an answer', () => {
    const solver = new AcyclicSolver(3)
    const [a, b] = [solver.newVariable(), solver.newVariable()]
    solver.addLiteralEdge(2 * a, 0, 1)
    solver.addLiteralEdge(2 * b, 1, 2)
    solver.addClause([2 * a])
    expect(solver.solve(Deadline.none())).toBe('sat')
    solver.addClause([2 * a + 1, 2 * b])
    expect(solver.solve(Deadline.none())).toBe('sat')
    expect([solver.value(a), solver.value(b)]).toEqual([true, true])
    solver.addKnownEdge(2, 0)
    expect(solver.solve(Deadline.none())).toBe('unsat')
    expect(
      findCore(solver)
        .reasons.map((reason) => reason.kind)
        .sort(),
    ).toEqual(['clause', 'clause', 'cycle'])
  })

  it('decides stores of 2,000 transactions, with and without stale reads, in seconds', () => {
    const shape = {
      transactionCount: 2000,
      sessionCount: 20,
      keyCount: 1000,
      operationCount: 4,
      readShare: 0.5,
    }
    for (const staleReads of [0, 5]) {
      const instance = storeInstance(new Random(7), shape, staleReads)
      expect(instance.variableCount).toBeGreaterThan(4000)
      const solver = load(instance)
      const answer = solver.solve(new Deadline(20_000))
      expect(answer).toBe(staleReads === 0 ? 'sat' : 'unsat')
      if (answer === 'sat') verifyModel(instance, solver)
      else verifyCore(instance, findCore(solver))
    }
  })

  it('keeps its budget on a problem far too hard', () => {
    const solver = load(pigeonhole(13, 12))
    let leastMs = Number.POSITIVE_INFINITY
    // A busy machine may take the processor away; it will not do so five times in a row.
    for (let attempt = 0; attempt < 5 && leastMs > 220; attempt++) {
      const startMs = nowMs()
      expect(() => solver.solve(new Deadline(200))).toThrow(BudgetExceeded)
      const elapsedMs = nowMs() - startMs
      expect(elapsedMs).toBeGreaterThanOrEqual(200)
      leastMs = Math.min(leastMs, elapsedMs)
    }
    expect(leastMs).toBeLessThanOrEqual(220)
    // What was learned is kept, and the solver can go on.
    expect(() => solver.solve(new Deadline(20))).toThrow(BudgetExceeded)
    expect(solver.conflictCount).toBeGreaterThan(100)
  })

  it('asks for nodes and variables that exist', () => {
    const solver = new AcyclicSolver(2)
    expect(() => solver.addKnownEdge(0, 2)).toThrow('nodes exist')
    expect(() => solver.addClause([0])).toThrow('variables exist')
  })
})
