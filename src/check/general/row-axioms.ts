// The axioms about reads that are not beyond doubt: rows passed over, readers that may take no
// part, readers below pc. They come in only when a solution breaks them, all of one pair and writer
// together:
//
//   at pc, si, ser   t1 -> t2, and t3 reads from t1: t3's snapshot -> t2
//   below            t3 reads from t1, and t2 is visible to it: t2 -> t1
//
// One that takes no part has no edges that start at it, so it is in nobody's way. Main class:
// RowAxioms.

import { NONE } from '../../history/history.ts'
import { PC } from '../problem/levels.ts'
import { IN, MAYBE } from '../problem/mixed-problem.ts'
import { ALWAYS, type Cause, findCauses } from './causes.ts'
import type { Conflicts } from './conflicts.ts'
import { type Encoder, NEVER, PRESENT, READS } from './encode.ts'
import type { Pairs } from './pairs.ts'
import type { Problem } from './problem.ts'
import { BACKWARD, type Verifier } from './verify.ts'
import { CAUSAL, IN_SESSION } from './visibility.ts'

export class RowAxioms {
  readonly source: Int32Array // of the last solution: pair -> txn, NONE if its reader takes no part
  private readonly problem: Problem
  private readonly pairs: Pairs
  private readonly presenceOf: Int32Array // txn -> literal, ALWAYS, NEVER
  private readonly candidate: Int32Array // candidate -> literal, NEVER if it is dead
  private readonly strongDone = new Set<number>() // pair, writer: axioms that are in
  private readonly weakDone = new Map<number, (readonly number[])[]>() // writers -> conditions

  constructor(
    private readonly encoder: Encoder,
    private readonly conflicts: Conflicts,
  ) {
    this.problem = encoder.known.problem
    this.pairs = this.problem.pairs!
    this.source = new Int32Array(this.pairs.count)
    this.presenceOf = Int32Array.from(this.pairs.state, (state, txn) => {
      if (state === IN) return ALWAYS
      return state === MAYBE ? encoder.newLiteral(PRESENT, txn, NONE) : NEVER
    })
    this.candidate = new Int32Array(this.pairs.zero.length).fill(NEVER)
    this.addPresence()
    for (let pair = this.pairs.fixedCount; pair < this.pairs.count; pair++) {
      if (conflicts.source[pair] === NONE) this.addConflict(pair)
    }
  }

  /** The transactions that take part in a solution, in its order of nodes; sets `source`. */
  readSolution(position: Int32Array): Int32Array {
    const { encoder, pairs, source, presenceOf } = this
    const { solver, known } = encoder
    const isTrue = (literal: number) =>
      literal >= 0 ? solver.value(literal >> 1) === ((literal & 1) === 0) : literal === ALWAYS
    const place = (txn: number) => (txn === 0 ? NONE : position[known.commit[txn]!]!)
    const txns: number[] = []
    for (let txn = 1; txn < presenceOf.length; txn++) if (isTrue(presenceOf[txn]!)) txns.push(txn)
    txns.sort((a, b) => place(a) - place(b))
    source.set(this.conflicts.source)
    for (let pair = pairs.fixedCount; pair < pairs.count; pair++) {
      if (source[pair] !== NONE) continue
      const open = pair - pairs.fixedCount
      for (let i = pairs.zeroStart[open]!; i < pairs.zeroStart[open + 1]!; i++) {
        if (!isTrue(this.candidate[i]!)) continue
        // Of several that are true the last one, which the others do not contradict.
        const txn = pairs.zero[i]!
        if (source[pair] === NONE || place(txn) > place(source[pair]!)) source[pair] = txn
      }
    }
    return Int32Array.from(txns)
  }

  /** Says which writers are likely. */
  prefer(source: Int32Array): void {
    const { pairs, candidate } = this
    for (let open = 0; open + pairs.fixedCount < pairs.count; open++) {
      for (let i = pairs.zeroStart[open]!; i < pairs.zeroStart[open + 1]!; i++) {
        if (candidate[i]! < 0) continue
        const isLikely = pairs.zero[i] === source[pairs.fixedCount + open]
        this.encoder.solver.prefer(isLikely ? candidate[i]! : candidate[i]! ^ 1)
      }
    }
  }

