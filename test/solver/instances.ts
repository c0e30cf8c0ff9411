// Problems for the solver as plain data, a brute-force judge, and checks of what the solver returns
// that share no code with it.

import { expect } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import type { Random } from '../../src/base/random.ts'
import type { Core } from '../../src/solver/core.ts'
import { clauseOf, findCore } from '../../src/solver/core.ts'
import { refute } from '../../src/solver/refutation.ts'
import { AcyclicSolver } from '../../src/solver/solver.ts'

export interface CandidateEdge {
  readonly literals: readonly number[] // one or two
  readonly from: number
  readonly to: number
}

export interface Instance {
  readonly nodeCount: number
  readonly variableCount: number
  readonly known: readonly (readonly [number, number])[]
  readonly candidates: readonly CandidateEdge[]
  readonly clauses: readonly (readonly number[])[]
}

export function load(instance: Instance): AcyclicSolver {
  const solver = new AcyclicSolver(instance.nodeCount)
  for (let v = 0; v < instance.variableCount; v++) solver.newVariable()
  for (const [from, to] of instance.known) solver.addKnownEdge(from, to)
  for (const edge of instance.candidates) addCandidate(solver, edge)
  for (const clause of instance.clauses) solver.addClause(clause)
  return solver
}

export function addCandidate(solver: AcyclicSolver, edge: CandidateEdge): void {
  const { literals, from, to } = edge
  if (literals.length === 1) solver.addLiteralEdge(literals[0]!, from, to)
  else solver.addConditionalEdge(literals[0]!, literals[1]!, from, to)
}

/** Solves and verifies the model or the core; returns the answer. */
export function solveAndVerify(instance: Instance, solver = load(instance)): 'sat' | 'unsat' {
  const answer = solver.solve(Deadline.none())
  if (answer === 'sat') verifyModel(instance, solver)
  else verifyCore(instance, findCore(solver))
  return answer
}

/** Whether some assignment of all variables satisfies the clauses and has no cycle. */
export function isSatisfiable(instance: Instance): boolean {
  for (let bits = 0; bits < 2 ** instance.variableCount; bits++) {
    const isTrue = (literal: number) => ((bits >> (literal >> 1)) & 1) === 1 - (literal & 1)
    if (!instance.clauses.every((clause) => clause.some(isTrue))) continue
    if (isAcyclic(instance.nodeCount, presentEdges(instance, isTrue))) return true
  }
  return false
}

function presentEdges(instance: Instance, isTrue: (literal: number) => boolean) {
  const chosen = instance.candidates
    .filter(({ literals }) => literals.every(isTrue))
    .map(({ from, to }) => [from, to] as const)
  return [...instance.known, ...chosen]
}

/** Repeatedly strikes out nodes that no edge enters. */
function isAcyclic(nodeCount: number, edges: readonly (readonly [number, number])[]): boolean {
  const left = new Set(Array.from({ length: nodeCount }, (_, node) => node))
  let before: number
  do {
    before = left.size
    const entered = new Set(edges.filter(([from]) => left.has(from)).map(([, to]) => to))
    for (const node of left) if (!entered.has(node)) left.delete(node)
  } while (left.size < before)
  return left.size === 0
}

export function verifyModel(instance: Instance, solver: AcyclicSolver): void {
  const isTrue = (literal: number) => solver.value(literal >> 1) === ((literal & 1) === 0)
  for (const clause of instance.clauses) expect(clause.some(isTrue)).toBe(true)
  const position = solver.order()
  expect(new Set(position).size).toBe(instance.nodeCount)
  for (const [from, to] of presentEdges(instance, isTrue)) {
    if (position[from]! >= position[to]!) throw new Error(`edge ${from} -> ${to} runs backwards`)
  }
}

