// Statements as steps of transactions: what each did in program order, registers beside statements.
// Main function: forEachStep.

import { type History, NONE } from './history.ts'
import type { SqlEvents } from './sql-events.ts'

/** The statements of a history; none, if it knows only registers. */
export function statementsOf(history: History): SqlEvents {
  if (history.sql) return history.sql
  const { keyCount, opCount, txnCount } = history
  const nothing = new Int32Array(0)
  return {
    tables: [],
    keyTable: new Int32Array(keyCount).fill(NONE),
    keyValues: [],
    initialRow: [],
    opRow: [],
    opReturned: new Uint8Array(opCount).fill(1),
    opEvent: new Int32Array(opCount).fill(NONE),
    eventCount: 0,
    eventTxn: nothing,
    eventKind: new Uint8Array(0),
    eventTable: nothing,
    eventPredicate: nothing,
    eventWrite: nothing,
    eventOpStart: nothing,
    txnEventStart: new Int32Array(txnCount + 1),
    txnRolledBack: new Uint8Array(txnCount),
    predicates: [],
    eventPlace: () => null,
  }
}

/**
 * Calls `visit` with what a transaction did, in program order: with an operation on a register and
 * NONE, or with the first operation of a statement (or where one would stand) and the statement. A
 * lightweight operation counts once.
 */
export function forEachStep(
  history: History,
  sql: SqlEvents,
  txn: number,
  visit: (op: number, event: number) => void,
): void {
  const { txnOpStart, light } = history
  const lastEvent = sql.txnEventStart[txn + 1]!
  let event = sql.txnEventStart[txn]!
  for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]! || event < lastEvent; ) {
    if (event < lastEvent && sql.eventOpStart[event] === op) {
      visit(op, event)
      op = statementEnd(history, sql, event)
      event++
    } else {
      visit(op, NONE)
      const which = light?.opLight[op] ?? NONE
      op += which !== NONE && !light!.failed[which] ? 2 : 1
    }
  }
}

/** The operation behind the last one of a statement. */
export function statementEnd(history: History, sql: SqlEvents, event: number): number {
  const end = history.txnOpStart[sql.eventTxn[event]! + 1]!
  let op = sql.eventOpStart[event]!
  while (op < end && sql.opEvent[op] === event) op++
  return op
}
