// What is left of the transactions that were let go: of each key the version that stands, with who
// wrote it, and whether older ones are gone; which ids were used; how far the clocks of sessions
// had come; how many there were. All of them come first in the commit order, so for those that
// follow they are one initial transaction that wrote the versions that stand (docs/watch.md has the
// proof). Memory: by keys, not by time. Main class: Settled.

import { ByteColumn, FloatColumn } from '../base/grow.ts'
import { type History, NONE, WRITE } from '../history/history.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import { IdRanges } from './id-ranges.ts'
import { LastTimes } from './last-times.ts'

/** A version that stands, and who wrote it. */
export interface Version {
  readonly key: Value
  readonly value: Value
  readonly session: Value
  readonly label: Value
  readonly number: number
  readonly line: number
}

export class Settled {
  private readonly keys = new SymbolTable()
  private readonly value: (Value | undefined)[] = [] // key -> the version that stands
  private readonly gone = new ByteColumn(16) // key -> 1 if a version of it is gone
  private readonly session: Value[] = [] // key -> session of the writer
  private readonly label: Value[] = [] // key -> what the writer calls itself, null if it does not
  private readonly number = new FloatColumn(16) // key -> which transaction of the input it was
  private readonly line = new FloatColumn(16) // key -> its line
  ids = new IdRanges()
  times = new LastTimes()
  txnCount = 0

  /** The key of that name. */
  keyOf(name: Value): number {
    const key = this.keys.of(name)
    if (key === this.value.length) {
      this.value.push(undefined)
      this.gone.push(0)
      this.session.push(null)
      this.label.push(null)
      this.number.push(NONE)
      this.line.push(NONE)
    }
    return key
  }

  get keyCount(): number {
    return this.keys.size
  }

  /** The version that stands, undefined if it is the initial one. */
  standing(key: number): Value | undefined {
    return this.value[key]
  }

  /** Whether a read of something else may be of a version that is gone. */
  hasGone(key: number): boolean {
    return this.gone.data[key] === 1 || this.value[key] !== undefined
  }

  versionOf(key: number): Version {
    const session = this.session[key]!
    const number = this.number.data[key]!
    const line = this.line.data[key]!
    const [name, value, label] = [this.keys.get(key), this.value[key]!, this.label[key]!]
    return { key: name, value, session, label, number, line }
  }

  /**
   * Takes transactions in, after all that were taken in before.
   * @param order in their commit order
   * @param numberOf txn -> which one of the input it was
   * @param keyOf key of the history -> key here
   */
  add(history: History, order: Int32Array, numberOf: Float64Array, keyOf: Int32Array): void {
    const { txnOpStart, opKind, opKey, keyCount } = history
    const isReplaced = new Uint8Array(keyCount)
    // Backwards, so that of each key the write that stands is met first.
    for (let i = order.length - 1; i >= 0; i--) {
      const txn = order[i]!
      for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
        if (opKind[op] !== WRITE) continue
        const key = opKey[op]!
        if (isReplaced[key]) this.gone.data[keyOf[key]!] = 1
        else this.replace(keyOf[key]!, history, op, numberOf[txn]!)
        isReplaced[key] = 1
      }
    }
  }

  /** What the transaction wrote is gone. */
  lose({ txnOpStart, opKind, opKey, keyName }: History, txn: number): void {
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === WRITE) this.gone.data[this.keyOf(keyName(opKey[op]!))] = 1
    }
  }

  private replace(key: number, history: History, op: number, number: number): void {
    const txn = history.opTxn[op]!
    if (this.value[key] !== undefined) this.gone.data[key] = 1
    this.value[key] = history.valueOf(op)
    this.session[key] = history.sessionLabel(history.txnSession[txn]!)
    this.label[key] = history.txnLabel(txn)
    this.number.data[key] = number
    this.line.data[key] = history.placeOf(op)?.line ?? NONE
  }

  save() {
    const rows = Array.from({ length: this.keyCount }, (_, key) => [
      this.keys.get(key),
      this.gone.data[key]!,
      ...(this.value[key] === undefined ? [] : [this.versionOf(key)]),
    ])
    return { rows, ids: this.ids.save(), times: this.times.save(), txnCount: this.txnCount }
  }

  static restore(saved: ReturnType<Settled['save']>): Settled {
    const settled = new Settled()
    for (const [name, gone, version] of saved.rows as [Value, number, Version?][]) {
      const key = settled.keyOf(name)
      settled.gone.data[key] = gone
      if (version === undefined) continue
      settled.value[key] = version.value
      settled.session[key] = version.session
      settled.label[key] = version.label
      settled.number.data[key] = version.number
      settled.line.data[key] = version.line
    }
    settled.ids = IdRanges.restore(saved.ids)
    settled.times = LastTimes.restore(saved.times)
    settled.txnCount = saved.txnCount
    return settled
  }
}
