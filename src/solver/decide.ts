// Which variable to decide next: the one most active in recent conflicts.
//
// Exponential VSIDS (Moskewicz et al. 2001; Eén and Sörensson 2003): each variable met in a
// conflict gains the current increment, and the increment grows by 1/0.95 per conflict, which fades
// the past. A binary heap over the activities, with the place of each variable, gives the best open
// variable; assigned ones are dropped when met and come back when undone. The side to try is not
// decided here: see polarity in acyclic.ts.
//
// Or in turn, by their numbers: where those follow time, what contradicts itself was decided not
// long before, and little is undone. Main class: Decider.

import { enlarged } from '../base/grow.ts'
import { NONE, type Trail } from './trail.ts'

const DECAY = 0.95
const RESCALE_LIMIT = 1e100

export class Decider {
  private activity = new Float64Array(16) // variable -> activity
  private heap = new Int32Array(16) // place -> variable
  private place = new Int32Array(16) // variable -> place in the heap, NONE when out of it
  private size = 0
  private increment = 1
  private isInTurn = false
  private cursor = 0 // in turn: no variable before it is open

  newVariable(variable: number): void {
    if (variable === this.place.length) {
      this.activity = enlarged(this.activity, 2 * variable)
      this.heap = enlarged(this.heap, 2 * variable)
      this.place = enlarged(this.place, 2 * variable)
    }
    this.place[variable] = NONE
    this.restore(variable)
  }

  bump(variable: number): void {
    const activity = this.activity[variable]! + this.increment
    this.activity[variable] = activity
    if (activity > RESCALE_LIMIT) this.rescale()
    const place = this.place[variable]!
    if (place !== NONE) this.siftUp(place, variable)
  }

  decay(): void {
    this.increment /= DECAY
  }

  /** Has variables decided in the order of their numbers. */
  takeInTurn(): void {
    this.isInTurn = true
    this.cursor = 0
  }

  /** Has them decided by their activity again. */
  takeByActivity(variableCount: number): void {
    this.isInTurn = false
    for (let variable = 0; variable < variableCount; variable++) this.restore(variable)
  }

  /** Puts a variable that was undone back among the candidates. */
  restore(variable: number): void {
    if (this.isInTurn) this.cursor = Math.min(this.cursor, variable)
    else if (this.place[variable] === NONE) this.siftUp(this.size++, variable)
  }

  /** The open variable to decide, left where it is; NONE when all are assigned. */
  peek(trail: Trail): number {
    if (this.isInTurn) return this.peekInTurn(trail)
    while (this.size > 0) {
      const variable = this.heap[0]!
      if (trail.value[2 * variable] === 0) return variable
      this.removeTop()
    }
    return NONE
  }

  private peekInTurn({ value, variableCount }: Trail): number {
    let { cursor } = this
    while (cursor < variableCount && value[2 * cursor] !== 0) cursor++
    this.cursor = cursor
    return cursor < variableCount ? cursor : NONE
  }

  /** Takes the variable that `peek` returned out of the heap. */
  removeTop(): void {
    this.place[this.heap[0]!] = NONE
    const last = this.heap[--this.size]!
    if (this.size > 0) this.siftDown(last)
  }

  private rescale(): void {
    const activity = this.activity
    for (let i = 0; i < activity.length; i++) activity[i]! /= RESCALE_LIMIT
    this.increment /= RESCALE_LIMIT
  }

  private siftUp(hole: number, variable: number): void {
    const { heap, place, activity } = this
    const own = activity[variable]!
    let at = hole
    while (at > 0) {
      const parent = (at - 1) >> 1
      const other = heap[parent]!
      if (activity[other]! >= own) break
      heap[at] = other
      place[other] = at
      at = parent
    }
    heap[at] = variable
    place[variable] = at
  }

  private siftDown(variable: number): void {
    const { heap, place, activity, size } = this
    const own = activity[variable]!
    let at = 0
    while (true) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && activity[heap[child + 1]!]! > activity[heap[child]!]!) child++
      const other = heap[child]!
      if (activity[other]! <= own) break
      heap[at] = other
      place[other] = at
      at = child
    }
    heap[at] = variable
    place[variable] = at
  }
}
