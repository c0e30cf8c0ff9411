// A history in words: its notation, and how large its parts are. Main functions: renderNotation,
// describeShape.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { renderNotation as notationOf, type TxnOptions } from '../history/render-notation.ts'
import { type HistoryShape, describeShape as shapeOf } from '../history/shape.ts'
import { AMOUNT, expectHistory, expectOptions, FLAG, type Tests } from './options.ts'

const TXN_OPTIONS: Tests<TxnOptions> = { ids: FLAG, maxLength: AMOUNT, after: null }

/**
 * The history in the notation that reports print and `parseHistory` reads, a line for each session.
 *
 * @param txns those to show, by their indices; all unless told
 *
 * @example
 * renderNotation(parseHistory('{"isobar":1}\n{"session":1,"ops":[["w","x",1]]}')) // 's1: w(x,1)\n'
 */
export function renderNotation(
  history: History,
  txns: Iterable<number> | null = null,
  options: TxnOptions = {},
): string {
  const chosen = expectTxns(expectHistory(history), txns)
  return notationOf(history, chosen, expectOptions(options, TXN_OPTIONS))
}

function expectTxns(history: History, txns: Iterable<number> | null): readonly number[] | null {
  if (txns === null) return null
  const hint = `this history has transactions 0 to ${history.txnCount - 1}`
  if (typeof txns !== 'object' || !(Symbol.iterator in txns)) {
    throw new UsageError('txns: a list of transactions, by their indices, was expected', hint)
  }
  const chosen = [...txns]
  for (const txn of chosen) {
    if (Number.isInteger(txn) && txn >= 0 && txn < history.txnCount) continue
    throw new UsageError(`txns: there is no transaction ${String(txn)}`, hint)
  }
  return chosen
}

/**
 * What a history is made of: which kinds of operations, how many, on which keys most.
 *
 * @example
 * describeShape(parseHistory('s1: r(x,0) w(x,1)')).shape // 'mini'
 */
export function describeShape(history: History): HistoryShape {
  return shapeOf(expectHistory(history))
}
