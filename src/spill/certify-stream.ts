// Verifies that the order in which a file tells its transactions proves a level, while the file is
// read once more: every read of a committed transaction must have its own latest write, or the last
// write of a transaction before it, and may not miss what the level had to show it. At cc that is
// asked backward, from the reader over whom it read from and whom they read from. In memory are the
// last version of each key and a window of others and of readers; what lies before it cannot be
// verified so. Shares the parser with whoever decided, and nothing else. Main class:
// StreamReplay.

import { enlarged, IntColumn } from '../base/grow.ts'
import { TOUCHED_OPS, touch } from '../base/touch.ts'
import { COMMITTED, NONE, WRITE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import type { StreamPiece } from './file-stream.ts'
import { SMALL } from './symbol-code.ts'

export interface StreamCertification {
  /** What is wrong with the order; null if it proves the level. */
  readonly problem: string | null
  /** Whether it could be verified to the end. */
  readonly isComplete: boolean
}

const WINDOW = 1 << 20 // transactions, and versions that were replaced, at most
const MOST_SKIPPED = 1 << 14

// Of each key, the last version.
const STRIDE = 4
const VALUE = 0
const WRITER = 1 // position, NONE before the first
const OLDER = 2 // the replaced version before it, or NONE
// And the one before it, where that is asked for: the window has those that were replaced by it.
const BEFORE = 4
const STRIDE_WITH_BEFORE = 8

export class StreamReplay {
  private problem: string | null = null
  private isComplete = true
  private readonly window: number // a power of two
  private readonly stride: number
  private keys = new Int32Array(0) // key · stride -> VALUE …
  protected touched = 0
  // Versions that were replaced, each at its number modulo the window.
  private replacedCount = 0
  private readonly replacedValue: Int32Array
  private readonly replacedWriter: Int32Array
  private readonly replacedOlder: Int32Array
  // Of each position, modulo the window.
  private readonly sessionAt: Int32Array
  private readonly previousAt: Int32Array // the one before in its session, or NONE
  private readonly readsAt: Int32Array // its first entry in `from`, by its number
  private readonly visited: Int32Array // position + 1 of the reader that came by last
  private readonly from: Int32Array // position that a read saw, modulo four times the window
  private fromCount = 0
  private readonly lastOf = new IntColumn(16) // session -> its last position
  // The transaction that is replayed.
  private txn: number = NONE
  private counts = false
  private snapshot: number = NONE // at si: the last that its snapshot has to hold
  private readonly missed = new IntColumn(16) // positions of those that reads skipped
  private readonly missedAfter = new IntColumn(16) // entries of `from` before that read
  private readonly stack = new IntColumn(16)

  /**
   * @param bytes that it may take, keys aside
   * @param keepsBefore whether the version before the last is kept for each key, however old: in
   *   orders that are told nearly right, reads see that one long after it was replaced
   */
  constructor(
    private readonly level: LevelId & ('rc' | 'ra' | 'cc' | 'si' | 'ser'),
    bytes: number,
    private readonly keepsBefore = false,
  ) {
    this.stride = keepsBefore ? STRIDE_WITH_BEFORE : STRIDE
    let window = 16
    while (window < WINDOW && 2 * window * 44 <= bytes) window *= 2
    this.window = window
    const make = (length = window) => new Int32Array(length)
    this.replacedValue = make()
    this.replacedWriter = make()
    this.replacedOlder = make()
    this.sessionAt = make()
    this.previousAt = make()
    this.readsAt = make()
    this.visited = make()
    this.from = make(4 * window)
  }

  /** The next piece of the file; false if it need not be given more. */
  take(piece: StreamPiece, keyCount: number): boolean {
    const { stride } = this
    if (keyCount * stride > this.keys.length) {
      this.keys = enlarged(this.keys, Math.ceil(keyCount * 1.5) * stride, NONE)
    }
    const { builder, first, initial, txnCount } = piece
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const { keys } = this
    for (let i = 0; i < builder.opCount; i++) {
      if (i % TOUCHED_OPS === 0) {
        this.touched = touch(keys, stride, opKey, i, Math.min(i + TOUCHED_OPS, builder.opCount))
      }
      const txn = first + opTxn[i]!
      if (txn !== this.txn) this.goTo(txn, piece)
      if (!this.counts) continue
      const key = opKey[i]! * stride
      const by = keys[key + WRITER]!
      if (opKind[i] === WRITE) {
        if (opValue[i]! >= SMALL) this.isComplete = false // its id is of this piece alone
        if (by !== txn) this.replace(key)
        keys[key + VALUE] = opValue[i]!
      } else if (by === NONE) {
        if (opValue[i] !== initial) this.fail('read what nobody had written before it')
      } else if (keys[key + VALUE] === opValue[i]) {
        if (by !== txn) this.addRead(by)
      } else if (by === txn) {
        this.fail('did not read its own write')
      } else {
        this.addOldRead(key, opValue[i]!, initial)
      }
    }
    this.goTo(first + txnCount - 1, piece)
    return this.isComplete && this.problem === null
  }

  /** All was taken. */
  finish(): StreamCertification {
    this.endTxn()
    const { problem, isComplete } = this
    return { problem: isComplete ? problem : null, isComplete }
  }

  private goTo(txn: number, { first, txnSession, builder }: StreamPiece): void {
    if (txn < this.txn) this.fail('does not stand by itself')
    while (this.txn < txn) {
      this.endTxn()
      const at = ++this.txn
      const session = txnSession[at - first]!
      while (this.lastOf.length <= session) this.lastOf.push(NONE)
      this.counts = builder.statusOf(at - first) === COMMITTED
      const slot = at & (this.window - 1)
      this.sessionAt[slot] = session
      this.previousAt[slot] = this.lastOf.data[session]!
      this.readsAt[slot] = this.fromCount
      this.snapshot = this.lastOf.data[session]!
      if (this.counts) this.lastOf.data[session] = at
    }
  }

  /** The transaction writes a key for the first time. */
  private replace(key: number): void {
    const { keys } = this
    const by = keys[key + WRITER]!
    keys[key + WRITER] = this.txn
    if (by === NONE) return
    if (by > this.snapshot) this.snapshot = by
    const value = keys[key + VALUE]!
    if (!this.keepsBefore) {
      keys[key + OLDER] = this.retire(value, by, keys[key + OLDER]!)
      return
    }
    const before = key + BEFORE
    const older = keys[before + OLDER]!
    const last = keys[before + WRITER]!
    keys[before + OLDER] = last === NONE ? NONE : this.retire(keys[before + VALUE]!, last, older)
    keys[before + VALUE] = value
    keys[before + WRITER] = by
  }

  /** A version goes to the window; returns its number. */
  private retire(value: number, writer: number, older: number): number {
    const slot = this.replacedCount & (this.window - 1)
    this.replacedValue[slot] = value
    this.replacedWriter[slot] = writer
    this.replacedOlder[slot] = older
    return this.replacedCount++
  }

  private addRead(source: number): void {
    this.from[this.fromCount++ & (4 * this.window - 1)] = source
    if (source > this.snapshot) this.snapshot = source
  }

  private addOldRead(key: number, value: number, initial: number): void {
    const { keys } = this
    const before = this.fromCount
    this.miss(keys[key + WRITER]!, before)
    let version = keys[key + OLDER]!
    if (this.keepsBefore && keys[key + BEFORE + WRITER] !== NONE) {
      const by = keys[key + BEFORE + WRITER]!
      if (keys[key + BEFORE + VALUE] === value) {
        this.addRead(by)
        return
      }
      this.miss(by, before)
      version = keys[key + BEFORE + OLDER]!
    }
    while (version !== NONE) {
      if (this.replacedCount - version > this.window || this.missed.length > MOST_SKIPPED) {
        this.isComplete = false
        return
      }
      const slot = version & (this.window - 1)
      const by = this.replacedWriter[slot]!
      if (this.replacedValue[slot] === value) {
        this.addRead(by)
        return
      }
      this.miss(by, before)
      version = this.replacedOlder[slot]!
    }
    if (value !== initial) this.fail('read what nobody had written before it')
  }

  private miss(writer: number, before: number): void {
    this.missed.push(writer)
    this.missedAfter.push(before)
  }

  private endTxn(): void {
    const { missed, level } = this
    if (missed.length === 0) return
    const had = level === 'cc' ? this.findCause() : this.findDirect()
    if (had !== NONE) this.fail(`had to see ${had}`)
    missed.length = 0
    this.missedAfter.length = 0
  }

  /** One of those missed that the level had to show, NONE if there is none. */
  private findDirect(): number {
    const { missed, missedAfter, level, window, from, txn } = this
    const here = txn & (window - 1)
    const isWide = level !== 'si' && this.fromCount - this.readsAt[here]! > 4 * window
    if (isWide) this.isComplete = false
    for (let i = 0; i < missed.length; i++) {
      const writer = missed.data[i]!
      if (level === 'ser' || (level === 'si' && writer <= this.snapshot)) return writer
      if (level === 'si') continue
      if (level === 'ra') {
        if (txn - writer >= window) this.isComplete = false
        if (this.sessionAt[writer & (window - 1)] === this.sessionAt[here]) return writer
      }
      const end = level === 'rc' ? missedAfter.data[i]! : this.fromCount
      for (let read = this.readsAt[here]!; read < end; read++) {
        if (from[read & (4 * window - 1)] === writer) return writer
      }
    }
    return NONE
  }

  /** One of those missed that is a cause of the transaction, NONE if there is none. */
  private findCause(): number {
    const { missed, window, from, visited, stack, txn } = this
    const wanted = new Set<number>()
    let least = txn
    for (const writer of missed.view()) {
      wanted.add(writer)
      if (writer < least) least = writer
    }
    const tooOld = this.fromCount - this.readsAt[least & (window - 1)]! > 4 * window
    if (txn - least >= window || tooOld) {
      this.isComplete = false
      return NONE
    }
    stack.length = 0
    const visit = (at: number) => {
      if (at < least || visited[at & (window - 1)] === txn + 1) return
      visited[at & (window - 1)] = txn + 1
      stack.push(at)
    }
    for (let at = txn; ; at = stack.data[--stack.length]!) {
      if (wanted.has(at)) return at
      visit(this.previousAt[at & (window - 1)]!)
      const end = at === txn ? this.fromCount : this.readsAt[(at + 1) & (window - 1)]!
      for (let read = this.readsAt[at & (window - 1)]!; read < end; read++) {
        visit(from[read & (4 * window - 1)]!)
      }
      if (stack.length === 0) return NONE
    }
  }

  private fail(what: string): void {
    this.problem ??= `the transaction at ${this.txn} ${what}`
  }
}
