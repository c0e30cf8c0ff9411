// Unit propagation over the watched literals.
//
// For every literal that became false, the clauses watching it look for another literal that is not
// false; a clause that finds none is unit or in conflict. Watches need no care when assignments are
// undone. The cost is in the length of the lists: see clauses.ts for blockers and binary clauses.
// Main function: propagateClauses.

import { type Clauses, LITERALS, SIZE } from './clauses.ts'
import { NONE, type Trail } from './trail.ts'

/** Runs to the fixpoint; returns a clause whose literals are all false, or NONE. */
export function propagateClauses(trail: Trail, clauses: Clauses): number {
  let conflict = NONE
  while (conflict === NONE && trail.propagated < trail.size) {
    conflict = visitWatches(trail, clauses, trail.literals[trail.propagated++]! ^ 1)
  }
  return conflict
}

function visitWatches(trail: Trail, clauses: Clauses, falseLiteral: number): number {
  const value = trail.value
  const arena = clauses.arena
  const list = clauses.watches[falseLiteral]!
  const end = clauses.watchLength[falseLiteral]!
  clauses.visits += end >> 1
  let conflict = NONE
  let read = 0
  let write = 0
  while (read < end) {
    const blocker = list[read]!
    const name = list[read + 1]!
    read += 2
    const blockerValue = value[blocker]!
    list[write] = blocker
    list[write + 1] = name
    write += 2
    if (blockerValue > 0) continue
    if (name < 0) {
      if (blockerValue < 0) {
        conflict = ~name
        break
      }
      trail.assign(blocker, ~name)
      continue
    }

    // Keep the false watch in second place, then look for a literal to watch instead.
    const base = name + LITERALS
    let first = arena[base]!
    if (first === falseLiteral) {
      first = arena[base + 1]!
      arena[base] = first
      arena[base + 1] = falseLiteral
    }
    const firstValue = value[first]!
    list[write - 2] = first
    if (firstValue > 0) continue
    const last = base + arena[name + SIZE]!
    let k = base + 2
    while (k < last && value[arena[k]!]! < 0) k++
    if (k < last) {
      const literal = arena[k]!
      arena[base + 1] = literal
      arena[k] = falseLiteral
      clauses.watch(literal, first, name)
      write -= 2
      continue
    }
    if (firstValue < 0) {
      conflict = name
      break
    }
    trail.assign(first, name)
  }
  if (read > write) {
    list.copyWithin(write, read, end)
    clauses.watchLength[falseLiteral] = end - read + write
  }
  return conflict
}
