// Writes the native format: transactions in their own order, so that sessions, names and numbering
// come back as they were. Every history fits.

import { namedBy } from '../../history/after.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  isOfList,
  listsOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  STATUS_NAMES,
  type Versions,
  WRITE,
} from '../../history/history.ts'
import { CAS, FOUND, UNTOLD } from '../../history/light.ts'
import { ADD, elementsOf, INCREMENT, RANGE, SET } from '../../history/spans.ts'
import { forEachStep } from '../../history/sql-steps.ts'
import { LEVELS } from '../../levels/levels.ts'
import { ByteWriter, RenderedKeys, renderJson, type Sink, writeValue } from '../sink.ts'
import { RUN } from './fields.ts'
import { initialRowsOf, renderTables, writeStatement } from './sql-write.ts'

const VERBS: Record<number, string> = {
  [READ]: 'r',
  [WRITE]: 'w',
  [APPEND]: 'append',
  [READ_LIST]: 'r',
  [READ_ROWS]: 'rows',
}
const COMMA = 44
const OPEN = 91
const CLOSE = 93

export function writeNative(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const initial = history.initial === undefined ? 'false' : renderJson(history.initial)
  const declared = history.sql && renderTables(history.sql.tables, initialRowsOf(history.sql))
  const tables = declared ? `,"tables":${declared}` : ''
  const unit = history.timeUnit === null ? '' : `,"unit":"${history.timeUnit}"`
  const partial = history.partial ? `,"partial":${JSON.stringify(history.partial)}` : ''
  writer.text(`{"isobar":1,"initial":${initial}${unit}${tables}${partial}}\n`)
  for (const { time, source, text } of history.annotations) {
    const words = source === RUN ? text : `${source}: ${text}`
    writer.text(`{"mark":${renderJson(words)},"start":${time}}\n`)
  }
  const keys = new RenderedKeys(history, renderJson)
  const sessions = Array.from({ length: history.sessionCount }, (_, session) =>
    renderJson(history.sessionLabel(session)),
  )
  const encoder = new TextEncoder()
  const openers = Object.values(VERBS).map((verb) => encoder.encode(`["${verb}",`))
  const writeOp = (op: number) => {
    const span = history.spans === null ? NONE : history.spans.opSpan[op]!
    if (span !== NONE) {
      writeSpan(writer, history, span, op)
      return op + history.spans!.size[span]!
    }
    const light = history.light === null ? NONE : history.light.opLight[op]!
    if (light !== NONE) {
      writeLight(writer, history, light, op)
      return history.light!.failed[light] ? op + 1 : op + 2 // its write is part of it
    }
    const kind = history.opKind[op]!
    writer.copy(openers[kind]!, 0)
    keys.write(writer, history.opKey[op]!)
    writer.byte(COMMA)
    if (kind === READ_LIST) writeList(writer, history, history.opValue[op]!)
    else if (kind === READ_ROWS) writeRows(writer, history, op)
    else writeValue(writer, history, history.opValue[op]!, renderJson)
    if (history.versions !== null) writeVersion(writer, history.versions, op)
    writer.byte(CLOSE)
    return op + 1
  }
  const { txnOpStart, sql } = history
  for (let txn = 0; txn < history.txnCount; txn++) {
    writer.text(
      `{"session":${sessions[history.txnSession[txn]!]!}${attributes(history, txn)},"ops":[`,
    )
    if (sql !== null) writeMixed(writer, history, txn, writeOp)
    else {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; ) {
        if (op > txnOpStart[txn]!) writer.byte(COMMA)
        op = writeOp(op)
      }
    }
    writer.text(']}\n')
  }
  writer.flush()
}

/** Statements and operations on registers, in program order. */
function writeMixed(out: ByteWriter, history: History, txn: number, writeOp: (op: number) => void) {
  const sql = history.sql!
  let first = true
  forEachStep(history, sql, txn, (op, event) => {
    if (!first) out.byte(COMMA)
    first = false
    if (event !== NONE) writeStatement(out, history, event)
    else writeOp(op)
  })
  if (sql.txnRolledBack[txn]) out.text(`${first ? '' : ','}{"abort":true}`)
}

