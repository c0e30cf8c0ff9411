// Some transactions of a history on disk as a history in memory, under the names and at the places
// that they have in the file. What they read from others is left out, so that it does not look as
// if nobody had written it. Leaving things out in this way breaks no level that the whole
// satisfies (history/sub-history.ts). Main function: loadPart.

import type { Place } from '../base/errors.ts'
import { type ByteColumn, largest } from '../base/grow.ts'
import { type PlainFile, readPieces } from '../formats/pieces.ts'
import { HistoryBuilder } from '../history/builder.ts'
import { type History, NONE, READ } from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { INITIAL_PART, type SpillSizes } from './spilled-history.ts'
import { TxnNumbers } from './txn-numbers.ts'

export interface Part {
  readonly history: History
  readonly txns: readonly number[] // transaction of the part -> of the whole
  /** As the file tells them: with what was left out, and with times. */
  readonly told: History
  /** Transaction of the part -> operation of it -> its place in the transaction that is told. */
  readonly places: readonly (readonly number[])[]
}

interface PartOp {
  readonly txn: number
  readonly index: number // place in the transaction
  readonly kind: number
  readonly key: Value
  readonly value: Value
  readonly place: Place | null
}

interface PartTxn {
  readonly session: Value
  readonly label: Value
  readonly status: number
  readonly level: number
  readonly start: number
  readonly finish: number
}

/** What is known of a file, some transactions of which are wanted. */
export interface PartSource {
  readonly file: PlainFile
  readonly sizes: SpillSizes
  readonly initial: Value | undefined
  readonly hasLabels: boolean
  /** txn -> status; null: each stands in one place of the file, with its status. */
  readonly txnStatus: ByteColumn | null
  /** Called now and then while the file is read again. */
  readonly onRead?: (readBytes: number) => void
}

/**
 * @param txns of the whole
 * @param isWild whether a read stays though nobody among them wrote what it saw
 */
export function loadPart(
  source: PartSource,
  txns: ReadonlySet<number>,
  memoryBytes: number,
  isWild: (txn: number, op: number) => boolean = () => false,
): Part {
  const { named, ops, timeUnit } = readPart(source, txns, memoryBytes)
  const whole = buildPart(source, named, ops, timeUnit)
  const isStray = (op: PartOp, i: number) =>
    op.kind === READ && whole.history.readFrom[i] === NONE && !isWild(op.txn, op.index)
  if (!ops.some(isStray)) return whole
  const kept = ops.filter((op, i) => !isStray(op, i))
  return { ...buildPart(source, named, kept), told: whole.told }
}

function readPart(from: PartSource, txns: ReadonlySet<number>, memoryBytes: number) {
  const { file, sizes, txnStatus } = from
  const last = largest(txns, 0)
  const numbers = new TxnNumbers(file.format.id === 'plume')
  const named = new Map<number, PartTxn>()
  const ops: PartOp[] = []
  let timeUnit: History['timeUnit'] = null
  for (const { draft, readBytes } of readPieces(file, sizes.pieceBytes, memoryBytes)) {
    const { builder, places } = draft
    timeUnit ??= builder.timeUnit
    if (txns.size === 0) break // the header says all that is asked
    const { txns: numberOf, opsBefore } = numbers.take(draft, (local, _, label) => {
      const txn = numbers.txnCount
      if (!txns.has(txn)) return
      const status = txnStatus === null ? builder.statusOf(local) : txnStatus.data[txn]!
      if (status === INITIAL_PART) return
      const session = builder.sessions.get(builder.sessionOf(local))
      const { times } = builder
      const [start, finish] = [times.startOf(local), times.finishOf(local)]
      const level = builder.txnLevel?.data[local] ?? NONE
      named.set(txn, { session, label, status, level, start, finish })
    })
    for (let i = 0; i < builder.opCount; i++) {
      const local = builder.opTxn.data[i]!
      const txn = numberOf[local]!
      const index = opsBefore[local]!++
      if (!named.has(txn)) continue
      const key = builder.keys.get(builder.opKey.data[i]!)
      const value = builder.values.get(builder.opValue.data[i]!)
      const place = places.place(i)
      ops.push({ txn, index, kind: builder.opKind.data[i]!, key, value, place })
    }
    from.onRead?.(readBytes)
    if (txnStatus === null && numbers.txnCount > last + 1) break
  }
  ops.sort((a, b) => a.txn - b.txn || a.index - b.index)
  return { named, ops, timeUnit }
}

function buildPart(
  { initial, hasLabels }: PartSource,
  named: ReadonlyMap<number, PartTxn>,
  ops: readonly PartOp[],
  timeUnit: History['timeUnit'] = null,
): Part {
  const builder = new HistoryBuilder(initial, ops.length)
  const numbers = new Map<number, number>() // transaction of the whole -> of the part
  for (const [txn, { session, label, status, level }] of named) {
    const copy = builder.addTxn(builder.session(session), status, label)
    if (level !== NONE) builder.setLevel(copy, level)
    numbers.set(txn, copy)
  }
  const places = Array.from(numbers, (): number[] => [])
  for (const { txn, index, kind, key, value } of ops) {
    builder.addOp(numbers.get(txn)!, kind, builder.keys.of(key), builder.values.of(value))
    places[numbers.get(txn)!]!.push(index)
  }
  const txns = [...numbers.keys()]
  const built = builder.finish({ place: (arrival) => ops[arrival]!.place })
  const sign = hasLabels ? '#' : 'T' // as the builder names transactions of the whole
  const txnName = (txn: number) =>
    built.txnLabel(txn) === null ? `${sign}${txns[txn]! + 1}` : built.txnName(txn)
  const history = { ...built, txnName, timeUnit }
  const told = [...named.values()]
  const hasTimes = told.some(({ start, finish }) => !Number.isNaN(start) || !Number.isNaN(finish))
  if (!hasTimes) return { history, txns, told: history, places }
  const txnStartTime = Float64Array.from(told, ({ start }) => start)
  const txnFinishTime = Float64Array.from(told, ({ finish }) => finish)
  return { history, txns, told: { ...history, txnStartTime, txnFinishTime }, places }
}
