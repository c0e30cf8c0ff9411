// An order that contains session order and reads-from, where the file's own does not: sessions are
// merged, and a transaction waits until all that it read from are placed. What each session has yet
// to bring lies on disk; in memory is how far each has come, and one block of each. Of those that
// may come next the one is taken that the file tells first; in files that tell one session after
// the other, that of the session that is least far. Main function: mergeSessions.

import { BudgetExceeded } from '../../base/errors.ts'
import type { Scratch } from '../../files/scratch.ts'
import { Streams } from '../../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt, putSigned } from '../../files/varint.ts'
import { NONE } from '../../history/history.ts'
import type { ReaderRecords } from '../../spill/by-position.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'

const MAX_BLOCK = 1 << 13
const MIN_BLOCK = 256

export type Merged =
  | { readonly txnAt: Int32Array; readonly cycle: null }
  | { readonly txnAt: null; readonly cycle: ReadonlySet<number> } // transactions of a cycle

/** How many transactions are placed between two looks at the budget. */
const STEP = 1 << 16

/**
 * @param records of the file's own order, in which positions are transactions
 * @param onStep called now and then with how much is done; may throw to give up
 */
export function mergeSessions(
  spilled: SpilledHistory,
  records: ReaderRecords,
  scratch: Scratch,
  onStep: (done: number, all: number) => void,
): Merged {
  const bySession = openSessions(spilled, scratch)
  try {
    spillBySession(spilled, records, bySession, onStep)
    return new Merge(spilled, bySession).run(onStep)
  } finally {
    bySession.close()
  }
}

function openSessions({ sizes, sessions }: SpilledHistory, scratch: Scratch): Streams {
  const count = Math.max(1, sessions.size)
  const blockBytes = Math.min(MAX_BLOCK, Math.floor(sizes.windowBytes / 2 / count))
  if (blockBytes < MIN_BLOCK) {
    throw new BudgetExceeded(`${count} sessions cannot be merged within this memory`)
  }
  return new Streams(scratch, count, blockBytes)
}

/** Of each session, on disk: its transactions, each with those that it read from. */
function spillBySession(
  { txnSession, txnCount }: SpilledHistory,
  records: ReaderRecords,
  streams: Streams,
  onStep: (done: number, all: number) => void,
): void {
  const sources: number[] = []
  let record = new Uint8Array(256)
  for (let range = 0; range < records.rangeCount; range++) {
    onStep(range, 2 * records.rangeCount)
    const { headSource, sourceNext, sourceAt, start } = records.load(range)
    const end = Math.min(headSource.length, txnCount - start)
    for (let at = 0; at < end; at++) {
      const txn = start + at
      sources.length = 0
      for (let i = headSource[at]!; i !== NONE; i = sourceNext.data[i]!) {
        const source = sourceAt.data[i]!
        const isOwn = txnSession.data[source] === txnSession.data[txn] && source < txn
        if (!isOwn && !sources.includes(source)) sources.push(source)
      }
      const room = (sources.length + 2) * MAX_INT_BYTES
      if (room > record.length) record = new Uint8Array(2 * room)
      let to = putInt(record, putInt(record, 0, txn), sources.length)
      for (const source of sources) to = putSigned(record, to, txn - source)
      streams.put(txnSession.data[txn]!, record.subarray(0, to))
    }
  }
  streams.finish()
}

/** How far a session has come. */
class Cursor {
  txn = NONE // the next one; NONE at the end
  sources: number[] = []
  placed = 0
  private readonly reader = new IntReader()
  private block: number

  constructor(
    private readonly streams: Streams,
    session: number,
    readonly length: number,
  ) {
    this.block = streams.firstBlock(session)
    this.advance()
  }

  advance(): void {
    const { reader, streams } = this
    while (reader.isAtEnd && this.block !== NONE) {
      reader.load(streams.readBlock(this.block))
      this.block = streams.nextBlock(this.block)
    }
    if (reader.isAtEnd) {
      this.txn = NONE
      return
    }
    const txn = reader.int()
    this.txn = txn
    this.sources = Array.from({ length: reader.int() }, () => txn - reader.signed())
  }
}

