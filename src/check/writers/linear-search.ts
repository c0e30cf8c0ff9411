// Whether the transactions that use one key can have taken effect one after another, each at a
// moment between its start and its finish: a depth-first search that puts next whatever may come
// next and fits the value that the key has, and never comes twice to the same transactions done
// with the same value (Wing and Gong 1993; Lowe 2017). What need not be tried:
//
// - anything but a reader that may come next and sees what it read: nobody is worse off if it does
//   so at once; nor anything but a write that nobody reads over a value that nobody reads;
// - an indeterminate write, unless somebody who may come next reads it: else it could be left out.
//   Those that do the same are tried the one that began first, and to have used fewer of them is
//   never worse;
// - a write over a value that somebody has yet to read, and that nobody who is left writes again
//   early enough: the reader who finishes first tells.
//
// Reads that do not bind see anything. Exponential in how many run at once. Main class:
// LinearSearch.

import type { Deadline } from '../../base/deadline.ts'
import { COMMITTED, type History, INITIAL, NONE, READ } from '../../history/history.ts'

/** Of one value, places in the order in which they are asked for. */
interface Places {
  readonly readers: number[] // committed, by their finish
  readonly writers: number[] // committed, by their start
  readonly unsure: number[] // classes that write it
  firstReader: number // all readers before it are done
  firstWriter: number
}

interface Frame {
  readonly next: readonly number[] // places that may come next
  tried: number
  readonly place: number // that was put before, NONE at first
  readonly before: number // the write that the key had then
}

/** A value that nobody reads, whichever it is. */
const ANY = -3

export class LinearSearch {
  // A place is one of the committed transactions, or a class of indeterminate ones behind them.
  private readonly sure: readonly number[] // place -> txn, by their start
  private readonly unsure: readonly (readonly number[])[] // class -> txns that do the same
  private readonly needs: Int32Array // place -> value that it reads at first, or NONE
  private readonly leaves: Int32Array // place -> value that it writes, ANY if unread, or NONE
  private readonly done: Uint8Array // place of a committed one -> 1 if it took effect
  private readonly used: Int32Array // class -> how many took effect
  private readonly read = new Set<number>() // values that binding reads saw
  private readonly ofValue = new Map<number, Places>()
  private readonly rankAsReader: Int32Array // place -> index among the readers of what it needs
  private readonly rankAsWriter: Int32Array
  /** State -> how many of each class were used there. */
  private readonly been = new Map<string, Int32Array[]>()
  private readonly initial: number // value id, NONE if there is none
  private first = 0 // all places before it are done
  private left: number
  private current: number = INITIAL // the write whose value the key has

