// A transaction as the verdict file has it. Main function: describeTxn.

import {
  APPEND,
  type History,
  INDETERMINATE,
  listOf,
  NONE,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  STATUS_NAMES,
  WRITE,
} from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { LEVELS } from '../levels/levels.ts'
import type { OpJson, TxnJson } from '../verdict/verdict-file.ts'
import { describeStatements } from './sql-json.ts'

/** A transaction as a line of the native format has it, but always with a name. */
export function describeTxn(history: History, txn: number): TxnJson {
  const described: TxnJson = {
    session: history.sessionLabel(history.txnSession[txn]!),
    id: history.txnName(txn),
    status: STATUS_NAMES[history.txnStatus[txn]!]!,
    ops: [],
  }
  const start = history.txnStartTime?.[txn] ?? Number.NaN
  const finish = history.txnFinishTime?.[txn] ?? Number.NaN
  if (!Number.isNaN(start)) described.start = start
  if (!Number.isNaN(finish)) described.finish = finish
  if (history.txnStatus[txn] === INDETERMINATE && history.txnCounts[txn]) described.observed = true
  if (history.sql?.txnRolledBack[txn]) described.rolledBack = true
  const level = history.txnLevel?.[txn] ?? NONE
  if (level !== NONE) described.level = LEVELS[level]!.id
  if (history.txnAudit?.[txn]) described.audit = true
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    described.ops.push(describeOp(history, op))
  }
  if (history.sql) described.statements = describeStatements(history, history.sql, txn)
  return described
}

function describeOp(history: History, op: number): OpJson {
  const key: Value = history.keyName(history.opKey[op]!)
  if (history.opKind[op] === READ_LIST) return ['r', key, listOf(history, op)]
  if (history.opKind[op] === READ_ROWS) return ['rows', key, rowsOf(history, op)]
  const verb = history.opKind[op] === WRITE ? 'w' : history.opKind[op] === APPEND ? 'append' : 'r'
  const version = history.versions?.text(op) ?? null
  return version === null
    ? [verb, key, history.valueOf(op)]
    : [verb, key, history.valueOf(op), version]
}