/** Every reason is real, and together they are a refutation. */
export function verifyCore(instance: Instance, core: Core, wantSteps = true): void {
  const known = new Set(instance.known.map(([from, to]) => `${from},${to}`))
  const named = (literals: readonly number[], from: number, to: number) =>
    `${[...literals].sort((a, b) => a - b)}:${from},${to}`
  const candidates = new Set(instance.candidates.map((c) => named(c.literals, c.from, c.to)))
  const clauses = new Set(instance.clauses.map((c) => `${[...new Set(c)].sort((a, b) => a - b)}`))
  for (const reason of core.reasons) {
    if (reason.kind === 'clause') {
      expect(clauses).toContain(`${[...reason.literals].sort((a, b) => a - b)}`)
      continue
    }
    reason.edges.forEach((edge, i) => {
      expect(edge.to).toBe(reason.edges[(i + 1) % reason.edges.length]!.from)
      if (edge.literals.length === 0) expect(known).toContain(`${edge.from},${edge.to}`)
      else expect(candidates).toContain(named(edge.literals, edge.from, edge.to))
      for (const literal of edge.literals) expect(reason.literals).toContain(literal)
    })
    expect(reason.edges.length).toBeGreaterThan(0)
  }
  if (wantSteps) verifySteps(core)
}

/** Every step is a reason, or follows from those before it by unit propagation; and so does falsity. */
function verifySteps(core: Core): void {
  const steps = refute(core.reasons.map(clauseOf))
  const known: (readonly number[])[] = []
  for (const { clause, literals } of steps) {
    if (clause >= 0) expect(literals).toEqual(clauseOf(core.reasons[clause]!))
    else expect(breaks(known, literals)).toBe(true)
    known.push(literals)
  }
  expect(breaks(known, [])).toBe(true)
}

/** Whether a clause is broken by propagation once all of these literals are false. */
function breaks(clauses: readonly (readonly number[])[], literals: readonly number[]): boolean {
  const isFalse = new Set(literals)
  for (let size = -1; size !== isFalse.size; ) {
    size = isFalse.size
    for (const clause of clauses) {
      if (clause.some((literal) => isFalse.has(literal ^ 1))) continue
      const open = clause.filter((literal) => !isFalse.has(literal))
      if (open.length === 0) return true
      if (open.length === 1) isFalse.add(open[0]! ^ 1)
    }
  }
  return false
}

/** A small random problem: orders of pairs, single-sided edges, conditional edges, clauses. */
export function randomInstance(random: Random): Instance {
  const nodeCount = 2 + random.below(7)
  const variableCount = 1 + random.below(8)
  const node = () => random.below(nodeCount)
  const literal = () => random.below(2 * variableCount)
  const many = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
  const acyclicKnown = random.chance(0.9)
  const known = many(random.below(nodeCount + 1), () => {
    const [a, b] = [node(), node()]
    return acyclicKnown && a > b ? ([b, a] as const) : ([a, b] as const)
  }).filter(([a, b]) => a !== b || random.chance(0.01))
  const candidates: CandidateEdge[] = []
  for (let v = 0; v < variableCount; v++) {
    if (random.chance(0.2)) continue
    const [a, b] = [node(), node()]
    if (a === b && random.chance(0.9)) continue
    candidates.push({ literals: [2 * v], from: a, to: b })
    if (random.chance(0.8)) candidates.push({ literals: [2 * v + 1], from: b, to: a })
  }
  for (let i = random.below(variableCount + 1); i > 0; i--) {
    const [from, to] = [node(), node()]
    if (from !== to) candidates.push({ literals: [literal()], from, to })
  }
  for (let i = random.below(4); i > 0; i--) {
    const [from, to, a, b] = [node(), node(), literal(), literal()]
    if (from !== to && a >> 1 !== b >> 1) candidates.push({ literals: [a, b], from, to })
  }
  const clauseCount = random.chance(0.5) ? 0 : random.below(2 * variableCount)
  const clauses = many(clauseCount, () => many(1 + random.below(3), literal))
  return { nodeCount, variableCount, known, candidates, clauses }
}

/** Uniform random 3-SAT. */
export function random3Sat(random: Random, variableCount: number, clauseCount: number): Instance {
  const clauses = Array.from({ length: clauseCount }, () => {
    const variables = random.shuffle(Array.from({ length: variableCount }, (_, v) => v)).slice(0, 3)
    return variables.map((v) => 2 * v + random.below(2))
  })
  return { nodeCount: 0, variableCount, known: [], candidates: [], clauses }
}

