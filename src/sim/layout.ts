// From an execution to a history. The layout says in which order transactions are told, and with it
// how they are numbered:
//
//   commit       in the order in which they ended
//   session      session by session
//   interleaved  in the order in which they began; formats with a line for each operation can also
//                tell the operations in the order in which they ran (`opOrder`)
//
// Values count up from 1 in the order in which the writes are told.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { HistoryBuilder } from '../history/builder.ts'
import {
  APPEND,
  type History,
  INDETERMINATE,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../history/history.ts'
import { CAS, INSERT } from '../history/light.ts'
import type { Value } from '../history/values.ts'
import { type Execution, THIN_AIR } from './execution.ts'
import type { Outcome } from './schedule.ts'

const FAILED_EVERY = 4 // which of the mere reads is told as a failure

export const LAYOUTS = ['commit', 'session', 'interleaved'] as const
/**
 * In which order transactions are told: as they committed, session by session, or as they began.
 */
export type Layout = (typeof LAYOUTS)[number]

export interface LaidOut {
  readonly history: History
  readonly txnOf: Int32Array // txn of the execution -> txn of the history
  /** Layout interleaved: the history's operations in the order in which they ran. */
  readonly opOrder: Int32Array | null
}

/**
 * @param initial the value every key has before anything is written
 * @param lightweight tell what replaces the version it read as a compare-and-set, or an insert, and
 *   every fourth mere read as a compare-and-set that failed
 */
export function layOut(
  execution: Execution,
  layout: Layout,
  initial: Value = null,
  times = true,
  lightweight = false,
): LaidOut {
  const { txnCount, txnOpStart, txnOpCount } = execution
  const order = orderOf(execution, layout)
  let opCount = 0
  for (const count of txnOpCount) opCount += count
  const builder = new HistoryBuilder(initial, opCount)
  for (let session = 0; session < execution.sessionCount; session++) builder.session(session + 1)

  const txnOf = new Int32Array(txnCount)
  const opValue = new Int32Array(execution.opKind.length) // write -> its value
  let value = 0
  for (const txn of order) {
    const id = builder.addTxn(execution.txnSession[txn]!, execution.txnStatus[txn]!)
    txnOf[txn] = id
    const end = txnOpStart[txn]! + txnOpCount[txn]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = execution.opKind[op]!
      if (kind === WRITE || kind === APPEND) opValue[op] = ++value
    }
    if (!times) continue
    builder.setStart(id, execution.txnStart[txn]!)
    if (execution.txnStatus[txn] !== INDETERMINATE) builder.setFinish(id, execution.txnFinish[txn]!)
  }
  const initialId = builder.valueId(null)
  const spare = { value } // values beyond those written, for what failed to write
  const keyId = new Int32Array(execution.keyCount).fill(NONE) // key -> its number in the history
  const telling = { execution, builder, opValue, initialId, keyId, lightweight, spare }
  for (const txn of order) addOps(telling, txn, txnOf[txn]!)
  const history = builder.finish()
  const opOrder = layout === 'interleaved' ? opsByStep(execution, history, order) : null
  return { history, txnOf, opOrder }
}

/** The transactions in the order in which they are told. Throws UsageError. */
export function orderOf(outcome: Outcome, layout: Layout): Int32Array {
  if (!LAYOUTS.includes(layout)) {
    throw new UsageError(`unknown layout "${layout}"`, hintFor(layout, LAYOUTS))
  }
  const { ended, txnSession, txnStart } = outcome
  if (layout === 'commit') return ended
  const rank = layout === 'session' ? txnSession : txnStart
  return Int32Array.from(ended.keys()).sort((a, b) => rank[a]! - rank[b]! || a - b)
}

interface Telling {
  readonly execution: Execution
  readonly builder: HistoryBuilder
  readonly opValue: Int32Array // write -> its value
  readonly initialId: number
  readonly keyId: Int32Array // key -> its number in the history, NONE until it is told
  readonly lightweight: boolean
  readonly spare: { value: number }
}

function addOps(telling: Telling, txn: number, id: number): void {
  const { builder, opValue, initialId, keyId, lightweight, spare } = telling
  const { opKind, opKey, opFrom, txnOpStart, txnOpCount, shown } = telling.execution
  const start = txnOpStart[txn]!
  const end = start + txnOpCount[txn]!
  for (let op = start; op < end; op++) {
    const kind = opKind[op]!
    const key = opKey[op]!
    if (keyId[key] === NONE) keyId[key] = builder.keys.ofSmall(key)
    if (kind === READ) {
      const from = shown.get(op)?.[0] ?? opFrom[op]!
      const seen = from === THIN_AIR ? ++spare.value : from < 0 ? initialId : opValue[from]!
      const replaces = op + 1 < end && opKind[op + 1] === WRITE && opKey[op + 1] === key
      if (lightweight && replaces) {
        const light = from < 0 ? INSERT : CAS
        builder.addLight(id, light, keyId[key]!, seen, opValue[++op]!, NONE)
      } else if (lightweight && from >= 0 && op % FAILED_EVERY === 0) {
        builder.addLight(id, CAS, keyId[key]!, initialId, ++spare.value, seen)
      } else {
        builder.addOp(id, READ, keyId[key]!, seen)
      }
    } else if (kind === READ_LIST) {
      builder.addOp(id, READ_LIST, keyId[key]!, addList(telling, start, op))
    } else {
      builder.addOp(id, kind, keyId[key]!, opValue[op]!)
    }
  }
}

/** The list that a read returned: what others appended, then what its transaction did before it. */
function addList(telling: Telling, start: number, read: number): number {
  const { execution, builder, opValue, spare } = telling
  const { opKind, opKey, opFrom, opPrev, shown } = execution
  const list = builder.beginList()
  const told = shown.get(read)
  if (told) {
    for (const op of told) builder.addElement(op === THIN_AIR ? ++spare.value : opValue[op]!)
    return list
  }
  const elements: number[] = []
  for (let op = opFrom[read]!; op !== NONE; op = opPrev[op]!) elements.push(op)
  for (let i = elements.length - 1; i >= 0; i--) builder.addElement(opValue[elements[i]!]!)
  for (let op = start; op < read; op++) {
    if (opKind[op] === APPEND && opKey[op] === opKey[read]) builder.addElement(opValue[op]!)
  }
  return list
}

/** The history's operations sorted by the step in which they ran. */
function opsByStep(execution: Execution, history: History, order: Int32Array): Int32Array {
  const { opStep, txnOpStart, txnOpCount } = execution
  const steps = new Int32Array(history.opCount) // op of the history -> step
  let last = 0
  let at = 0
  for (const txn of order) {
    const end = txnOpStart[txn]! + txnOpCount[txn]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const step = opStep[op]!
      steps[at++] = step
      if (step > last) last = step
    }
  }
  const byStep = new Int32Array(last + 1).fill(NONE) // no two operations share a step
  for (let op = 0; op < steps.length; op++) byStep[steps[op]!] = op
  return byStep.filter((op) => op !== NONE)
}
