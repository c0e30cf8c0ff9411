// The clause database: one arena for all clauses, and the two-watched-literal lists.
//
// A clause is a run of 32-bit words in the arena: a four-word head, then its literals; it is named
// by the offset of its head. Clauses of two or more literals are watched by their first two (Zhang
// and Stickel; Moskewicz et al., "Chaff", DAC 2001): a clause is looked at only when one of these
// becomes false. A watch carries a second literal of the clause, the blocker (Sörensson and Eén,
// MiniSat 2.1): when it is true the arena is not touched. A watch of a binary clause stores
// ~clause, and its blocker is all there is to know. Removal marks a clause; `compact` takes marked
// clauses out, moves the rest together and rebuilds the lists. Main class: Clauses.

import { enlarged } from '../base/grow.ts'
import { NONE, type Trail } from './trail.ts'

export const SIZE = 0 // number of literals
export const FLAGS = 1 // bit set of the flags below
export const GLUE = 2 // number of levels among its literals when learned
export const ID = 3 // name in the proof log
export const LITERALS = 4 // offset of the first literal

export const LEARNED = 1
export const REMOVED = 2
export const USED = 4 // took part in a conflict since the last reduction

const NO_WATCHES = new Int32Array(0)

export class Clauses {
  arena: Int32Array = new Int32Array(1024)
  used = 0 // words of the arena in use
  removedWords = 0
  learnedCount = 0
  visits = 0 // watches visited so far, a measure of work
  readonly watches: Int32Array[] = [] // literal -> pairs (blocker, clause)
  watchLength: Int32Array = new Int32Array(32) // literal -> words in use of its list

  newVariable(): void {
    this.watches.push(NO_WATCHES, NO_WATCHES)
    if (this.watches.length > this.watchLength.length) {
      this.watchLength = enlarged(this.watchLength, 2 * this.watchLength.length)
    }
  }

  /** Stores `count` literals as a clause; the caller attaches it. */
  add(literals: ArrayLike<number>, count: number, flags: number, glue: number, id: number): number {
    const clause = this.used
    const end = clause + LITERALS + count
    if (end > this.arena.length) {
      this.arena = enlarged(this.arena, Math.max(2 * this.arena.length, end))
    }
    const arena = this.arena
    arena[clause + SIZE] = count
    arena[clause + FLAGS] = flags
    arena[clause + GLUE] = glue
    arena[clause + ID] = id
    for (let i = 0; i < count; i++) arena[clause + LITERALS + i] = literals[i]!
    this.used = end
    if ((flags & LEARNED) !== 0) this.learnedCount++
    return clause
  }

  /** Watches the first two literals of a clause of two or more. */
  attach(clause: number): void {
    const first = this.arena[clause + LITERALS]!
    const second = this.arena[clause + LITERALS + 1]!
    const name = this.arena[clause + SIZE] === 2 ? ~clause : clause
    this.watch(first, second, name)
    this.watch(second, first, name)
  }

  watch(literal: number, blocker: number, name: number): void {
    const length = this.watchLength[literal]!
    let list = this.watches[literal]!
    if (length === list.length) {
      list = enlarged(list, length === 0 ? 4 : 2 * length)
      this.watches[literal] = list
    }
    list[length] = blocker
    list[length + 1] = name
    this.watchLength[literal] = length + 2
  }

  remove(clause: number): void {
    const flags = this.arena[clause + FLAGS]!
    if ((flags & REMOVED) !== 0) return
    this.arena[clause + FLAGS] = flags | REMOVED
    this.removedWords += LITERALS + this.arena[clause + SIZE]!
    if ((flags & LEARNED) !== 0) this.learnedCount--
  }

  /** The clause after this one in the arena; `used` after the last. */
  next(clause: number): number {
    return clause + LITERALS + this.arena[clause + SIZE]!
  }

  /** Takes removed clauses out and renames the reasons on the trail, which must all be left in. */
  compact(trail: Trail): void {
    const { arena, watches, watchLength } = this
    for (let i = 0; i < trail.size; i++) {
      const variable = trail.literals[i]! >> 1
      const clause = trail.reason[variable]!
      // The glue of a reason moves to its new place below; its word holds the variable meanwhile.
      if (clause !== NONE) trail.reason[variable] = this.lend(clause, variable)
    }
    watchLength.fill(0)
    let to = 0
    for (let clause = 0, after = 0; clause < this.used; clause = after) {
      after = this.next(clause)
      if ((arena[clause + FLAGS]! & REMOVED) !== 0) continue
      if (arena[clause + GLUE]! < 0) {
        const variable = ~arena[clause + GLUE]!
        arena[clause + GLUE] = trail.reason[variable]!
        trail.reason[variable] = to
      }
      arena.copyWithin(to, clause, after)
      if (arena[to + SIZE]! >= 2) this.attach(to)
      to += after - clause
    }
    this.used = to
    this.removedWords = 0
    // Lists that shrank much give their memory back.
    for (let literal = 0; literal < watches.length; literal++) {
      const length = watchLength[literal]!
      const list = watches[literal]!
      if (list.length > 64 && length * 4 < list.length) watches[literal] = list.slice(0, 2 * length)
    }
  }

  private lend(clause: number, variable: number): number {
    const glue = this.arena[clause + GLUE]!
    this.arena[clause + GLUE] = ~variable
    return glue
  }
}
