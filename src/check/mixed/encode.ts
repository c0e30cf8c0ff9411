// The problem for the solver of acyclic graphs. Variables: whether a transaction that may take part
// does, for each conflict and candidate whether it wrote what was seen, and for two writers of a
// key which comes first, where that matters. Axioms come in only when a solution breaks them, all
// of one pair and writer together:
//
//   at pc, si, ser   t1 -> t2, and t3 reads from t1: t3's snapshot -> t2
//   at si            t4 -> t3, and both write a key: t4 -> t3's snapshot
//   below            t3 reads from t1, and t2 is visible to it: t2 -> t1
//
// One that takes no part has no edges that start at it, so it is in nobody's way. Where there is no
// solution, why() says which axioms that rests on. Main class: Encoder.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { type Core, findCore } from '../../solver/core.ts'
import { AcyclicSolver } from '../../solver/solver.ts'
import { IN, MAYBE, PC, SI } from '../problem/mixed-problem.ts'
import { ALWAYS, type Cause, findCauses } from './causes.ts'
import type { Layout } from './layout.ts'
import type { Origins } from './origins.ts'
import type { Saturation } from './saturate.ts'
import { BACKWARD, type Verifier } from './verify.ts'
import { CAUSAL, SESSION } from './visibility.ts'

const NEVER = -2 // the literal of what cannot be

/** What a variable says; `a` and `b` are nodes unless told otherwise. */
export const PRESENT = 0 // a takes part
export const READS = 1 // conflict a reads from b
export const ORDER = 2 // a comes before b

export class Encoder {
  readonly source: Int32Array // after a solution: pair -> node, NONE if its reader takes no part
  order: Int32Array = new Int32Array(0) // after a solution: nodes that take part
  readonly meaning = { kind: new IntColumn(64), a: new IntColumn(64), b: new IntColumn(64) }
  private readonly solver: AcyclicSolver
  private readonly presenceOf: Int32Array // node -> literal, ALWAYS, NEVER
  private readonly candidate: Int32Array // candidate -> literal, NEVER if it is dead
  private readonly orders = new Map<number, number>() // pair of writers -> literal: in that order
  private readonly strongDone = new Set<number>() // pair, writer: axioms that are in
  private readonly weakDone = new Map<number, (readonly number[])[]>() // writers -> conditions
  private readonly overwritesDone: Uint8Array // node -> 1 if its axioms of si are in

  constructor(
    private readonly layout: Layout,
    private readonly saturation: Saturation,
    wish: Int32Array,
    private readonly deadline: Deadline,
    private readonly origins: Origins | null = null,
  ) {
    const { problem } = layout
    this.source = new Int32Array(layout.pairCount)
    this.solver = new AcyclicSolver(layout.graphNodeCount)
    this.solver.setInitialOrder(wish)
    this.presenceOf = Int32Array.from(problem.state, (state, node) => {
      return state === IN ? ALWAYS : state === MAYBE ? this.newLiteral(PRESENT, node, NONE) : NEVER
    })
    this.candidate = new Int32Array(problem.zeroNode.length).fill(NEVER)
    this.overwritesDone = new Uint8Array(problem.nodeCount)
    const { from, to } = saturation.known
    for (let i = 0; i < from.length; i++) {
      deadline.step()
      this.solver.addKnownEdge(from.data[i]!, to.data[i]!)
    }
    this.addPresence()
    for (let open = 0; open < problem.openCount; open++) {
      if (saturation.source[layout.fixedCount + open] === NONE) this.addConflict(open)
    }
  }

  /** Decides what is in so far; on true `order` and `source` hold a solution of that. */
  solve(): boolean {
    const { solver, layout, saturation, source, deadline } = this
    const { problem } = layout
    if (solver.solve(deadline) === 'unsat') return false
    const position = solver.order(deadline)
    const isTrue = (literal: number) => {
      return literal >= 0
        ? solver.value(literal >> 1) === ((literal & 1) === 0)
        : literal === ALWAYS
    }
    const nodes: number[] = []
    for (let node = 1; node < problem.nodeCount; node++) {
      if (isTrue(this.presenceOf[node]!)) nodes.push(node)
    }
    nodes.sort((a, b) => position[a]! - position[b]!)
    this.order = Int32Array.from([0, ...nodes])
    source.set(saturation.source)
    for (let open = 0; open < problem.openCount; open++) {
      const pair = layout.fixedCount + open
      if (source[pair] !== NONE) continue
      for (let i = problem.zeroStart[open]!; i < problem.zeroStart[open + 1]!; i++) {
        const node = problem.zeroNode[i]!
        if (!isTrue(this.candidate[i]!)) continue
        // Of several that are true the last one, which the others do not contradict.
        if (source[pair] === NONE || (node !== 0 && later(node, source[pair]!))) source[pair] = node
      }
    }
    function later(a: number, b: number): boolean {
      return b === 0 || position[a]! > position[b]!
    }
    return true
  }

  /** After there was no solution: the clauses and cycles that cannot all be avoided. */
  why(deadline: Deadline, last: Deadline): Core {
    return findCore(this.solver, deadline, last)
  }

