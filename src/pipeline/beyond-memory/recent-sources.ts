// Whom the last transactions of a stream read from, and which came before them in their sessions:
// as far back as the room goes. Main class: RecentSources.

import type { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { NotStreamed } from '../../spill/file-stream.ts'

const SOURCES_EACH = 8 // room for sources, for each transaction
const MOST_VISITED = 1 << 18 // by the search for a path

export class RecentSources {
  private readonly mask: number // transactions, less one
  private readonly start: Int32Array // position & mask -> its first source
  private readonly sourceMask: number
  private readonly source: Int32Array // source & sourceMask -> position
  private readonly mark: Int32Array // position & mask -> the walk that reached it last
  private walks = 0
  private steps = 0 // of all walks
  count = 0 // sources so far
  at = 0 // the transaction that is read

  /** @param bytes that it may take */
  constructor(bytes: number) {
    let size = 16
    while (2 * size * 4 * (SOURCES_EACH + 2) <= bytes && size < 1 << 20) size *= 2
    this.mask = size - 1
    this.start = new Int32Array(size)
    this.mark = new Int32Array(size)
    this.sourceMask = size * SOURCES_EACH - 1
    this.source = new Int32Array(size * SOURCES_EACH)
  }

  /** The first source of the transaction that is read. */
  get first(): number {
    return this.start[this.at & this.mask]!
  }

  add(source: number): void {
    this.source[this.count++ & this.sourceMask] = source
  }

  get(source: number): number {
    return this.source[source & this.sourceMask]!
  }

  /** The transaction has no more; the next one begins. */
  next(): void {
    this.start[++this.at & this.mask] = this.count
  }

  /** Whether the transaction that is read has as many as there is room for. */
  expectRoom(): void {
    if (this.count - this.first > this.sourceMask) throw new NotStreamed('a large transaction')
    if (this.count > 0x7fff0000) throw new NotStreamed('too many reads')
  }

  /**
   * Whether any of those is a cause of the transaction that is read: forward from the first of
   * them, who has one that is reached among its sources.
   */
  isReached(from: IntColumn): boolean {
    const { at, mask, sourceMask, start, source, mark, count } = this
    let first = at
    for (let i = 0; i < from.length; i++) if (from.data[i]! < first) first = from.data[i]!
    if (at - first >= mask || count - start[first & mask]! > sourceMask) {
      throw new NotStreamed('a read of what was replaced long ago')
    }
    // Each step is much less than what a transaction takes to be read.
    this.steps += at - first
    if (this.steps > 32 * at + 1_000_000) throw new NotStreamed('many stale reads')
    const walk = ++this.walks
    for (let i = 0; i < from.length; i++) mark[from.data[i]! & mask] = walk
    for (let p = first + 1; p <= at; p++) {
      const end = p === at ? count : start[(p + 1) & mask]!
      for (let i = start[p & mask]!; i < end; i++) {
        const q = source[i & sourceMask]!
        if (q < first || mark[q & mask] !== walk) continue
        mark[p & mask] = walk
        break
      }
    }
    return mark[at & mask] === walk
  }

  /**
   * A shortest path by session order and reads-from, with both ends, backward from the later one;
   * null if there is none.
   */
  findPath(from: number, to: number): number[] | null {
    const { at, mask, sourceMask, start, source, count } = this
    if (at - from >= mask || count - start[from & mask]! > sourceMask) {
      throw new NotStreamed('a violation that reaches far back')
    }
    const next = new Map([[to, NONE as number]]) // position -> the one after it on the path
    for (const p of next.keys()) {
      if (p === from) break
      if (next.size > MOST_VISITED) throw new NotStreamed('a violation among many transactions')
      const end = p === at ? count : start[(p + 1) & mask]!
      for (let i = start[p & mask]!; i < end; i++) {
        const q = source[i & sourceMask]!
        if (q >= from && !next.has(q)) next.set(q, p)
      }
    }
    if (!next.has(from)) return null
    const path: number[] = []
    for (let p = from; p !== NONE; p = next.get(p)!) path.push(p)
    return path
  }
}
