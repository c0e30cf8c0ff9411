// What reads of an older version must not have skipped at psi and Adya's levels from pl-cs on. In
// an order of transactions the writer that comes next after the version read is the one that was
// missed: the reader precedes it, an anti-dependency against the order. At pl-2.99, and for those
// who write at pl-3u, that alone breaks the order; at pl-cs if the reader writes the key too. Else
// the question is whether whoever was missed leads back to the reader, along sessions, reads and
// versions (at pl-3u also along anti-dependencies between those who write; at pl-2l before the read
// itself). Questions are answered 32 at a time, by one run through the part of the order they lie
// in. Main function: findSkippedDependency.

import { INITIAL, NONE, READ, READ_LIST } from '../history/history.ts'
import { isLastWrite, isWrite } from './certify-reads.ts'
import type { Replayed, Skip } from './certify-skipped.ts'
import type { Overwrites } from './level-rules.ts'

const QUESTIONS_PER_RUN = 32 // bits of a number

/** Does what was missed lead back to the reader? */
interface Question {
  readonly read: number
  readonly missed: number
}

export function findSkippedDependency(replayed: Replayed, overwrites: Overwrites): Skip | null {
  const { history, position, sources, older } = replayed
  const writers = new WriterOrder(replayed)
  const questions: Question[] = []
  for (const read of older) {
    const reader = history.opTxn[read]!
    const missed = writers.nextAfter(sources[read]!, history.opKey[read]!)
    if (missed === NONE || missed === reader || position[missed]! > position[reader]!) continue
    const skip = { read, skipped: missed }
    if (overwrites === 'any') return skip
    if (overwrites === 'cursor') {
      if (writers.writes(reader, history.opKey[read]!)) return skip
    } else if (overwrites === 'reader' && writers.writesAny(reader)) return skip
    else questions.push({ read, missed })
  }
  questions.sort((a, b) => position[a.missed]! - position[b.missed]! || a.read - b.read)
  const run = new DependencyRun(replayed, overwrites, writers)
  for (let from = 0, to = 0; from < questions.length; from = to) {
    const missed = new Set<number>()
    while (to < questions.length) {
      missed.add(questions[to]!.missed)
      if (missed.size > QUESTIONS_PER_RUN) break
      to++
    }
    const found = run.answer(questions.slice(from, to))
    if (found) return { read: found.read, skipped: found.missed }
  }
  return null
}

/** The writers of every key, as the order has them. */
class WriterOrder {
  private readonly start: Int32Array // key -> its first slot
  private readonly txn: Int32Array // slot -> writer

  constructor(private readonly replayed: Replayed) {
    const { keyCount } = replayed.history
    this.start = new Int32Array(keyCount + 1)
    this.forEachWriter((_, key) => this.start[key + 1]!++)
    for (let key = 0; key < keyCount; key++) this.start[key + 1]! += this.start[key]!
    this.txn = new Int32Array(this.start[keyCount]!)
    const next = this.start.slice(0, keyCount)
    this.forEachWriter((txn, key) => {
      this.txn[next[key]!++] = txn
    })
  }

  /** Each transaction once for each key that it writes, in order. */
  private forEachWriter(visit: (txn: number, key: number) => void): void {
    const { history, order } = this.replayed
    const { keyCount, txnOpStart, opKey } = history
    const last = new Int32Array(keyCount).fill(NONE) // key -> who wrote it last
    for (const txn of order) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const key = opKey[op]!
        if (last[key] === txn || !isWrite(history, op)) continue
        last[key] = txn
        visit(txn, key)
      }
    }
  }

  /** Who wrote the key next after a transaction, or after the initial state. */
  nextAfter(source: number, key: number): number {
    const slot = source === INITIAL ? this.start[key]! : this.slotFrom(source, key) + 1
    return slot < this.start[key + 1]! ? this.txn[slot]! : NONE
  }

  writes(txn: number, key: number): boolean {
    const slot = this.slotFrom(txn, key)
    return slot < this.start[key + 1]! && this.txn[slot] === txn
  }

  /** The first slot of the key whose writer does not come before the transaction. */
  private slotFrom(txn: number, key: number): number {
    const { position } = this.replayed
    let [low, high] = [this.start[key]!, this.start[key + 1]!]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (position[this.txn[middle]!]! < position[txn]!) low = middle + 1
      else high = middle
    }
    return low
  }

  writesAny(txn: number): boolean {
    const { history } = this.replayed
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      if (isWrite(history, op)) return true
    }
    return false
  }
}

