// The proof log: from which clauses each learned clause was resolved.
//
// Every clause gets an id. A clause of the problem and a cycle (theory lemma) log their literals; a
// learned clause logs the ids of the clauses it was resolved from, and ~variable for each variable
// whose level-0 value was used. When the empty clause is reached, walking back from it finds the
// clauses and cycles that the refutation rests on (Zhang and Malik, DATE 2003). Level-0 values need
// no ids: the clauses that forced them stay in the arena. The log is never read during the search;
// it takes four bytes per resolution. Main class: ProofLog.

import { enlarged } from '../base/grow.ts'
import { type Clauses, ID, LITERALS, SIZE } from './clauses.ts'
import { NONE, type Trail } from './trail.ts'

const INPUT = 0
const CYCLE = 1
const LEARNED = 2

/** A clause of the problem, or one that says that not all edges of a cycle are present. */
export interface Premise {
  readonly kind: 'clause' | 'cycle'
  readonly literals: Int32Array
}

export class ProofLog {
  private count = 0
  private kind = new Int8Array(1024) // id -> INPUT, CYCLE or LEARNED
  private start = new Int32Array(1024) // id -> first word of its entry
  private data = new Int32Array(4096)
  private used = 0

  addInput(literals: ArrayLike<number>, count: number): number {
    return this.addLiterals(INPUT, literals, count)
  }

  addCycle(literals: ArrayLike<number>, count: number): number {
    return this.addLiterals(CYCLE, literals, count)
  }

  /** Opens the entry of a learned clause; `use` and `useVariable` fill it. */
  addLearned(): number {
    return this.open(LEARNED)
  }

  use(id: number): void {
    if (this.used === this.data.length) this.data = enlarged(this.data, 2 * this.used)
    this.data[this.used++] = id
  }

  /** Notes that the level-0 value of a variable was used. */
  useVariable(variable: number): void {
    this.use(~variable)
  }

  /** The premises of the refutation that ends in `conflict`, a clause false at level 0. */
  findPremises(conflict: number, trail: Trail, clauses: Clauses): Premise[] {
    const seen = new Uint8Array(this.count)
    const seenVariable = new Uint8Array(trail.variableCount)
    const premises: Premise[] = []
    const stack: number[] = [] // ids, and ~variable
    this.pushClause(stack, conflict, clauses)
    while (stack.length > 0) {
      const entry = stack.pop()!
      if (entry < 0) {
        if (seenVariable[~entry] === 1) continue
        seenVariable[~entry] = 1
        this.pushClause(stack, trail.reason[~entry]!, clauses)
        continue
      }
      if (seen[entry] === 1) continue
      seen[entry] = 1
      const end = entry + 1 < this.count ? this.start[entry + 1]! : this.used
      const words = this.data.subarray(this.start[entry]!, end)
      if (this.kind[entry] === LEARNED) {
        for (const word of words) stack.push(word)
      } else {
        const kind = this.kind[entry] === CYCLE ? 'cycle' : 'clause'
        premises.push({ kind, literals: words.slice() })
      }
    }
    return premises
  }

  private pushClause(stack: number[], clause: number, clauses: Clauses): void {
    if (clause === NONE) return
    const { arena } = clauses
    stack.push(arena[clause + ID]!)
    for (let i = 0; i < arena[clause + SIZE]!; i++)
      stack.push(~(arena[clause + LITERALS + i]! >> 1))
  }

  private addLiterals(kind: number, literals: ArrayLike<number>, count: number): number {
    const id = this.open(kind)
    for (let i = 0; i < count; i++) this.use(literals[i]!)
    return id
  }

  private open(kind: number): number {
    const id = this.count++
    if (id === this.start.length) {
      this.start = enlarged(this.start, 2 * id)
      this.kind = enlarged(this.kind, 2 * id)
    }
    this.start[id] = this.used
    this.kind[id] = kind
    return id
  }
}
