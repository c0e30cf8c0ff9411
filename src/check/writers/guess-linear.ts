// Whom reads saw if every transaction took effect at one moment between its start and its finish: a
// first guess, for histories in which each transaction uses one key and times are known. Key by key
// a depth-first search puts next whatever may come next and fits the value that the key has, and
// never comes twice to the same transactions done with the same value (Wing and Gong; Lowe). Gives
// up after so many steps: what it finds is judged like any other choice. Main function:
// guessLinear.

import type { Deadline } from '../../base/deadline.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  hasTimes,
  INITIAL,
  NONE,
  READ,
  WRITE,
} from '../../history/history.ts'
import { type Source, sourceOf } from '../../history/writers.ts'

const MOST_STEPS = 200_000

/** A source for every read that has a choice; null if there is no such order, or none is found. */
export function guessLinear(history: History, deadline: Deadline): Source[] | null {
  // Where no transaction counts there is nothing that lacks times, and there may be none.
  if (history.txnStartTime === null || !hasTimes(history)) return null
  const keys = txnsByKey(history)
  if (keys === null) return null
  const seen = new Int32Array(history.opCount).fill(NONE)
  for (const txns of keys.values()) {
    if (!new KeySearch(history, txns, seen, deadline).run()) return null
  }
  const writers = history.writers!
  return Array.from(writers.reads, (read, choice) =>
    // Of a transaction that never took effect, nobody asks.
    seen[read] === NONE
      ? sourceOf(writers, choice, writers.likeliest[choice]!)
      : { read, write: seen[read]! },
  )
}

/** Key -> the transactions that use it, by their start; null if one uses two, or no register. */
function txnsByKey(history: History): Map<number, number[]> | null {
  const { txnCount, txnStatus, txnIsInitial, txnOpStart, opKey, opKind, txnStartTime } = history
  const keys = new Map<number, number[]>()
  for (let txn = 0; txn < txnCount; txn++) {
    const [from, to] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
    if (txnStatus[txn] === ABORTED || txnIsInitial[txn] || from === to) continue
    for (let op = from; op < to; op++) {
      if (opKey[op] !== opKey[from] || opKind[op]! > WRITE) return null
    }
    const known = keys.get(opKey[from]!)
    if (known) known.push(txn)
    else keys.set(opKey[from]!, [txn])
  }
  for (const txns of keys.values()) txns.sort((a, b) => txnStartTime![a]! - txnStartTime![b]!)
  return keys
}

interface Frame {
  readonly next: readonly number[] // places that may come next
  tried: number
  readonly place: number // that was put before, NONE at first
  readonly before: number // the write that the key had then
}

class KeySearch {
  private readonly done: Uint8Array // place among the transactions -> 1 if it took effect
  private readonly been = new Set<string>()
  private current: number = INITIAL // the write whose value the key has
  private readonly initial: number // value id
  private left = 0 // committed ones that have not taken effect

  constructor(
    private readonly history: History,
    private readonly txns: readonly number[],
    private readonly seen: Int32Array, // read op -> the write it saw
    private readonly deadline: Deadline,
  ) {
    this.done = new Uint8Array(txns.length)
    const { initial, values } = history
    this.initial = initial === undefined ? NONE : values.of(initial)
    for (const txn of txns) if (history.txnStatus[txn] === COMMITTED) this.left++
  }

  run(): boolean {
    const frames: Frame[] = [{ next: this.next(), tried: 0, place: NONE, before: INITIAL }]
    for (let step = 0; step < MOST_STEPS; step++) {
      if (this.left === 0) return true
      this.deadline.step()
      const frame = frames.at(-1)
      if (frame === undefined) return false
      const place = frame.next[frame.tried++]
      if (place === undefined) {
        this.undo(frame)
        frames.pop()
        continue
      }
      const before = this.current
      if (!this.perform(this.txns[place]!)) {
        this.current = before
        continue
      }
      this.mark(place, 1)
      const here = this.nameOfState()
      if (this.been.has(here)) {
        this.undo({ place, before })
        continue
      }
      this.been.add(here)
      frames.push({ next: this.next(), tried: 0, place, before })
    }
    return false
  }

  /** Those that nobody precedes of whom is left. */
  private next(): number[] {
    const { txns, done } = this
    const { txnStartTime, txnFinishTime, txnStatus } = this.history
    const found: number[] = []
    let first = Number.POSITIVE_INFINITY // when the first of those that are left finishes
    for (let place = 0; place < txns.length; place++) {
      const txn = txns[place]!
      if (txnStartTime![txn]! > first) break
      if (done[place]) continue
      found.push(place)
      if (txnStatus[txn] === COMMITTED) first = Math.min(first, txnFinishTime![txn]!)
    }
    return found.filter((place) => txnStartTime![txns[place]!]! <= first)
  }

  /** Whether the transaction fits what the key has; then it has what that wrote. */
  private perform(txn: number): boolean {
    const { txnOpStart, opKind, opValue } = this.history
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === READ) {
        if (opValue[op] !== this.value()) return false
        this.seen[op] = this.current
      } else this.current = op
    }
    return true
  }

  private value(): number {
    return this.current === INITIAL ? this.initial : this.history.opValue[this.current]!
  }

  private mark(place: number, is: number): void {
    this.done[place] = is
    if (this.history.txnStatus[this.txns[place]!] === COMMITTED) this.left += is === 1 ? -1 : 1
  }

  private undo({ place, before }: Pick<Frame, 'place' | 'before'>): void {
    if (place === NONE) return
    this.mark(place, 0)
    this.current = before
  }

  /** What matters for all that follows: who took effect, and the value. */
  private nameOfState(): string {
    const { done } = this
    const first = done.indexOf(0)
    const later: number[] = []
    if (first >= 0) for (let i = first; i < done.length; i++) if (done[i]) later.push(i)
    return `${first} ${later.join()} ${this.value()}`
  }
}