  /** Adds the axioms about pairs that were found broken; false if all of them were in. */
  add(verifier: Verifier, source: Int32Array): boolean {
    let added = false
    for (let i = 0; i < verifier.pair.length; i++) {
      const pair = verifier.pair.data[i]!
      const via = verifier.via.data[i]!
      this.encoder.deadline.step(16)
      if (pair === NONE || via === BACKWARD) continue
      if (this.reading(pair, source[pair]!) === NEVER) continue
      const isStrong = this.problem.level[this.pairs.reader[pair]!]! >= PC
      const isNew = isStrong
        ? this.addSnapshot(pair, source[pair]!)
        : this.addVisible(pair, verifier.by.data[i]!, via, source)
      if (isNew) added = true
    }
    return added
  }

  /** Those that may take part: after what precedes them in their session, and what they read. */
  private addPresence(): void {
    const { problem, pairs, presenceOf, encoder } = this
    const { begin, commit } = encoder.known
    const { before } = problem
    for (let txn = 1; txn < problem.txnCount; txn++) {
      if (presenceOf[txn] === NEVER) continue
      for (let earlier = before[txn]!; earlier !== NONE; earlier = before[earlier]!) {
        const presence = presenceOf[earlier]!
        if (presence === ALWAYS) break
        encoder.solver.addLiteralEdge(presence, commit[earlier]!, begin[txn]!)
        encoder.origins?.addEdge([presence], commit[earlier]!, begin[txn]!, { rule: 'session' })
      }
    }
    for (let pair = 0; pair < pairs.fixedCount; pair++) {
      const source = pairs.rows.fixedNode[pair]!
      const presence = presenceOf[source]!
      if (presence === ALWAYS) continue
      const reader = pairs.reader[pair]!
      this.addAxiom([presenceOf[reader]! ^ 1, presence])
      this.addRead(presenceOf[reader]!, pair, source)
    }
  }

  private addConflict(pair: number): void {
    const { pairs, conflicts, candidate, presenceOf, encoder } = this
    const open = pair - pairs.fixedCount
    const presence = presenceOf[pairs.reader[pair]!]!
    const clause = presence === ALWAYS ? [] : [presence ^ 1]
    encoder.deadline.step(16 * (pairs.zeroStart[open + 1]! - pairs.zeroStart[open]!))
    for (let i = pairs.zeroStart[open]!; i < pairs.zeroStart[open + 1]!; i++) {
      if (!conflicts.alive[i]) continue
      const txn = pairs.zero[i]!
      const literal = encoder.newLiteral(READS, open, txn)
      candidate[i] = literal
      clause.push(literal)
      if (presence !== ALWAYS) this.addAxiom([literal ^ 1, presence])
      if (presenceOf[txn] !== ALWAYS) this.addAxiom([literal ^ 1, presenceOf[txn]!])
      if (txn > 0) this.addRead(literal, pair, txn)
    }
    this.addAxiom(clause)
  }

  private addRead(literal: number, pair: number, source: number): void {
    const { solver, known, origins } = this.encoder
    const from = known.commit[source]!
    const to = known.begin[this.pairs.reader[pair]!]!
    solver.addLiteralEdge(literal, from, to)
    origins?.addEdge([literal], from, to, { rule: 'read', pair, source })
  }

  private addAxiom(clause: readonly number[]): void {
    this.encoder.solver.addClause(clause)
    this.encoder.origins?.axioms.push(clause)
  }

  /** The literal that says a pair reads from a transaction. */
  private reading(pair: number, txn: number): number {
    const { pairs, conflicts } = this
    const source = conflicts.source[pair]!
    if (source !== NONE) return source === txn ? this.presenceOf[pairs.reader[pair]!]! : NEVER
    const candidate = pairs.findCandidate(pair - pairs.fixedCount, txn)
    return candidate === NONE ? NEVER : this.candidate[candidate]!
  }