  private newLiteral(kind: number, a: number, b: number): number {
    this.meaning.kind.push(kind)
    this.meaning.a.push(a)
    this.meaning.b.push(b)
    return 2 * this.solver.newVariable()
  }

  /** Says which writers are likely. */
  prefer(source: Int32Array): void {
    const { layout, solver, candidate } = this
    const { openCount, zeroStart, zeroNode } = layout.problem
    for (let open = 0; open < openCount; open++) {
      for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
        if (candidate[i]! < 0) continue
        const isLikely = zeroNode[i] === source[layout.fixedCount + open]
        solver.prefer(isLikely ? candidate[i]! : candidate[i]! ^ 1)
      }
    }
  }

  /** Adds the axioms that were found broken for an order and writers. */
  add(verifier: Verifier, source: Int32Array): void {
    const { layout } = this
    let added = false
    for (let i = 0; i < verifier.pair.length; i++) {
      const pair = verifier.pair.data[i]!
      const reader = layout.pairReader[pair]!
      const from = source[pair]!
      this.deadline.step(16)
      if (verifier.via.data[i] === BACKWARD || this.reading(pair, from) === NEVER) continue
      if (layout.problem.level[reader]! >= PC) {
        if (this.addSnapshot(pair, from)) added = true
      } else if (this.addVisible(pair, verifier.by.data[i]!, verifier.via.data[i]!, source)) {
        added = true
      }
    }
    assert(added || source !== this.source, 'a solution of the axioms so far breaks others')
  }

  /** Those that may take part: after what precedes them in their session, and what they read. */
  private addPresence(): void {
    const { layout, solver, presenceOf } = this
    const { problem, snapshot } = layout
    for (let node = 1; node < problem.nodeCount; node++) {
      if (presenceOf[node] === NEVER) continue
      for (let before = problem.before[node]!; before > 0; before = problem.before[before]!) {
        if (presenceOf[before] === ALWAYS) break
        solver.addLiteralEdge(presenceOf[before]!, before, snapshot[node]!)
        const origin = { rule: 'session' } as const
        this.origins?.addEdge([presenceOf[before]!], before, snapshot[node]!, origin)
      }
    }
    for (let pair = 0; pair < layout.fixedCount; pair++) {
      const from = presenceOf[problem.fixedNode[pair]!]!
      if (from === ALWAYS) continue
      const reader = layout.pairReader[pair]!
      const source = problem.fixedNode[pair]!
      this.addAxiom([presenceOf[reader]! ^ 1, from])
      solver.addLiteralEdge(presenceOf[reader]!, source, snapshot[reader]!)
      const origin = { rule: 'read', pair, source } as const
      this.origins?.addEdge([presenceOf[reader]!], source, snapshot[reader]!, origin)
    }
  }

  private addConflict(open: number): void {
    const { layout, solver, saturation, candidate, presenceOf } = this
    const { zeroStart, zeroNode } = layout.problem
    const reader = layout.pairReader[layout.fixedCount + open]!
    const presence = presenceOf[reader]!
    const clause = presence === ALWAYS ? [] : [presence ^ 1]
    this.deadline.step(16 * (zeroStart[open + 1]! - zeroStart[open]!))
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      if (!saturation.alive[i]) continue
      const node = zeroNode[i]!
      const literal = this.newLiteral(READS, open, node)
      candidate[i] = literal
      clause.push(literal)
      if (presence !== ALWAYS) this.addAxiom([literal ^ 1, presence])
      if (presenceOf[node] !== ALWAYS) this.addAxiom([literal ^ 1, presenceOf[node]!])
      if (node === 0) continue
      const origin = { rule: 'read', pair: layout.fixedCount + open, source: node } as const
      solver.addLiteralEdge(literal, node, layout.snapshot[reader]!)
      this.origins?.addEdge([literal], node, layout.snapshot[reader]!, origin)
    }
    this.addAxiom(clause)
  }

  private addAxiom(clause: readonly number[]): void {
    this.solver.addClause(clause)
    this.origins?.axioms.push(clause)
  }

  /** The literal that says a pair reads from a node. */
  private reading(pair: number, node: number): number {
    const { layout, saturation } = this
    const { zeroStart, zeroNode } = layout.problem
    if (saturation.source[pair] !== NONE) {
      return saturation.source[pair] === node ? this.presenceOf[layout.pairReader[pair]!]! : NEVER
    }
    const open = pair - layout.fixedCount
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      if (zeroNode[i] === node) return this.candidate[i]!
    }
    return NEVER
  }

  /** The literal that says `a` comes before `b`. */
  private before(a: number, b: number): number {
    const { known } = this.saturation
    const { nodeCount } = this.layout.problem
    if (known.has(a, b)) return ALWAYS
    if (known.has(b, a)) return NEVER
    const [first, second] = a < b ? [a, b] : [b, a]
    const id = first * nodeCount + second
    let literal = this.orders.get(id)
    if (literal === undefined) {
      literal = this.newLiteral(ORDER, first, second)
      this.orders.set(id, literal)
      this.addOrder(literal, first, second)
      this.addOrder(literal ^ 1, second, first)
    }
    return literal ^ (a < b ? 0 : 1)
  }

  private addOrder(literal: number, from: number, to: number): void {
    this.solver.addLiteralEdge(literal, from, to)
    this.origins?.addEdge([literal], from, to, { rule: 'order', from, to })
  }

  /** Writers after the one read from come after the reader's snapshot; false if that is in. */
  private addSnapshot(pair: number, from: number): boolean {
    const { layout, saturation } = this
    const { problem, snapshot, pairKey, pairReader } = layout
    const { writerStart, writerNode } = problem
    const reader = pairReader[pair]!
    const overwrites = problem.level[reader] === SI && this.addOverwrites(reader)
    const id = pair * problem.nodeCount + from
    if (this.strongDone.has(id)) return overwrites
    this.strongDone.add(id)
    const reading = this.reading(pair, from)
    const key = pairKey[pair]!
    const begin = snapshot[reader]!
    this.deadline.step(16 * (writerStart[key + 1]! - writerStart[key]!))
    for (let slot = writerStart[key]! + 1; slot < writerStart[key + 1]!; slot++) {
      const by = writerNode[slot]!
      if (by === from || by === reader || saturation.known.has(begin, by)) continue
      const order = this.before(from, by)
      if (order === NEVER) continue
      const conditions = this.addEdge([reading, order], begin, by)
      this.origins?.addEdge(conditions, begin, by, { rule: 'overwritten', pair, source: from, by })
    }
    return true
  }

  /** At si, who overwrites what another wrote saw it; false if that is in. */
  private addOverwrites(node: number): boolean {
    if (this.overwritesDone[node]) return false
    this.overwritesDone[node] = 1
    const { layout, saturation } = this
    const { writerStart, writerNode } = layout.problem
    const begin = layout.snapshot[node]!
    for (let k = layout.nodeKeyStart[node]!; k < layout.nodeKeyStart[node + 1]!; k++) {
      const key = layout.nodeKey[k]!
      this.deadline.step(16 * (writerStart[key + 1]! - writerStart[key]!))
      for (let slot = writerStart[key]! + 1; slot < writerStart[key + 1]!; slot++) {
        const other = writerNode[slot]!
        if (other === node || saturation.known.has(other, begin)) continue
        const order = this.before(other, node)
        if (order === NEVER) continue
        const conditions = this.addEdge([order], other, begin)
        this.origins?.addEdge(conditions, other, begin, { rule: 'order', from: other, to: node })
      }
    }
    return true
  }

  /** A writer that is visible comes before the one read from; false if that is in. */
  private addVisible(pair: number, by: number, via: number, source: Int32Array): boolean {
    const from = source[pair]!
    const reader = this.layout.pairReader[pair]!
    const causes = this.visibility(reader, by, via, source)
    const literals = new Set(causes.map(({ literal }) => literal)).add(this.reading(pair, from))
    literals.delete(ALWAYS)
    if (literals.has(NEVER)) return false
    const conditions = [...literals].sort((a, b) => a - b)
    const id = from * this.layout.problem.nodeCount + by
    const known = this.weakDone.get(id) ?? []
    if (known.some((other) => areEqual(other, conditions))) return false
    this.weakDone.set(id, [...known, conditions])
    const origin = { rule: 'visible', pair, source: from, by, via: causes } as const
    this.origins?.addEdge(conditions, by, from, origin)
    this.addEdge(conditions, by, from, (clause) => this.origins?.addClause(clause, origin))
    return true
  }

  /** What makes a writer visible to a reader. */
  private visibility(reader: number, by: number, via: number, source: Int32Array): Cause[] {
    if (via === SESSION) {
      return [{ from: by, to: reader, pair: NONE, literal: this.presenceOf[by]! }]
    }
    if (via !== CAUSAL) {
      return [{ from: by, to: reader, pair: via, literal: this.reading(via, by) }]
    }
    return findCauses(this.layout, source, by, reader, {
      presence: (node) => this.presenceOf[node]!,
      reading: (pair) => this.reading(pair, source[pair]!),
    })
  }

  /** An edge that is there when all literals are true, but for those that always are. */
  private addEdge(
    literals: readonly number[],
    from: number,
    to: number,
    onClause: (clause: readonly number[]) => void = () => {},
  ): readonly number[] {
    const { solver } = this
    const addClause = (clause: readonly number[]) => {
      solver.addClause(clause)
      onClause(clause)
    }
    const conditions = literals.filter((literal) => literal !== ALWAYS)
    const order = to === 0 ? NEVER : conditions.length > 2 ? this.before(from, to) : NONE
    if (order === NEVER) addClause(conditions.map((literal) => literal ^ 1))
    else if (conditions.length === 0) solver.addKnownEdge(from, to)
    else if (conditions.length === 1) solver.addLiteralEdge(conditions[0]!, from, to)
    else if (conditions.length === 2) {
      solver.addConditionalEdge(conditions[0]!, conditions[1]!, from, to)
    } else if (order !== ALWAYS) {
      addClause([...conditions.map((literal) => literal ^ 1), order])
    }
    return conditions
  }
}

function areEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((literal, i) => literal === b[i])
}
