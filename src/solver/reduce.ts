// Forgetting: a solver that keeps every learned clause soon does nothing but visit watches.
//
// After a growing number of conflicts, half of the learned clauses go: those of largest glue, then
// size (Audemard and Simon, IJCAI 2009). Kept are clauses of glue 2 or less, clauses that took part
// in a conflict since the last reduction, and reasons of assigned literals. The same pass removes
// clauses satisfied at level 0. Ids in the proof log outlive their clauses. Main class: Reducer.

import { type Clauses, FLAGS, GLUE, LEARNED, LITERALS, REMOVED, SIZE, USED } from './clauses.ts'
import { NONE, type Trail } from './trail.ts'

const FIRST_AFTER = 2000 // conflicts before the first reduction
const GROWTH = 300 // how much longer each interval is than the one before
const KEPT_GLUE = 2

export class Reducer {
  reductions = 0
  private next = FIRST_AFTER

  isDue(conflicts: number): boolean {
    return conflicts >= this.next
  }

  reduce(trail: Trail, clauses: Clauses, conflicts: number): void {
    this.reductions++
    this.next = conflicts + FIRST_AFTER + GROWTH * this.reductions
    const locked = findReasons(trail)
    const candidates = collectCandidates(trail, clauses, locked)
    const { arena } = clauses
    // Worst first; the clause itself breaks ties, older first, so that runs repeat exactly.
    candidates.sort(
      (a, b) => arena[b + GLUE]! - arena[a + GLUE]! || arena[b + SIZE]! - arena[a + SIZE]! || a - b,
    )
    for (let i = 0; i < candidates.length >> 1; i++) clauses.remove(candidates[i]!)
    if (clauses.removedWords > 0) clauses.compact(trail)
  }
}

function findReasons(trail: Trail): Set<number> {
  const reasons = new Set<number>()
  for (let i = 0; i < trail.size; i++) {
    const reason = trail.reason[trail.literals[i]! >> 1]!
    if (reason !== NONE) reasons.add(reason)
  }
  return reasons
}

/** Learned clauses that may go; removes satisfied ones and clears the marks of use on the way. */
function collectCandidates(trail: Trail, clauses: Clauses, locked: Set<number>): number[] {
  const { arena } = clauses
  const candidates: number[] = []
  for (let clause = 0; clause < clauses.used; clause = clauses.next(clause)) {
    const flags = arena[clause + FLAGS]!
    if ((flags & REMOVED) !== 0 || locked.has(clause)) continue
    if (isSatisfiedAtRoot(trail, arena, clause)) {
      clauses.remove(clause)
      continue
    }
    if ((flags & LEARNED) === 0) continue
    arena[clause + FLAGS] = flags & ~USED
    if ((flags & USED) === 0 && arena[clause + GLUE]! > KEPT_GLUE) candidates.push(clause)
  }
  return candidates
}

function isSatisfiedAtRoot(trail: Trail, arena: Int32Array, clause: number): boolean {
  const end = clause + LITERALS + arena[clause + SIZE]!
  for (let i = clause + LITERALS; i < end; i++) {
    const literal = arena[i]!
    if (trail.value[literal]! > 0 && trail.level[literal >> 1] === 0) return true
  }
  return false
}
