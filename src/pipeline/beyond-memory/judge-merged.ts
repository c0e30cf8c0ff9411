// Levels of a file whose own order is not right, by orders in which its sessions are side by side.
// Each order is told from disk as if a file stood in it, and judged as such; of one that proves
// nothing it is then seen what is wrong, which the next puts right (order-facts.ts). Mostly a few
// are enough. Where they are not, or anything is unusual, the file is judged bucket by bucket, from
// the best order so far. Main class: MergedFile.

import { nowMs } from '../../base/deadline.ts'
import { ByteColumn, IntColumn } from '../../base/grow.ts'
import type { Scratch } from '../../files/scratch.ts'
import type { PlainFile } from '../../formats/pieces.ts'
import { ABORTED, COMMITTED, WRITE } from '../../history/history.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import {
  type FileStream,
  NotStreamed,
  type PieceOps,
  type StreamPiece,
} from '../../spill/file-stream.ts'
import { INITIAL_VALUE, type SessionCursor, SessionLog } from '../../spill/session-log.ts'
import type { SpillSizes } from '../../spill/spilled-history.ts'
import { SMALL } from '../../spill/symbol-code.ts'
import { type InterleaveInput, interleave } from './interleave.ts'
import { type Streamed, StreamJudge, type StreamOptions, tellStreamed } from './judge-stream.ts'
import { KnownPairs } from './known-pairs.ts'
import type { SpilledLevel } from './levels.ts'
import { OrderFacts } from './order-facts.ts'

/** How many orders are tried. */
const ORDERS = 12
/** What an order is put right by has to become less at least by this, from one to the next … */
const LESS = 0.8
/** … but for so many: what was dropped, as it contradicted itself, may come again in other words. */
const SETBACKS = 1
/** Transactions of a piece. */
const PIECE_TXNS = 1 << 12
/** Up to so many, pairs are numbers of 53 bits. */
const MOST_TXNS = 90_000_000
/** Bytes that a transaction takes in memory. */
const TXN_BYTES = 16

export class MergedFile {
  /** The last order that was told to its end, overwritten by the next; null if there is none. */
  order: CommitOrder | null = null
  private prior: Int32Array | null = null // its positions, until there is another
  private readonly forced: KnownPairs
  private readonly preferred: KnownPairs
  private readonly facts: OrderFacts
  // The same memory for one order after another.
  private readonly txnAt: Int32Array
  private readonly position: Int32Array

  private constructor(
    private readonly log: SessionLog,
    private readonly sizes: SpillSizes,
    private readonly options: StreamOptions,
  ) {
    const { txnCount, keys, sessions } = log.stream
    const most = Math.floor(sizes.windowBytes / 64)
    this.forced = new KnownPairs(txnCount, most)
    this.preferred = new KnownPairs(txnCount, most)
    this.txnAt = new Int32Array(txnCount)
    this.position = new Int32Array(txnCount)
    const { forced, preferred, txnAt } = this
    this.facts = new OrderFacts(sessions.size, keys.size, sizes.windowBytes / 8, {
      force: (earlier, later) => forced.add(txnAt[earlier]!, txnAt[later]!),
      prefer: (earlier, later) => preferred.add(txnAt[earlier]!, txnAt[later]!),
    })
  }

  /** Null if the file is not one that can be told so. Throws InputError. */
  static open(
    file: PlainFile,
    sizes: SpillSizes,
    scratch: Scratch,
    options: StreamOptions,
  ): MergedFile | null {
    const { memoryBytes, onStep } = options
    const onProgress = (readBytes: number) => onStep?.('reading', readBytes, file.sizeBytes)
    try {
      const log = new SessionLog(file, sizes, scratch, { memoryBytes, onProgress })
      if (hasRoom(log.stream, sizes)) return new MergedFile(log, sizes, options)
      log.close()
    } catch (error) {
      if (!(error instanceof NotStreamed)) throw error
    }
    return null
  }

  close(): void {
    this.log.close()
  }

  /** Null if no order that was tried tells. */
  judge(level: SpilledLevel): Streamed | null {
    const started = nowMs()
    let least = Number.POSITIVE_INFINITY
    let setbacks = 0
    for (let tried = 0; tried < ORDERS; tried++) {
      const judge = this.tryOrder(level)
      if (judge === 'no order') return null
      if (judge !== null) {
        const { sizes, options, log } = this
        return tellStreamed(judge, this.order!, log.stream, sizes, { ...options, started })
      }
      const found = this.learn()
      if (found > least * LESS) setbacks++
      const isHopeless = found === 0 || setbacks > SETBACKS
      if (isHopeless || this.forced.isFull || this.preferred.isFull) return null
      least = Math.min(least, found)
    }
    return null
  }

