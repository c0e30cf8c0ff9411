// The history as a trace that Perfetto (ui.perfetto.dev) and Chrome show: sessions as tracks,
// transactions and in them operations as slices, findings and faults as instants. It comes in
// pieces, so that a long history needs no more memory than a short one. Operations have no times of
// their own: they share the time of their transaction evenly. Main function: renderTrace.

import { Deadline } from '../base/deadline.ts'
import { cut, inert } from '../base/inert.ts'
import { obtain } from '../base/maps.ts'
import {
  type History,
  isOfList,
  READ,
  STATUS_NAMES,
  type TimeUnit,
  WRITE,
} from '../history/history.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { assignment } from './names.ts'
import { findAxis, finishOf, startOf } from './overview.ts'

const MICROSECONDS: Record<TimeUnit, number> = { ns: 1e-3, us: 1, ms: 1e3, s: 1e6 }
/** A transaction takes so long where only its position is known, or its unit is not. */
const UNIT_US = 1000
const PIECE_CHARS = 1 << 16
const MAX_NAME = 80
const COLOURS = ['good', 'terrible', 'bad'] // by status, as Chrome names them

/** @param deadline when it runs out, the trace ends with what it has, and says so */
export function* renderTrace(
  history: History,
  verdict: VerdictJson,
  deadline: Deadline = Deadline.none(),
): Generator<string> {
  const axis = findAxis(history)
  const isTime = axis.kind === 'time'
  const unit = isTime && history.timeUnit !== null ? MICROSECONDS[history.timeUnit] : UNIT_US
  const at = (time: number) => Number(((time - axis.from) * unit).toFixed(3))
  const last = axis.from + axis.part * axis.parts
  const about = {
    history: inert(verdict.path),
    time: isTime ? (history.timeUnit ?? 'unknown unit, shown as ms') : 'positions, shown as ms',
  }
  let piece = `{"displayTimeUnit":"ms","otherData":${JSON.stringify(about)},"traceEvents":[\n`
  piece += JSON.stringify(meta('process_name', 0, cut(inert(verdict.path), MAX_NAME)))
  for (let session = 0; session < history.sessionCount; session++) {
    const name = cut(inert(history.sessionName(session)), MAX_NAME)
    piece += `,\n${JSON.stringify(meta('thread_name', session + 1, name))}`
  }
  for (const event of findInstants(history, verdict)) {
    const { time, ...rest } = event
    const instant = { ph: 'i', pid: 1, ts: at(time), ...rest }
    piece += `,\n${JSON.stringify(instant)}`
    if (piece.length > PIECE_CHARS) {
      yield piece
      piece = ''
    }
  }
  for (let txn = 0; txn < history.txnCount; txn++) {
    const start = startOf(history, axis, txn)
    const finish = finishOf(history, axis, txn)
    piece += sliceTxn(history, txn, at(start), at(Number.isNaN(finish) ? last : finish))
    if (piece.length <= PIECE_CHARS) continue
    yield piece
    piece = ''
    if (!deadline.hasRunOut()) continue
    const name = `cut short by the budget: ${txn + 1} of ${history.txnCount} transactions are here`
    const instant = { ph: 'i', pid: 1, ts: at(start), tid: 0, s: 'g', name, cat: 'budget' }
    piece = `,\n${JSON.stringify(instant)}`
    break
  }
  yield `${piece}\n]}\n`
}

function meta(name: string, tid: number, value: string) {
  return { ph: 'M', pid: 1, tid, name, args: { name: value } }
}

function sliceTxn(history: History, txn: number, from: number, to: number): string {
  const { txnOpStart, txnStatus } = history
  const tid = history.txnSession[txn]! + 1
  const status = txnStatus[txn]!
  const duration = Math.max(0, to - from)
  const name = cut(inert(history.txnName(txn)), MAX_NAME)
  const slice = { ph: 'X', pid: 1, tid, ts: from, dur: Number(duration.toFixed(3)), name }
  const whole = { ...slice, cat: STATUS_NAMES[status], cname: COLOURS[status] }
  let text = `,\n${JSON.stringify(whole)}`
  const [first, end] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
  const share = duration / Math.max(1, end - first)
  for (let op = first; op < end; op++) {
    const ts = Number((from + (op - first) * share).toFixed(3))
    const dur = Number(share.toFixed(3))
    text += `,\n${JSON.stringify({ ph: 'X', pid: 1, tid, ts, dur, name: nameOp(history, op), cat: 'op' })}`
  }
  return text
}

function nameOp(history: History, op: number): string {
  const kind = history.opKind[op]!
  if (isOfList(history, op) && kind !== READ && kind !== WRITE) return assignment(history, op)
  return `${kind === WRITE ? 'write' : 'read'} ${assignment(history, op)}`
}

interface Instant {
  time: number
  tid: number
  /** Its scope: a thread, or everything. */
  s: 't' | 'g'
  name: string
  cat: string
  args?: Record<string, string>
}

/** Findings at each of their transactions, and what happened beside the transactions. */
function* findInstants(history: History, verdict: VerdictJson): Generator<Instant> {
  for (const { time, source, text } of history.annotations) {
    const name = cut(inert(source === 'run' ? text : `${source}: ${text}`), MAX_NAME)
    yield { time, tid: 0, s: 'g', name, cat: 'fault' }
  }
  const rows = new Map(verdict.overview?.places.map((place) => [place.transaction, place.at]))
  const wanted = new Map<string, Map<string, string[]>>() // transaction -> anomaly -> levels
  for (const { level, anomalies } of verdict.results) {
    for (const { name, transactions } of anomalies) {
      for (const txn of transactions) {
        const mine = obtain(wanted, txn, () => new Map<string, string[]>())
        mine.set(name, [...(mine.get(name) ?? []), level])
      }
    }
  }
  if (wanted.size === 0) return
  for (let txn = 0; txn < history.txnCount; txn++) {
    const id = history.txnName(txn)
    const time = rows.get(id)
    if (time === undefined) continue
    for (const [name, levels] of wanted.get(id) ?? []) {
      const args = { transaction: inert(id), violates: [...new Set(levels)].join(', ') }
      yield { time, tid: history.txnSession[txn]! + 1, s: 't', name, cat: 'finding', args }
    }
  }
}
