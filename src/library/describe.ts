// A history in words: its notation, and how large its parts are. Main functions: renderNotation,
// describeShape.

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
  return notationOf(expectHistory(history), txns, expectOptions(options, TXN_OPTIONS))
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
