// Replays an order of a history on disk key by key: every read of a transaction that counts must
// have its own latest write, or the last write of a transaction before it. It compares values, and
// knows nothing of who was found to have read from whom. Reads that did not see the latest version
// are written down with those they skipped: certify-skipped-on-disk.ts judges them. Main class:
// BucketReplay.

import { IntColumn } from '../base/grow.ts'
import { type History, NONE, WRITE } from '../history/history.ts'
import type { Bucket } from './bucket.ts'
import type { ReaderRecords } from './by-position.ts'
import type { CommitOrder } from './commit-order.ts'
import type { SpilledHistory } from './spilled-history.ts'

export class BucketReplay {
  readonly problems: string[] = []
  hasSkipped = false
  private readonly skipped = new IntColumn(16)

  /** @param oncePerSession whether of a session only the first writer that was skipped matters */
  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    private readonly records: ReaderRecords | null,
    private readonly oncePerSession: boolean,
  ) {}

  replay(bucket: Bucket): void {
    const { history } = bucket
    const sorted = opsByKey(history)
    for (let from = 0; from < sorted.length; ) {
      const key = history.opKey[sorted[from]!]!
      let to = from
      while (to < sorted.length && history.opKey[sorted[to]!] === key) to++
      this.replayKey(bucket, sorted.subarray(from, to))
      from = to
    }
  }

  /** @param ops all operations on a key by transactions that count, transaction by transaction */
  private replayKey({ history, txns, opIndex }: Bucket, ops: Int32Array): void {
    const { opTxn, opKind, opValue } = history
    const initial = history.initial === undefined ? NONE : history.values.of(history.initial)
    const runs = this.runsOf(txns, opTxn, ops)
    const versions: number[] = [] // positions of writers, in order
    const versionOf = new Map<number, number>() // value -> which version it is
    for (const { at, from, to } of runs) {
      let own: number = NONE
      for (let i = from; i < to; i++) {
        const op = ops[i]!
        if (opKind[op] === WRITE) {
          own = opValue[op]!
          continue
        }
        if (own !== NONE) {
          if (opValue[op] !== own) this.fail(at, 'did not read its own write')
          continue
        }
        const value = opValue[op]!
        const version = value === initial ? NONE : versionOf.get(value)
        if (version === undefined) this.fail(at, 'read what nobody had written before it')
        else this.takeRead(at, opIndex[op]!, versions, version)
      }
      if (own === NONE) continue
      versionOf.set(own, versions.length)
      versions.push(at)
    }
  }

  private takeRead(reader: number, op: number, versions: number[], version: number): void {
    const { records, skipped } = this
    const source = version === NONE ? NONE : versions[version]!
    if (source !== NONE) records?.addSource(reader, op, source)
    if (version === versions.length - 1) return
    this.hasSkipped = true
    if (records === null) return
    skipped.length = 0
    const met = new Set<number>()
    for (let later = version + 1; later < versions.length; later++) {
      const at = versions[later]!
      const { txnAt } = this.order
      const session = this.spilled.txnSession.data[txnAt === null ? at : txnAt[at]!]!
      if (this.oncePerSession && met.has(session)) continue
      met.add(session)
      skipped.push(at)
    }
    records.addStale(reader, op, source, skipped)
  }

  /** What each transaction did, in order. */
  private runsOf(txns: Int32Array, opTxn: Int32Array, ops: Int32Array) {
    const { position } = this.order
    const runs: { at: number; from: number; to: number }[] = []
    for (let from = 0; from < ops.length; ) {
      const txn = opTxn[ops[from]!]!
      let to = from + 1
      while (to < ops.length && opTxn[ops[to]!] === txn) to++
      const whole = txns[txn]!
      runs.push({ at: position === null ? whole : position[whole]!, from, to })
      from = to
    }
    return runs.sort((a, b) => a.at - b.at)
  }

  private fail(at: number, what: string): void {
    if (this.problems.length < 8) this.problems.push(`the transaction at ${at} ${what}`)
  }
}

/** Operations of transactions that count, by key, else as they come. */
function opsByKey({ opKey, opTxn, opCount, keyCount, txnCounts }: History): Int32Array {
  const start = new Int32Array(keyCount + 1)
  let count = 0
  for (let op = 0; op < opCount; op++) {
    if (!txnCounts[opTxn[op]!]) continue
    start[opKey[op]! + 1]!++
    count++
  }
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const sorted = new Int32Array(count)
  for (let op = 0; op < opCount; op++) {
    if (txnCounts[opTxn[op]!]) sorted[start[opKey[op]!]!++] = op
  }
  return sorted
}
