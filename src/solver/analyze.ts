// Conflict analysis: what to learn from a conflict, and how far to go back.
//
// The first unique implication point (Marques-Silva and Sakallah, GRASP, 1996; Zhang et al. 2001):
// resolve the conflict with the reasons of its literals, latest first, until one literal of the
// current level is left. Then drop each literal that follows from the others through reasons
// (Sörensson and Biere, SAT 2009), with a stack instead of recursion. The glue of the result is the
// number of levels it spans (Audemard and Simon, IJCAI 2009). Each resolution goes to the proof
// log. Cost: linear in the clauses looked at. Main class: Analyzer.

import { enlarged } from '../base/grow.ts'
import { type Clauses, FLAGS, GLUE, ID, LEARNED, LITERALS, SIZE, USED } from './clauses.ts'
import type { Decider } from './decide.ts'
import type { ProofLog } from './proof.ts'
import { NONE, type Trail } from './trail.ts'

export class Analyzer {
  learned = new Int32Array(16) // the learned clause; its only literal of the conflict level first
  count = 0
  glue = 0
  backLevel = 0 // level at which the learned clause forces its first literal
  proofId = 0
  private seen = new Int8Array(16) // variable -> 1 when part of the clause or explained by it
  private marked = new Int32Array(16) // variables whose `seen` is to be cleared
  private markedCount = 0
  private stack = new Int32Array(16)
  private levelStamp = new Int32Array(16) // level -> generation that met it
  private generation = 0

  constructor(
    private readonly trail: Trail,
    private readonly clauses: Clauses,
    private readonly decider: Decider,
    private readonly proof: ProofLog,
  ) {}

  /** Learns from a clause that is false, with some literal of the current level (above 0). */
  analyze(conflict: number): void {
    this.makeRoom()
    this.proofId = this.proof.addLearned()
    this.resolve(conflict)
    this.minimise()
    this.finish()
    for (let i = 0; i < this.markedCount; i++) this.seen[this.marked[i]!] = 0
    this.markedCount = 0
  }

  private resolve(conflict: number): void {
    const { trail, seen } = this
    let index = trail.size
    let open = 0
    let clause = conflict
    let literal = NONE
    this.count = 1
    do {
      open += this.takeLiterals(clause)
      do literal = trail.literals[--index]!
      while (seen[literal >> 1] === 0)
      clause = trail.reason[literal >> 1]!
      open--
    } while (open > 0)
    this.learned[0] = literal ^ 1
  }

  /** Marks the false literals of a clause; returns how many new ones are of the current level. */
  private takeLiterals(clause: number): number {
    const { trail, clauses, decider, seen, proof } = this
    const { level, value } = trail
    const { arena } = clauses
    const current = trail.levelCount
    let open = 0
    proof.use(arena[clause + ID]!)
    if ((arena[clause + FLAGS]! & LEARNED) !== 0) {
      arena[clause + FLAGS]! |= USED
      if (arena[clause + GLUE]! > 2) this.refreshGlue(clause)
    }
    const end = clause + LITERALS + arena[clause + SIZE]!
    for (let i = clause + LITERALS; i < end; i++) {
      const literal = arena[i]!
      const variable = literal >> 1
      if (value[literal]! > 0 || seen[variable] !== 0) continue
      this.mark(variable)
      const at = level[variable]!
      if (at === 0) {
        proof.useVariable(variable)
        continue
      }
      decider.bump(variable)
      if (at === current) open++
      else this.learned[this.count++] = literal
    }
    return open
  }

  /** A clause that came to span fewer levels is worth more. */
  private refreshGlue(clause: number): void {
    const glue = this.countLevels(this.clauses.arena, clause + LITERALS, this.clauses.next(clause))
    if (glue < this.clauses.arena[clause + GLUE]!) this.clauses.arena[clause + GLUE] = glue
  }

  private minimise(): void {
    const { trail, learned } = this
    this.countLevels(learned, 0, this.count)
    let kept = 1
    for (let i = 1; i < this.count; i++) {
      const literal = learned[i]!
      if (trail.reason[literal >> 1] === NONE || !this.isRedundant(literal >> 1)) {
        learned[kept++] = literal
      }
    }
    this.count = kept
  }

  /** Whether the variable's value follows from the marked ones; if so its reasons are logged. */
  private isRedundant(variable: number): boolean {
    const { trail, clauses, seen, stack, marked, proof, levelStamp, generation } = this
    const { arena } = clauses
    const before = this.markedCount
    let depth = 1
    stack[0] = variable
    while (depth > 0) {
      const clause = trail.reason[stack[--depth]!]!
      const end = clause + LITERALS + arena[clause + SIZE]!
      for (let i = clause + LITERALS; i < end; i++) {
        const other = arena[i]! >> 1
        if (seen[other] !== 0 || other === variable) continue
        const level = trail.level[other]!
        if (level > 0) {
          if (trail.reason[other] === NONE || levelStamp[level] !== generation) {
            for (let k = before; k < this.markedCount; k++) seen[marked[k]!] = 0
            this.markedCount = before
            return false
          }
          stack[depth++] = other
        }
        this.mark(other)
      }
    }
    proof.use(arena[trail.reason[variable]! + ID]!)
    for (let k = before; k < this.markedCount; k++) {
      const other = marked[k]!
      if (trail.level[other] === 0) proof.useVariable(other)
      else proof.use(arena[trail.reason[other]! + ID]!)
    }
    return true
  }

  /** Finds glue and backjump level, and puts a literal of that level second, to be watched. */
  private finish(): void {
    const { learned, count } = this
    const { level } = this.trail
    this.glue = this.countLevels(learned, 0, count)
    this.backLevel = 0
    if (count === 1) return
    let best = 1
    for (let i = 2; i < count; i++) {
      if (level[learned[i]! >> 1]! > level[learned[best]! >> 1]!) best = i
    }
    const swap = learned[1]!
    learned[1] = learned[best]!
    learned[best] = swap
    this.backLevel = level[learned[1] >> 1]!
  }

  /** Number of levels among literals, stamped with a new generation. */
  private countLevels(literals: Int32Array, start: number, end: number): number {
    const { level } = this.trail
    const { levelStamp } = this
    const generation = ++this.generation
    let count = 0
    for (let i = start; i < end; i++) {
      const at = level[literals[i]! >> 1]!
      if (levelStamp[at] === generation) continue
      levelStamp[at] = generation
      count++
    }
    return count
  }

  private mark(variable: number): void {
    this.seen[variable] = 1
    this.marked[this.markedCount++] = variable
  }

  private makeRoom(): void {
    const capacity = this.trail.level.length + 1
    if (this.seen.length >= capacity) return
    this.learned = enlarged(this.learned, capacity)
    this.seen = enlarged(this.seen, capacity)
    this.marked = enlarged(this.marked, capacity)
    this.stack = enlarged(this.stack, capacity)
    this.levelStamp = enlarged(this.levelStamp, capacity)
  }
}