  /**
   * @param txns that did not abort, by their start
   * @param binds op -> 1 if it is a read that must see what it says
   * @param seen read op -> the write it saw, filled in
   */
  constructor(
    private readonly history: History,
    txns: readonly number[],
    private readonly binds: Uint8Array,
    private readonly seen: Int32Array,
    private readonly deadline: Deadline,
  ) {
    const { txnOpStart, txnStatus, opValue, initial, values } = history
    this.initial = initial === undefined ? NONE : values.of(initial)
    const sure: number[] = []
    const classes = new Map<string, number[]>()
    for (const txn of txns) {
      const told: string[] = []
      let doesAnything = false
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (this.isRead(op) && !binds[op]) continue
        if (this.isRead(op)) this.read.add(opValue[op]!)
        doesAnything ||= txnStatus[txn] === COMMITTED || !this.isRead(op)
        told.push(`${this.isRead(op) ? 'r' : 'w'}${opValue[op]}`)
      }
      if (!doesAnything) continue
      const name = told.join()
      if (txnStatus[txn] === COMMITTED) sure.push(txn)
      else if (classes.has(name)) classes.get(name)!.push(txn)
      else classes.set(name, [txn])
    }
    this.sure = sure
    this.unsure = [...classes.values()]
    this.left = sure.length
    this.done = new Uint8Array(sure.length)
    this.used = new Int32Array(this.unsure.length)
    const heads = [...sure, ...this.unsure.map(([txn]) => txn!)]
    this.needs = Int32Array.from(heads, (txn) => this.needOf(txn))
    this.leaves = Int32Array.from(heads, (txn) => this.leftBy(txn))
    this.rankAsReader = new Int32Array(sure.length)
    this.rankAsWriter = new Int32Array(sure.length)
    this.sortByValue()
  }

  private sortByValue(): void {
    const { sure, needs, leaves, ofValue, rankAsReader, rankAsWriter } = this
    const { txnFinishTime } = this.history
    for (const value of this.read) {
      const places = { readers: [], writers: [], unsure: [], firstReader: 0, firstWriter: 0 }
      ofValue.set(value, places)
    }
    for (let place = 0; place < needs.length; place++) {
      const isSure = place < sure.length
      if (isSure) ofValue.get(needs[place]!)?.readers.push(place)
      const written = ofValue.get(leaves[place]!)
      if (isSure) written?.writers.push(place)
      else written?.unsure.push(place - sure.length)
    }
    const finishOf = (place: number) => txnFinishTime![sure[place]!]!
    for (const { readers, writers } of ofValue.values()) {
      readers.sort((a, b) => finishOf(a) - finishOf(b))
      for (let i = 0; i < readers.length; i++) rankAsReader[readers[i]!] = i
      for (let i = 0; i < writers.length; i++) rankAsWriter[writers[i]!] = i
    }
  }

  /** Null if it gave up after so many steps. */
  run(mostSteps: number): boolean | null {
    const frames: Frame[] = [{ next: this.next(), tried: 0, place: NONE, before: INITIAL }]
    for (let step = 0; step < mostSteps; step++) {
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
      const value = this.value()
      if (!this.perform(this.txnAt(place))) {
        this.current = before
        continue
      }
      this.mark(place, 1)
      const isDead = this.value() !== value && this.isMissed(value)
      if (isDead || this.hasBeenHere()) this.undo({ place, before })
      else frames.push({ next: this.next(), tried: 0, place, before })
    }
    return null
  }

  /** Those that nobody precedes of whom is left, as far as they need to be tried. */
  private next(): number[] {
    const { sure, done, needs, leaves } = this
    const { txnStartTime, txnFinishTime } = this.history
    let open: number[] = []
    let until = Number.POSITIVE_INFINITY // when the first of those that are left finishes
    for (let place = this.first; place < sure.length; place++) {
      if (txnStartTime![sure[place]!]! > until) break
      if (done[place]) continue
      open.push(place)
      until = Math.min(until, txnFinishTime![sure[place]!]!)
    }
    open = open.filter((place) => txnStartTime![sure[place]!]! <= until)
    const value = this.value()
    for (const place of open) {
      const isAtHand = leaves[place] === NONE && needs[place] === value
      const isUnread = value === ANY && needs[place] === NONE && leaves[place] === ANY
      if (isAtHand || isUnread) return [place]
    }
    const late = this.unsure.flatMap((txns, i) => {
      const txn = txns[this.used[i]!]
      return txn === undefined || txnStartTime![txn]! > until ? [] : [sure.length + i]
    })
    const wanted = new Set([...open, ...late].map((place) => needs[place]!))
    const finishOf = (place: number) => txnFinishTime![sure[place]!]!
    open.sort((a, b) => finishOf(a) - finishOf(b))
    const isWanted = (place: number) => leaves[place] !== ANY && wanted.has(leaves[place]!)
    const others = open.filter((place) => !isWanted(place))
    return [...open.filter(isWanted), ...late.filter(isWanted), ...others]
  }

  /** Whether the transaction fits what the key has; then it has what that wrote. */
  private perform(txn: number): boolean {
    const { txnOpStart, opValue } = this.history
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (!this.isRead(op)) this.current = op
      else if (this.binds[op]) {
        if (opValue[op] !== this.valueOf(this.current)) return false
        this.seen[op] = this.current
      }
    }
    return true
  }

  /** Whether somebody has yet to read a value that the key had, and will not have in time. */
  private isMissed(value: number): boolean {
    const { sure, unsure, used, done } = this
    const places = this.ofValue.get(value)
    if (places === undefined) return false
    const { readers, writers } = places
    while (done[readers[places.firstReader]!]) places.firstReader++
    const reader = readers[places.firstReader]
    if (reader === undefined) return false
    const { txnStartTime, txnFinishTime } = this.history
    const finish = txnFinishTime![sure[reader]!]!
    const isInTime = (txn: number | undefined) => txn !== undefined && txnStartTime![txn]! <= finish
    while (done[writers[places.firstWriter]!]) places.firstWriter++
    if (isInTime(sure[writers[places.firstWriter]!])) return false
    return !places.unsure.some((each) => isInTime(unsure[each]![used[each]!]))
  }

  /** Whether it was here before, and had used no more. */
  private hasBeenHere(): boolean {
    const { done, used } = this
    const later: number[] = []
    for (let place = this.first, left = this.left; done.length - place > left; place++) {
      if (done[place]) later.push(place)
      else left--
    }
    const here = `${this.first} ${later.join()} ${this.value()}`
    const known = this.been.get(here)
    if (known?.some((before) => before.every((count, i) => count <= used[i]!))) return true
    if (known) known.push(used.slice())
    else this.been.set(here, [used.slice()])
    return false
  }

  private mark(place: number, is: number): void {
    const { sure, done, used, needs, leaves } = this
    if (place >= sure.length) used[place - sure.length]! += is === 1 ? 1 : -1
    else {
      done[place] = is
      this.left += is === 1 ? -1 : 1
      if (is === 1) while (done[this.first]) this.first++
      else {
        this.first = Math.min(this.first, place)
        const [needed, left] = [this.ofValue.get(needs[place]!), this.ofValue.get(leaves[place]!)]
        if (needed) needed.firstReader = Math.min(needed.firstReader, this.rankAsReader[place]!)
        if (left) left.firstWriter = Math.min(left.firstWriter, this.rankAsWriter[place]!)
      }
    }
  }

  private undo({ place, before }: Pick<Frame, 'place' | 'before'>): void {
    if (place === NONE) return
    this.mark(place, 0)
    this.current = before
  }

  private txnAt(place: number): number {
    const { sure, unsure, used } = this
    const at = place - sure.length
    return at < 0 ? sure[place]! : unsure[at]![used[at]!]!
  }

  /** What the key has; of values that nobody reads it does not matter which. */
  private value(): number {
    const value = this.valueOf(this.current)
    return this.read.has(value) ? value : ANY
  }

  private valueOf(write: number): number {
    return write === INITIAL ? this.initial : this.history.opValue[write]!
  }

  private needOf(txn: number): number {
    const { txnOpStart, opValue } = this.history
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (!this.isRead(op)) return NONE
      if (this.binds[op]) return opValue[op]!
    }
    return NONE
  }

  private leftBy(txn: number): number {
    const { txnOpStart, opValue } = this.history
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      if (!this.isRead(op)) return this.read.has(opValue[op]!) ? opValue[op]! : ANY
    }
    return NONE
  }

  private isRead(op: number): boolean {
    return this.history.opKind[op] === READ
  }
}