class Merge {
  private readonly cursors: Cursor[]
  private readonly waiting: number[][] // session -> sessions that wait for it to go on
  private readonly heap: { session: number; rank: number }[] = []
  private readonly oneByOne: boolean

  constructor(
    private readonly spilled: SpilledHistory,
    streams: Streams,
  ) {
    const { sessions, txnSession, txnCount } = spilled
    const lengths = new Int32Array(Math.max(1, sessions.size))
    let switches = 0
    for (let txn = 0; txn < txnCount; txn++) {
      lengths[txnSession.data[txn]!]!++
      if (txn > 0 && txnSession.data[txn] !== txnSession.data[txn - 1]) switches++
    }
    this.oneByOne = switches < 2 * lengths.length
    this.cursors = Array.from(lengths, (length, session) => new Cursor(streams, session, length))
    this.waiting = this.cursors.map(() => [])
  }

  run(onStep: (done: number, all: number) => void): Merged {
    const { txnCount } = this.spilled
    const txnAt = new Int32Array(txnCount)
    for (let session = 0; session < this.cursors.length; session++) this.offer(session)
    let count = 0
    while (this.heap.length > 0) {
      if (count % STEP === 0) onStep(txnCount + count, 2 * txnCount)
      const { session } = this.pop()
      const cursor = this.cursors[session]!
      txnAt[count++] = cursor.txn
      cursor.placed++
      cursor.advance()
      const woken = this.waiting[session]!
      this.waiting[session] = []
      this.offer(session)
      for (const other of woken) this.offer(other)
    }
    return count === txnCount ? { txnAt, cycle: null } : { txnAt: null, cycle: this.findCycle() }
  }

  /** The session's next transaction may be placed, or waits for another session. */
  private offer(session: number): void {
    const cursor = this.cursors[session]!
    if (cursor.txn === NONE) return
    const other = this.blockedBy(cursor)
    if (other !== NONE) {
      this.waiting[other]!.push(session)
      return
    }
    const rank = this.oneByOne ? cursor.placed / cursor.length : cursor.txn
    this.push({ session, rank })
  }

  /** A session whose next transaction, or a later one, this one read from. */
  private blockedBy({ sources }: Cursor): number {
    for (const source of sources) {
      const session = this.spilled.txnSession.data[source]!
      const next = this.cursors[session]!.txn
      if (next !== NONE && next <= source) return session
    }
    return NONE
  }

  /** Nothing can go on: from one that waits to what it waits for, until one comes again. */
  private findCycle(): ReadonlySet<number> {
    const { txnSession } = this.spilled
    let session = this.cursors.findIndex(({ txn }) => txn !== NONE)
    const seen = new Set<number>()
    while (!seen.has(session)) {
      seen.add(session)
      session = this.blockedBy(this.cursors[session]!)
    }
    const found = new Set<number>()
    const start = session
    do {
      const cursor = this.cursors[session]!
      const next = this.blockedBy(cursor)
      found.add(cursor.txn)
      for (const source of cursor.sources) {
        if (txnSession.data[source] === next && source >= this.cursors[next]!.txn) found.add(source)
      }
      session = next
    } while (session !== start)
    return found
  }

  private push(item: { session: number; rank: number }): void {
    const { heap } = this
    let at = heap.push(item) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      if (heap[up]!.rank <= item.rank) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = item
  }

  private pop(): { session: number; rank: number } {
    const { heap } = this
    const top = heap[0]!
    const item = heap.pop()!
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= heap.length) break
      if (down + 1 < heap.length && heap[down + 1]!.rank < heap[down]!.rank) down++
      if (heap[down]!.rank >= item.rank) break
      heap[at] = heap[down]!
      at = down
    }
    if (heap.length > 0) heap[at] = item
    return top
  }
}
