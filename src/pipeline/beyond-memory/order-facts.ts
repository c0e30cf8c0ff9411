// What is wrong with an order, while it is told: of each stale read, whether whoever it skipped is
// among its reader's causes, and so has to come before what was read, or comes after what was read
// in any order, and so had better come after the reader. The former is forced at cc, the latter at
// ser; both only propose the next order. Causes are clocks, a position for each session, of the
// last transactions: what lies further back is not looked at. Main class: OrderFacts.

import { IntColumn } from '../../base/grow.ts'
import { NONE, WRITE } from '../../history/history.ts'
import { INITIAL_VALUE, type SessionCursor } from '../../spill/session-log.ts'

// Of each version.
const VALUE = 0
const WRITER = 1 // position, NONE before the first
const SESSION = 2 // of the writer
const BEFORE = 3 // the number in the log of the one before it, NONE if there is none
const STRIDE = 4
// Of each key, the last version and the one before it, which is not in the log: most reads that are
// stale in a bad order saw that one, and may come long after it was replaced.
const LAST = 0
const PREVIOUS = STRIDE
const KEY_STRIDE = 2 * STRIDE

/** How far back a stale read is followed. */
const MOST_SKIPPED = 256

export interface FactSink {
  /** The transaction at `earlier` has to come before the one at `later`, which it does not. */
  force(earlier: number, later: number): void
  /** It had better; both are positions. */
  prefer(earlier: number, later: number): void
}

export class OrderFacts {
  private readonly keys: Int32Array // key · KEY_STRIDE -> the last version, the one before it
  private readonly log: Int32Array // version · STRIDE -> VALUE …
  private readonly logMask: number
  private logged = 0
  /** Clocks: at `current` those of the sessions' last transactions, before it those of a window. */
  private readonly clocks: Int32Array // (position & windowMask) · width + session -> position
  private readonly windowMask: number
  private readonly current: number
  private at = NONE
  protected touched = 0
  // Of the transaction that is told: stale reads, with those that they skipped.
  private readonly seen = new IntColumn(16) // skipped -> position that was seen instead, or NONE
  private readonly seenSession = new IntColumn(16)
  private readonly skipped = new IntColumn(16) // positions
  private readonly skippedSession = new IntColumn(16)

  /**
   * @param width sessions
   * @param bytes that versions and clocks may take, each
   */
  constructor(
    private readonly width: number,
    keyCount: number,
    bytes: number,
    private readonly sink: FactSink,
  ) {
    this.keys = new Int32Array(keyCount * KEY_STRIDE).fill(NONE)
    this.log = new Int32Array(STRIDE * sizeFor(bytes, STRIDE))
    this.logMask = this.log.length / STRIDE - 1
    const rows = sizeFor(bytes, width)
    this.windowMask = rows - 1
    this.current = rows * width
    this.clocks = new Int32Array((rows + width) * width).fill(NONE)
  }

  /** Another order begins. */
  clear(): void {
    this.keys.fill(NONE)
    this.clocks.fill(NONE)
    this.logged = 0
  }

  /** The next transaction of the order, which counts. */
  tell(at: number, session: number, cursor: SessionCursor): void {
    const { keys, clocks, width } = this
    this.at = at
    const key = cursor.key.data
    const value = cursor.value.data
    const end = cursor.opCount
    const row = this.current + session * width
    // All keys at once, so that memory is waited for once and not for each.
    let touched = 0
    for (let op = 0; op < end; op++) touched += keys[(key[op]! >> 1) * KEY_STRIDE]!
    this.touched = touched
    for (let op = 0; op < end; op++) {
      if (key[op]! % 2 === WRITE) continue
      const slot = (key[op]! >> 1) * KEY_STRIDE
      const writer = keys[slot + WRITER]!
      if (writer === NONE ? value[op] === INITIAL_VALUE : keys[slot + VALUE] === value[op]) {
        if (writer !== NONE) this.join(row, writer, keys[slot + SESSION]!)
      } else if (writer !== NONE) this.takeStale(row, slot, value[op]!)
    }
    if (this.skipped.length > 0) this.compare(row)
    for (let op = 0; op < end; op++) {
      if (key[op]! % 2 === WRITE) this.write((key[op]! >> 1) * KEY_STRIDE, value[op]!, session)
    }
    clocks[row + session] = at
    clocks.copyWithin((at & this.windowMask) * width, row, row + width)
  }

