// The causes of transactions, in one walk along an order that contains session order and
// reads-from: for each session the last position that is a cause. Of each session the clock of its
// last transaction is kept, of the others only those of a window: whoever reads from a transaction
// before the window usually has it among its causes already, by what it read since, and then needs
// no clock. Where not, the walk gives up. O(k) a transaction. Main class: CauseClocks.

import { BudgetExceeded } from '../../base/errors.ts'
import { NONE } from '../../history/history.ts'
import type { ReaderRange } from '../../spill/by-position.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'

export class CauseClocks {
  private readonly width: number // sessions
  private readonly current: Int32Array // session · width -> clock of its last transaction
  private readonly window: Int32Array // position % windowSize · width -> clock
  private readonly windowSize: number
  private row = 0 // where in `current` the clock of the transaction visited last begins

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
  ) {
    const { sessions, sizes, txnCount } = spilled
    this.width = Math.max(1, sessions.size)
    const rows = Math.floor(sizes.windowBytes / 4 / this.width)
    if (rows < 2 * this.width) throw tooFar(`there are ${this.width} sessions`)
    this.windowSize = Math.max(1, Math.min(txnCount, rows - this.width))
    this.current = new Int32Array(this.width * this.width).fill(NONE)
    this.window = new Int32Array(this.windowSize * this.width)
  }

  /** The transaction at the next position. */
  visit(position: number, readers: ReaderRange): void {
    const { width, current, window, windowSize } = this
    const { headSource, sourceNext, sourceAt, start } = readers
    const session = this.sessionAt(position)
    const row = session * width
    this.row = row
    for (let i = headSource[position - start]!; i !== NONE; i = sourceNext.data[i]!) {
      const source = sourceAt.data[i]!
      const other = this.sessionAt(source)
      if (current[row + other]! >= source) continue
      if (source <= position - windowSize) {
        throw tooFar('a transaction has causes that nobody else had for long')
      }
      const from = (source % windowSize) * width
      for (let s = 0; s < width; s++) {
        const cause = window[from + s]!
        if (cause > current[row + s]!) current[row + s] = cause
      }
    }
    current[row + session] = position // which no reader asks for: nobody skips its own write
    const slot = (position % windowSize) * width
    for (let s = 0; s < width; s++) window[slot + s] = current[row + s]!
  }

  /** Whether the transaction visited last has the one at that position among its causes. */
  isCause(position: number): boolean {
    return this.current[this.row + this.sessionAt(position)]! >= position
  }

  private sessionAt(position: number): number {
    const { txnAt } = this.order
    return this.spilled.txnSession.data[txnAt === null ? position : txnAt[position]!]!
  }
}

function tooFar(why: string): BudgetExceeded {
  return new BudgetExceeded(`causality cannot be followed within this memory: ${why}`)
}
