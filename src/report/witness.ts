// What a satisfied verdict on SQL statements rests on: for every row that a statement passed over
// although it had a version to return, whose version it saw instead. Main functions: tellWitness,
// describeWitness.

import type { History } from '../history/history.ts'
import { INITIAL_TXN, type LevelResult } from '../verdict/verdict.ts'
import type { WitnessJson } from '../verdict/verdict-file.ts'
import { describePassed } from './sql-json.ts'
import { choiceText, lastWrite } from './sql-words.ts'

const MAX_LINES = 100

/** Lines for the terminal: how many rows there were, or each of them. */
export function tellWitness(history: History, { proof }: LevelResult, isAll: boolean): string[] {
  if (proof?.kind !== 'witness' || proof.choices.length === 0) return []
  const { choices } = proof
  if (!isAll) {
    const many = `${choices.length} rows not returned are explained by versions that fail their clauses`
    const one = '1 row that was not returned is explained by a version that fails its clause'
    return [`${choices.length === 1 ? one : many} (see --all)`]
  }
  const lines = choices.slice(0, MAX_LINES).map((choice) => choiceText(history, choice))
  const left = choices.length - lines.length
  return left > 0 ? [...lines, `… and ${left} more; --certificate FILE writes them all`] : lines
}

/** @param isAll whether to name every row */
export function describeWitness(
  history: History,
  { proof }: LevelResult,
  isAll: boolean,
): WitnessJson | null {
  if (proof?.kind !== 'witness') return null
  const { choices } = proof
  const statements = new Set(choices.map(({ event }) => event)).size
  const witness: WitnessJson = { passedOver: choices.length, statements }
  if (!isAll) return witness
  const rows = choices.map(({ event, key, txn }) => ({
    ...describePassed(history, event, key, lastWrite(history, txn, key)),
    from: txn === INITIAL_TXN ? null : history.txnName(txn),
  }))
  return { ...witness, rows }
}