  private write(slot: number, value: number, session: number): void {
    const { keys, log, at } = this
    const writer = keys[slot + WRITER]!
    if (writer !== at && writer !== NONE) {
      const previous = slot + PREVIOUS
      let before: number = NONE
      if (keys[previous + WRITER] !== NONE) {
        const to = (this.logged & this.logMask) * STRIDE
        for (let i = 0; i < STRIDE; i++) log[to + i] = keys[previous + i]!
        before = this.logged++
      }
      keys.copyWithin(previous, slot + LAST, slot + LAST + STRIDE)
      keys[previous + BEFORE] = before
    }
    keys[slot + VALUE] = value
    keys[slot + WRITER] = at
    keys[slot + SESSION] = session
  }

  /** A transaction that is read from is a cause, with all of its causes. */
  private join(row: number, source: number, session: number): void {
    const { clocks, windowMask, width, at } = this
    if (clocks[row + session]! >= source) return
    if (at - source > windowMask) {
      clocks[row + session] = source
      return
    }
    const from = (source & windowMask) * width
    for (let s = 0; s < width; s++) {
      const cause = clocks[from + s]!
      if (cause > clocks[row + s]!) clocks[row + s] = cause
    }
  }

  private takeStale(row: number, slot: number, value: number): void {
    const { keys, log, logMask, skipped, skippedSession } = this
    const first = skipped.length
    const skip = (of: Int32Array, from: number) => {
      skipped.push(of[from + WRITER]!)
      skippedSession.push(of[from + SESSION]!)
    }
    skip(keys, slot)
    let isFound = value === INITIAL_VALUE
    let seen: number = NONE
    let session: number = NONE
    let versions = keys
    let at = slot + PREVIOUS
    while (versions[at + WRITER] !== NONE) {
      if (versions[at + VALUE] === value) {
        seen = versions[at + WRITER]!
        session = versions[at + SESSION]!
        isFound = true
        break
      }
      skip(versions, at)
      const version = versions[at + BEFORE]!
      if (version === NONE || this.logged - version > logMask) break
      if (skipped.length - first > MOST_SKIPPED) break
      versions = log
      at = (version & logMask) * STRIDE
    }
    if (!isFound) {
      skipped.length = first
      skippedSession.length = first
      return
    }
    if (seen !== NONE) this.join(row, seen, session)
    while (this.seen.length < skipped.length) {
      this.seen.push(seen)
      this.seenSession.push(session)
    }
  }

  private compare(row: number): void {
    const { skipped, skippedSession, seen, seenSession, clocks, sink, at } = this
    for (let i = 0; i < skipped.length; i++) {
      const writer = skipped.data[i]!
      const source = seen.data[i]!
      if (clocks[row + skippedSession.data[i]!]! >= writer) {
        if (source !== NONE) sink.force(writer, source)
      } else if (source === NONE || this.isCause(source, seenSession.data[i]!, writer)) {
        sink.prefer(at, writer)
      }
    }
    for (const column of [skipped, skippedSession, seen, seenSession]) column.length = 0
  }

  private isCause(source: number, session: number, of: number): boolean {
    const { clocks, windowMask, width, at } = this
    return at - of <= windowMask && clocks[(of & windowMask) * width + session]! >= source
  }
}

/** How many rows of so many integers there is room for: a power of two. */
function sizeFor(bytes: number, width: number): number {
  let rows = 16
  while (2 * rows * width * 4 <= bytes && rows < 1 << 20) rows *= 2
  return rows
}
