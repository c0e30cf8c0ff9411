// Whether cases leave any choice of writers open. Each read with several possible writers is a
// choice; a case is some choices that do not go together. Tries to find choices that no case
// forbids, by what follows from the cases and, where nothing does, by trying one value after the
// other of the case that is nearest to being forbidden. Choices may have to add up besides: what is
// chosen and what is still open must be able to reach the total. Exponential in the worst case, so
// with a deadline; no recursion. Main functions: coverChoices, addsUp.

import type { Deadline } from '../base/deadline.ts'
import type { Sums } from '../history/history.ts'

/** Choices that do not go together: pairs of a choice and the position of its value. */
export interface Clash {
  readonly choices: readonly number[]
  readonly values: readonly number[] // of `choices`, in the same order
}

const OPEN = -1

interface Frame {
  readonly trailStart: number
  readonly choice: number
  next: number // the value to try next
}

/**
 * The clashes that together forbid every choice, by position; null if one is left open.
 * @param sizes choice -> how many values it has
 * @param sums what choices must add up to
 */
export function coverChoices(
  sizes: ArrayLike<number>,
  clashes: readonly Clash[],
  deadline: Deadline,
  sums: Sums | null = null,
): number[] | null {
  return new Cover(sizes, clashes, deadline, sums).run()
}

/** Whether choices, each with its value, add up to what they must. */
export function addsUp({ start, choice, weight, total }: Sums, values: Int32Array): boolean {
  return total.every((wanted, sum) => {
    let found = 0
    for (let at = start[sum]!; at < start[sum + 1]!; at++) {
      if (values[choice[at]!] === 1) found += weight[at]!
    }
    return found === wanted
  })
}

class Cover {
  private readonly chosen: Int32Array // choice -> its value, OPEN
  /** choice -> value -> clash that bars it now, OPEN; of choices that were looked at. */
  private readonly bars = new Map<number, Int32Array>()
  private readonly left: Int32Array // choice -> values that are not barred
  private readonly clashesOf: number[][] // choice -> clashes that speak of it
  private readonly used = new Set<number>()
  private readonly trail: [choice: number, value: number][] = [] // value OPEN: it was chosen

  constructor(
    private readonly sizes: ArrayLike<number>,
    private readonly clashes: readonly Clash[],
    private readonly deadline: Deadline,
    private readonly sums: Sums | null,
  ) {
    const count = sizes.length
    this.chosen = new Int32Array(count).fill(OPEN)
    this.left = Int32Array.from(sizes)
    this.clashesOf = Array.from({ length: count }, () => [])
    clashes.forEach(({ choices }, clash) => {
      for (const choice of choices) this.clashesOf[choice]!.push(clash)
    })
  }

  run(): number[] | null {
    const { clashes, used } = this
    const empty = clashes.findIndex(({ choices }) => choices.length === 0)
    if (empty >= 0) return [empty]
    const frames: Frame[] = []
    let isOpen = clashes.every((_, clash) => this.look(clash)) && this.settle(0) && this.canAddUp()
    for (;;) {
      this.deadline.step()
      if (isOpen) {
        const choice = this.pick()
        if (choice === OPEN) return null // every sum is complete, or there is none
        frames.push({ trailStart: this.trail.length, choice, next: 0 })
      }
      const frame = frames.at(-1)
      if (frame === undefined) return [...used].sort((a, b) => a - b)
      this.undo(frame.trailStart)
      const { choice } = frame
      while (frame.next < this.sizes[choice]! && this.barsOf(choice)[frame.next] !== OPEN) {
        frame.next++
      }
      if (frame.next === this.sizes[choice]) {
        frames.pop()
        isOpen = false
        continue
      }
      const from = this.trail.length
      isOpen = this.choose(choice, frame.next++) && this.settle(from) && this.canAddUp()
    }
  }

  /** The choice that is spoken of by the clash with the fewest choices open; OPEN if none is. */
  private pick(): number {
    let best = OPEN
    let fewest = Number.POSITIVE_INFINITY
    for (const { choices, values } of this.clashes) {
      let [open, first] = [0, OPEN]
      const isPast = choices.some((choice, i) => {
        const value = this.chosen[choice]!
        if (value === OPEN) {
          open++
          if (first === OPEN) first = choice
          return this.barsOf(choice)[values[i]!] !== OPEN
        }
        return value !== values[i]
      })
      if (isPast || open === 0 || open >= fewest) continue
      fewest = open
      best = first
    }
    return best === OPEN ? this.pickOfSum() : best
  }

  /** A choice of a sum that is not complete; OPEN if all are. */
  private pickOfSum(): number {
    const at = this.sums?.choice.findIndex((choice) => this.chosen[choice] === OPEN) ?? OPEN
    return at < 0 ? OPEN : this.sums!.choice[at]!
  }

  /** Whether what is chosen, and some of what is not barred, may reach the total of each sum. */
  private canAddUp(): boolean {
    if (this.sums === null) return true
    const { start, choice, weight, total } = this.sums
    for (let sum = 0; sum < total.length; sum++) {
      let [least, most] = [0, 0]
      for (let at = start[sum]!; at < start[sum + 1]!; at++) {
        this.deadline.step()
        const [value, barred] = [this.chosen[choice[at]!]!, this.barsOf(choice[at]!)]
        if (value === 1 || (value === OPEN && barred[0] !== OPEN)) least += weight[at]!
        if (value === 1 || (value === OPEN && barred[1] === OPEN)) most += weight[at]!
      }
      if (least > total[sum]! || most < total[sum]!) return false
    }
    return true
  }

  private choose(choice: number, value: number): boolean {
    if (this.chosen[choice] !== OPEN) return this.chosen[choice] === value
    this.chosen[choice] = value
    this.trail.push([choice, OPEN])
    return this.clashesOf[choice]!.every((clash) => this.look(clash))
  }

  /** Follows what the trail from there on leads to. */
  private settle(from: number): boolean {
    for (let at = from; at < this.trail.length; at++) {
      this.deadline.step()
      const [choice, value] = this.trail[at]!
      if (value === OPEN || this.chosen[choice] !== OPEN || this.left[choice]! > 1) continue
      if (!this.choose(choice, this.barsOf(choice).indexOf(OPEN))) return false
    }
    return true
  }

  /** What a clash says now; false if it is complete, or leaves a choice without a value. */
  private look(clash: number): boolean {
    const { choices, values } = this.clashes[clash]!
    let last = OPEN // position of the only one that is open
    for (let i = 0; i < choices.length; i++) {
      const value = this.chosen[choices[i]!]!
      if (value === values[i]) continue
      if (value !== OPEN || last !== OPEN) return true
      last = i
    }
    this.used.add(clash)
    if (last === OPEN) return false
    const [choice, value] = [choices[last]!, values[last]!]
    const barred = this.barsOf(choice)
    if (barred[value] !== OPEN) return true
    barred[value] = clash
    this.left[choice]!--
    this.trail.push([choice, value])
    return this.left[choice]! > 0
  }

  private barsOf(choice: number): Int32Array {
    const known = this.bars.get(choice)
    if (known !== undefined) return known
    const made = new Int32Array(this.sizes[choice]!).fill(OPEN)
    this.bars.set(choice, made)
    return made
  }

  private undo(length: number): void {
    while (this.trail.length > length) {
      const [choice, value] = this.trail.pop()!
      if (value === OPEN) this.chosen[choice] = OPEN
      else {
        this.barsOf(choice)[value] = OPEN
        this.left[choice]!++
      }
    }
  }
}