function writeVersion(writer: ByteWriter, versions: Versions, op: number): void {
  const version = versions.text(op)
  if (version !== null) writer.text(`,{"version":${renderVersion(version)}}`)
}

function renderVersion(version: string): string {
  return version.includes('/') ? `"${version}"` : version
}

function writeLight(writer: ByteWriter, history: History, light: number, read: number): void {
  const lights = history.light!
  const isCas = lights.kind[light] === CAS
  writer.text(isCas ? '["cas",' : '["insert",')
  writer.text(renderJson(history.keyName(history.opKey[read]!)))
  const values = [lights.value[light]!]
  if (isCas) values.unshift(lights.expected[light]!)
  if (lights.failed[light] === FOUND) values.push(history.opValue[read]!)
  for (const value of values) {
    writer.byte(COMMA)
    writeValue(writer, history, value, renderJson)
  }
  if (lights.failed[light] === UNTOLD) writer.text(',false')
  writer.byte(CLOSE)
}

function writeSpan(writer: ByteWriter, history: History, span: number, op: number): void {
  const spans = history.spans!
  const { kind, key, first, last, returned } = spans
  const show = (value: number) => renderJson(history.values.get(value))
  if (kind[span] === RANGE) {
    writer.text(`["range",${show(first[span]!)},${show(last[span]!)},[`)
    for (let each = op; each < op + returned[span]!; each++) {
      const name = renderJson(history.keyName(history.opKey[each]!))
      writer.text(`${each > op ? ',' : ''}[${name},${show(history.opValue[each]!)}]`)
    }
    writer.text(']]')
    return
  }
  const name = renderJson(history.keyName(key[span]!))
  if (kind[span] === SET) {
    const elements = Array.from(elementsOf(spans, span), show)
    writer.text(`["set",${name},[${elements.join(',')}]]`)
    return
  }
  const verb = kind[span] === INCREMENT ? 'inc' : kind[span] === ADD ? 'add' : 'r'
  writer.text(`["${verb}",${name},${show(first[span]!)}]`)
}

function writeList(writer: ByteWriter, history: History, list: number): void {
  const { listStart, listValue } = history
  writer.byte(OPEN)
  for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
    if (i > listStart[list]!) writer.byte(COMMA)
    writeValue(writer, history, listValue[i]!, renderJson)
  }
  writer.byte(CLOSE)
}

function writeRows(writer: ByteWriter, history: History, op: number): void {
  const isList = isOfList(history, op)
  writer.byte(OPEN)
  Array.from(listsOf(history, op)).forEach((list, i) => {
    if (i > 0) writer.byte(COMMA)
    if (isList) writeList(writer, history, list)
    else writeValue(writer, history, history.listValue[history.listStart[list]!]!, renderJson)
  })
  writer.byte(CLOSE)
}

function attributes(history: History, txn: number): string {
  let text = ''
  const label = history.txnLabel(txn)
  if (label !== null) text += `,"id":${renderJson(label)}`
  const status = history.txnStatus[txn]!
  if (status !== COMMITTED) text += `,"status":"${STATUS_NAMES[status]!}"`
  const start = history.startText(txn)
  if (start !== null) text += `,"start":${start}`
  const finish = history.finishText(txn)
  if (finish !== null) text += `,"finish":${finish}`
  const level = history.txnLevel?.[txn] ?? NONE
  if (level !== NONE) text += `,"level":"${LEVELS[level]!.id}"`
  if (history.txnAudit?.[txn]) text += ',"audit":true'
  text += lightVersion(history, txn)
  const named = namedBy(history, txn).map((other) => renderJson(history.txnLabel(other)))
  if (named.length > 0) text += `,"after":[${named.join(',')}]`
  return text
}

/** Lightweight operations have no place for a version: it is that of their transaction. */
function lightVersion({ versions, light, txnOpStart }: History, txn: number): string {
  if (versions === null || light === null) return ''
  for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
    const isWrite =
      op > 0 && light.opLight[op - 1] !== NONE && !light.failed[light.opLight[op - 1]!]
    const version = isWrite ? versions.text(op) : null
    if (version !== null) return `,"version":${renderVersion(version)}`
  }
  return ''
}
