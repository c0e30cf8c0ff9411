// Whom a stale read skipped: those who wrote its key after what it saw. Main class: SkippedWriters.

import { BudgetExceeded } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { isStrong, type SpilledLevel } from './levels.ts'

/** Skipped writers that are written down for one read at most. */
export const MAX_SKIPPED = 1 << 16

/** The versions of keys as they come along the order. */
export class Versions {
  readonly writer = new IntColumn() // version -> position of its writer
  readonly before = new IntColumn() // version -> the key's version before it, or NONE

  clear(): void {
    this.writer.length = 0
    this.before.length = 0
  }

  /** @param before the key's latest version so far, or NONE */
  add(writer: number, before: number): number {
    this.writer.push(writer)
    this.before.push(before)
    return this.writer.length - 1
  }
}

export class SkippedWriters {
  readonly positions = new IntColumn(16)
  private readonly entryOf: Int32Array // session -> its entry in `positions`, or NONE

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    private readonly level: SpilledLevel,
  ) {
    this.entryOf = new Int32Array(spilled.sessions.size).fill(NONE)
  }

  /**
   * Fills `positions`. At ser and si by the first alone, at cc by the first and the last of each
   * session: causality reaches all up to some place in a session.
   * @param from the key's latest version; @param source position of who wrote what was seen
   */
  collect(versions: Versions, from: number, source: number, reader: number): void {
    const { positions, entryOf } = this
    const writer = versions.writer.data
    const before = versions.before.data
    const bySession = this.level === 'cc'
    const onlyFirst = isStrong(this.level)
    positions.length = 0
    for (let v = from; v !== NONE && writer[v] !== source; v = before[v]!) {
      const at = writer[v]!
      if (onlyFirst) positions.length = 0
      if (!bySession) {
        positions.push(at)
        if (positions.length > MAX_SKIPPED) throw tooOld(reader)
        continue
      }
      const session = this.sessionAt(at)
      if (entryOf[session] === NONE) {
        entryOf[session] = positions.length
        positions.push(at)
        positions.push(at)
      }
      // Walking back, so what comes last is the first.
      positions.data[entryOf[session]! + 1] = at
    }
    if (bySession) this.settleSessions()
  }

  /** From pairs of last and first writer to positions, each once. */
  private settleSessions(): void {
    const { positions, entryOf } = this
    let count = 0
    for (let i = 0; i < positions.length; i += 2) {
      const last = positions.data[i]!
      const first = positions.data[i + 1]!
      entryOf[this.sessionAt(last)] = NONE
      positions.data[count++] = last
      // No entry is overwritten before it was read: each pair yields at most two.
      if (first !== last) positions.data[count++] = first
    }
    positions.length = count
  }

  private sessionAt(at: number): number {
    const { txnAt } = this.order
    return this.spilled.txnSession.data[txnAt === null ? at : txnAt[at]!]!
  }
}

function tooOld(reader: number): BudgetExceeded {
  return new BudgetExceeded(
    `transaction ${reader + 1} in the order read a version that more than ${MAX_SKIPPED} others replaced, which is too old to be judged beyond memory`,
  )
}