  /** Writers after the one read from come after the reader's snapshot; false if that is in. */
  private addSnapshot(pair: number, from: number): boolean {
    const { pairs, problem, encoder } = this
    const { known, origins } = encoder
    const id = pair * problem.txnCount + from
    if (this.strongDone.has(id)) return false
    this.strongDone.add(id)
    const { keyStart, versionTxn } = problem
    const reading = this.reading(pair, from)
    const key = pairs.key[pair]!
    const reader = pairs.reader[pair]!
    const begin = known.begin[reader]!
    encoder.deadline.step(16 * (keyStart[key + 1]! - keyStart[key]!))
    for (let version = keyStart[key]!; version < keyStart[key + 1]!; version++) {
      const by = versionTxn[version]!
      const to = known.commit[by]!
      if (by === from || by === reader || known.graph.reaches(begin, to)) continue
      const order = encoder.before(from, by)
      if (order === NEVER) continue
      const conditions = this.addEdge([reading, order], begin, to)
      const read = { reader, key, pair, source: from, by }
      origins?.addEdge(conditions, begin, to, { rule: 'overwritten', ...read })
    }
    return true
  }

  /** A writer that is visible comes before the one read from; false if that is in. */
  private addVisible(pair: number, by: number, via: number, source: Int32Array): boolean {
    const { commit, claim } = this.encoder.known
    const { origins } = this.encoder
    const from = source[pair]!
    const causes = this.visibility(this.pairs.reader[pair]!, by, via, source)
    const literals = new Set(causes.map(({ literal }) => literal)).add(this.reading(pair, from))
    literals.delete(ALWAYS)
    if (literals.has(NEVER)) return false
    const conditions = [...literals].sort((a, b) => a - b)
    const id = from * this.problem.txnCount + by
    const known = this.weakDone.get(id) ?? []
    if (known.some((other) => areEqual(other, conditions))) return false
    this.weakDone.set(id, [...known, conditions])
    const origin = { rule: 'visible', pair, source: from, by, via: causes } as const
    const addClause = (clause: readonly number[]) => {
      this.encoder.solver.addClause(clause)
      origins?.addClause(clause, origin)
    }
    const denied = conditions.map((literal) => literal ^ 1)
    const order = from === 0 ? NEVER : conditions.length > 2 ? this.encoder.before(by, from) : NONE
    if (order === NEVER) addClause(denied)
    else if (conditions.length > 2) {
      if (order !== ALWAYS) addClause([...denied, order])
    } else {
      this.addEdge(conditions, commit[by]!, claim[from]!)
      origins?.addEdge(conditions, commit[by]!, claim[from]!, origin)
    }
    return true
  }

  /** What makes a writer visible to a reader. */
  private visibility(reader: number, by: number, via: number, source: Int32Array): Cause[] {
    if (via === IN_SESSION) {
      return [{ from: by, to: reader, pair: NONE, literal: this.presenceOf[by]! }]
    }
    if (via !== CAUSAL) {
      return [{ from: by, to: reader, pair: via, literal: this.reading(via, by) }]
    }
    return findCauses(this.problem, source, by, reader, {
      presence: (txn) => this.presenceOf[txn]!,
      reading: (pair) => this.reading(pair, source[pair]!),
    })
  }

  /** An edge that is there when all literals, at most two beside ALWAYS, are true. */
  private addEdge(literals: readonly number[], from: number, to: number): readonly number[] {
    const { solver } = this.encoder
    const conditions = literals.filter((literal) => literal !== ALWAYS)
    const [first, second] = conditions
    if (first === undefined) solver.addKnownEdge(from, to)
    else if (second === undefined) solver.addLiteralEdge(first, from, to)
    else solver.addConditionalEdge(first, second, from, to)
    return conditions
  }
}

function areEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((literal, i) => literal === b[i])
}