  /** The next order; the judge, if it tells. */
  private tryOrder(level: SpilledLevel): StreamJudge | 'no order' | null {
    const { log, sizes, options } = this
    const { keys, txnCount } = log.stream
    const judge = new StreamJudge(level, sizes, { certify: options.certify, isMerged: true })
    let isJudged = true
    const pieces = new Pieces((piece) => {
      isJudged = isStreamed(() => judge.take(piece, keys.size, keys.sizeBytes))
    })
    const isTold = this.interleave((at, session, cursor) => {
      if (at % PIECE_TXNS === 0) options.onStep?.('streaming', at, txnCount)
      pieces.add(session, cursor)
      return isJudged
    })
    if (!isJudged) return null
    if (!isTold) return 'no order'
    pieces.finish()
    if (!isJudged || !isStreamed(() => judge.finish())) return null
    return judge
  }

  /** What is wrong with the order that was tried: how many pairs that is. None if it has no end. */
  private learn(): number {
    const { facts, forced, preferred, options, log } = this
    facts.clear()
    const isTold = this.interleave((at, session, cursor) => {
      if (at % PIECE_TXNS === 0) options.onStep?.('ordering', at, log.stream.txnCount)
      if (!cursor.isAborted) facts.tell(at, session, cursor)
      return true
    })
    if (!isTold) return 0
    return forced.settle() + preferred.settle()
  }

  /** False if it was given up, or there is no order to be had. */
  private interleave(tell: InterleaveInput['tell']): boolean {
    const { log, txnAt, position, prior, forced, preferred } = this
    this.order = null // until all of it is there
    if (!interleave({ log, txnAt, prior, forced, preferred, tell })) return false
    for (let at = 0; at < txnAt.length; at++) position[txnAt[at]!] = at
    this.prior = position
    this.order = { txnAt, position }
    return true
  }
}

/** Whether orders and clocks fit into what is given. */
function hasRoom({ txnCount, sessions }: FileStream, { windowBytes }: SpillSizes): boolean {
  const clockBytes = 4 * sessions.size ** 2
  if (txnCount > MOST_TXNS || clockBytes > windowBytes / 2) return false
  return txnCount * TXN_BYTES <= 2 * windowBytes
}

/** Whether it came to its end, and did not say no. */
function isStreamed(step: () => unknown): boolean {
  try {
    return step() !== false
  } catch (error) {
    if (error instanceof NotStreamed) return false
    throw error
  }
}

/** Transactions as they come, told in pieces as if a file stood in that order. */
class Pieces {
  private first = 0
  private readonly session = new IntColumn(PIECE_TXNS)
  private readonly status = new ByteColumn(PIECE_TXNS)
  private readonly opTxn = new IntColumn()
  private readonly opKind = new ByteColumn()
  private readonly opKey = new IntColumn()
  private readonly opValue = new IntColumn()

  constructor(private readonly onPiece: (piece: StreamPiece) => void) {}

  add(session: number, { isAborted, opCount, key, value }: SessionCursor): void {
    const txn = this.session.length
    this.session.push(session)
    this.status.push(isAborted ? ABORTED : COMMITTED)
    for (let op = 0; op < opCount; op++) {
      this.opTxn.push(txn)
      this.opKind.push(key.data[op]! % 2 === WRITE ? WRITE : 0)
      this.opKey.push(key.data[op]! >> 1)
      this.opValue.push(value.data[op] === INITIAL_VALUE ? SMALL : value.data[op]! - 1)
    }
    if (txn + 1 === PIECE_TXNS) this.finish()
  }

  /** Tells the piece that was begun. */
  finish(): void {
    const { first, session, status, opTxn, opKind, opKey, opValue } = this
    if (session.length === 0) return
    const statusOf = (txn: number) => status.data[txn]!
    const builder: PieceOps = { opCount: opTxn.length, opTxn, opKind, opKey, opValue, statusOf }
    const txnCount = session.length
    this.onPiece({ first, txnCount, txnSession: session.data, builder, initial: SMALL })
    this.first += txnCount
    for (const column of [session, status, opTxn, opKind, opKey, opValue]) column.length = 0
  }
}