/** Pigeons that must each have a hole, no two the same. */
export function pigeonhole(pigeons: number, holes: number): Instance {
  const sits = (pigeon: number, hole: number) => 2 * (pigeon * holes + hole)
  const clauses: number[][] = []
  for (let p = 0; p < pigeons; p++) {
    clauses.push(Array.from({ length: holes }, (_, h) => sits(p, h)))
    for (let q = 0; q < p; q++) {
      for (let h = 0; h < holes; h++) clauses.push([sits(p, h) ^ 1, sits(q, h) ^ 1])
    }
  }
  return { nodeCount: 0, variableCount: pigeons * holes, known: [], candidates: [], clauses }
}

export interface StoreShape {
  readonly transactionCount: number
  readonly sessionCount: number
  readonly keyCount: number
  readonly operationCount: number // per transaction
  readonly readShare: number
}

/**
 * Serializability as the solver sees it: transactions run one after another in a hidden order,
 * reads name the writer they saw, and each pair of writers of a key is a variable. `staleReads`
 * reads see an older version instead, which mostly makes the problem unsatisfiable. Node 0 is the
 * first writer of every key.
 */
export function storeInstance(random: Random, shape: StoreShape, staleReads = 0): Instance {
  const { transactionCount, sessionCount, keyCount } = shape
  const known: [number, number][] = []
  const versions = Array.from({ length: keyCount }, () => [0]) // key -> writers in hidden order
  const readers = new Map<string, number[]>() // key,writer -> readers
  const last = new Array<number>(sessionCount).fill(0) // session -> its latest transaction
  const stale = new Set<number>()
  while (stale.size < staleReads) stale.add(1 + random.below(transactionCount))
  for (let txn = 1; txn <= transactionCount; txn++) {
    const session = random.below(sessionCount)
    known.push([last[session]!, txn])
    last[session] = txn
    for (let i = 0; i < shape.operationCount; i++) {
      const key = random.below(keyCount)
      const writers = versions[key]!
      if (!random.chance(shape.readShare)) {
        if (writers.at(-1) !== txn) writers.push(txn)
        continue
      }
      const age = stale.delete(txn) ? 2 + random.below(4) : 1
      const writer = writers.at(-age) ?? 0
      if (writer === txn) continue
      known.push([writer, txn])
      const name = `${key},${writer}`
      if (readers.has(name)) readers.get(name)!.push(txn)
      else readers.set(name, [txn])
    }
  }
  const candidates: CandidateEdge[] = []
  const variables = new Map<string, number>()
  versions.forEach((writers, key) => {
    const numbered = writers.toSorted((a, b) => a - b)
    for (const [i, a] of numbered.entries()) {
      for (const b of numbered.slice(i + 1)) {
        const name = `${a},${b}`
        if (!variables.has(name)) variables.set(name, variables.size)
        const variable = variables.get(name)!
        const sides = [
          [2 * variable, a, b],
          [2 * variable + 1, b, a],
        ] as const
        for (const [literal, first, second] of sides) {
          candidates.push({ literals: [literal], from: first, to: second })
          for (const reader of readers.get(`${key},${first}`) ?? []) {
            if (reader === second) continue
            candidates.push({ literals: [literal], from: reader, to: second })
          }
        }
      }
    }
  })
  return {
    nodeCount: transactionCount + 1,
    variableCount: variables.size,
    known,
    candidates,
    clauses: [],
  }
}

/** Edges at random on both sides of every variable: near its threshold the hardest kind. */
export function randomChoices(
  random: Random,
  nodeCount: number,
  variableCount: number,
  edgesPerLiteral: number,
): Instance {
  const candidates: CandidateEdge[] = []
  for (let literal = 0; literal < 2 * variableCount; literal++) {
    for (let i = 0; i < edgesPerLiteral; i++) {
      const from = random.below(nodeCount)
      const to = (from + 1 + random.below(nodeCount - 1)) % nodeCount
      candidates.push({ literals: [literal], from, to })
    }
  }
  return { nodeCount, variableCount, known: [], candidates, clauses: [] }
}
