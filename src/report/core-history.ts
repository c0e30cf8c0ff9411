// The transactions of a counterexample as a history of their own: small, and violated in the same
// way. Reads of what others wrote are left out, for their writers are not there, unless the
// evidence speaks of them. Main function: buildCore.

import { TupleSet } from '../base/maps.ts'
import { HistoryBuilder, statusOf } from '../history/builder.ts'
import type { Value } from '../history/values.ts'
import { versionOfText } from '../history/versions.ts'
import { LEVELS } from '../levels/levels.ts'
import { findEdges } from '../verdict/verdict.ts'
import type { AnomalyJson, OpJson, TxnJson } from '../verdict/verdict-file.ts'
import type { Example } from './example.ts'

type Pairs = TupleSet<[key: Value, value: Value]>

/** What few formats hold, and few verdicts rest on. */
export type Extra = 'times' | 'levels' | 'names'

/**
 * The history, and how many reads were left out of it.
 * @param omit what else is left out of the transactions
 */
export function buildCore(example: Example, initial: Value | false, omit: readonly Extra[] = []) {
  const builder = new HistoryBuilder(initial === false ? undefined : initial)
  const { txns, anomaly } = example
  const written = findWrites(txns)
  const spokenOf = findPlaces(anomaly)
  // T7 is the name of number 7; formats that know only numbers can keep that.
  const numbered = txns.every(({ id }) => /^T(0|[1-9]\d{0,14})$/.test(id))
  const txnOf = new Map<string, number>() // name -> its transaction
  let leftOut = 0
  for (const txn of txns) {
    const name = numbered ? Number(txn.id.slice(1)) : txn.id
    const added = addTxn(builder, txn, omit.includes('names') ? null : name, omit)
    txnOf.set(txn.id, added)
    txn.ops.forEach((op, index) => {
      const isTold = isKnown(op, written, initial) || spokenOf.has([txn.id, index])
      if (isTold) addOp(builder, added, op)
      else leftOut++
    })
  }
  for (const { id } of txns) {
    for (const other of example.after(id)) {
      if (txnOf.has(other)) builder.addAfter(txnOf.get(id)!, txnOf.get(other)!)
    }
  }
  // Only told: whom reads saw stands in the evidence.
  return { history: builder.finish(null, true), leftOut }
}

/** Adds a transaction without its operations. */
export function addTxn(
  builder: HistoryBuilder,
  { session, status, start, finish, level: id, audit }: TxnJson,
  label: Value,
  omit: readonly Extra[] = [],
): number {
  const txn = builder.addTxn(builder.session(session), statusOf(status), label)
  if (start !== undefined && !omit.includes('times')) builder.setStart(txn, start)
  if (finish !== undefined && !omit.includes('times')) builder.setFinish(txn, finish)
  const level = LEVELS.findIndex((each) => each.id === id)
  if (level >= 0 && !omit.includes('levels')) builder.setLevel(txn, level)
  if (audit) builder.setAudit(txn)
  return txn
}

export function addOp(builder: HistoryBuilder, txn: number, op: OpJson): void {
  const [verb, key, value, version] = op
  if (verb === 'rows') builder.readRows(txn, key, value as Value[] | Value[][])
  else if (Array.isArray(value)) builder.readList(txn, key, value as Value[])
  else if (verb === 'r') builder.read(txn, key, value)
  else if (verb === 'w') builder.write(txn, key, value)
  else builder.append(txn, key, value)
  if (version !== undefined) builder.setVersion(versionOfText(version))
}

function isKnown([verb, key, value]: OpJson, written: Pairs, initial: Value | false) {
  if (verb !== 'r' && verb !== 'rows') return true
  const isWritten = (element: Value) => written.has([key, element])
  return Array.isArray(value)
    ? value.flat().every(isWritten)
    : value === initial || isWritten(value)
}

function findWrites(txns: readonly TxnJson[]): Pairs {
  const written: Pairs = new TupleSet()
  for (const [verb, key, value] of txns.flatMap(({ ops }) => ops)) {
    const isWrite = verb === 'w' || verb === 'append'
    if (isWrite && !Array.isArray(value)) written.add([key, value])
  }
  return written
}

/** The operations that the evidence names, down to its last reason. */
export function findPlaces(anomaly: AnomalyJson): TupleSet<[string, number]> {
  const found = new TupleSet<[txn: string, index: number]>()
  const edges = [...findEdges(anomaly.edges, anomaly.cases)]
  for (const { transaction, index } of [...anomaly.ops, ...edges.flatMap((edge) => edge.ops)])
    found.add([transaction, index])
  return found
}