/** Hands a bit for each transaction that was missed on along what depends on it. */
class DependencyRun {
  private readonly bits: Int32Array // position -> which of them lead there
  private readonly stamp: Int32Array // key -> run in which the columns below were set
  private readonly written: Int32Array // key -> bits of who wrote it last
  private readonly readers: Int32Array // key -> bits of the writers of other keys that read that
  private readonly sessionStamp: Int32Array // session -> run in which the next column was set
  private readonly session: Int32Array // session -> bits of its latest transaction
  private run = 0

  constructor(
    private readonly replayed: Replayed,
    private readonly overwrites: Overwrites,
    private readonly writers: WriterOrder,
  ) {
    const { order, history } = replayed
    this.bits = new Int32Array(order.length)
    this.stamp = new Int32Array(history.keyCount)
    this.written = new Int32Array(history.keyCount)
    this.readers = new Int32Array(history.keyCount)
    this.sessionStamp = new Int32Array(history.sessionCount)
    this.session = new Int32Array(history.sessionCount)
  }

  answer(questions: readonly Question[]): Question | null {
    const { history, order, position, deadline } = this.replayed
    const bitOf = new Map<number, number>() // missed -> its bit
    const asked = new Map<number, Question>() // read -> question
    let end = 0
    for (const question of questions) {
      if (!bitOf.has(question.missed)) bitOf.set(question.missed, 1 << bitOf.size)
      asked.set(question.read, question)
      end = Math.max(end, position[history.opTxn[question.read]!]!)
    }
    const start = position[questions[0]!.missed]!
    this.run++
    for (let p = start; p <= end; p++) {
      deadline.step(4)
      const found = this.visit(order[p]!, p, start, bitOf, asked)
      if (found) return found
    }
    return null
  }

  private visit(
    txn: number,
    p: number,
    start: number,
    bitOf: ReadonlyMap<number, number>,
    asked: ReadonlyMap<number, Question>,
  ): Question | null {
    const { history, position, sources } = this.replayed
    const { txnOpStart, opKind, opKey } = history
    const session = history.txnSession[txn]!
    let known = bitOf.get(txn) ?? 0
    if (this.sessionStamp[session] === this.run) known |= this.session[session]!
    const due: Question[] = []
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const question = asked.get(op)
      if (question !== undefined) {
        // At pl-2l only what led to the transaction before this read counts.
        if (this.overwrites !== 'later') due.push(question)
        else if (known & bitOf.get(question.missed)!) return question
      }
      if (opKind[op] === READ || opKind[op] === READ_LIST) {
        const source = sources[op]!
        if (source >= 0 && source !== txn && position[source]! >= start) {
          known |= this.bits[position[source]!]!
        }
      } else if (isWrite(history, op) && isLastWrite(history, op)) {
        const key = opKey[op]!
        if (this.stamp[key] === this.run) known |= this.written[key]! | this.readers[key]!
      }
    }
    this.bits[p] = known
    this.sessionStamp[session] = this.run
    this.session[session] = known
    // With no bits at all, whatever it replaces had none either.
    if (known !== 0) this.handOn(txn, known)
    return due.find(({ missed }) => known & bitOf.get(missed)!) ?? null
  }

  /** What the transaction wrote leads on with its bits; at pl-3u, what it read as well. */
  private handOn(txn: number, known: number): void {
    const { history } = this.replayed
    const { txnOpStart, opKey } = history
    const overwrites = this.overwrites === 'reader' && this.writers.writesAny(txn)
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const key = opKey[op]!
      const isOverwritten = overwrites && !isWrite(history, op) && !this.writers.writes(txn, key)
      if (isOverwritten) {
        this.reset(key)
        this.readers[key]! |= known
      }
    }
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (!isWrite(history, op)) continue
      const key = opKey[op]!
      this.reset(key)
      // Whoever wrote the version before led here, so that nothing of it is lost.
      this.written[key] = known
      this.readers[key] = 0
    }
  }

  private reset(key: number): void {
    if (this.stamp[key] === this.run) return
    this.stamp[key] = this.run
    this.written[key] = 0
    this.readers[key] = 0
  }
}
