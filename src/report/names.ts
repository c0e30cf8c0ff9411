// What things of a history are called in reports. Keys, values and names come from the history and
// are untrusted: they are made harmless here, and long ones are cut.

import { cut as cutTo, inert } from '../base/inert.ts'
import { APPEND, type History, NONE, READ_LIST, READ_ROWS, rowsOf } from '../history/history.ts'
import { renderValue } from '../history/render-value.ts'
import type { Value } from '../history/values.ts'
import { INITIAL_TXN } from '../verdict/verdict.ts'
import { listWords } from './list-words.ts'

const MAX_LENGTH = 60

/** The user's own name of a transaction. */
export function nameOf(history: History, txn: number): string {
  if (txn === INITIAL_TXN || txn === NONE) return 'the initial state'
  return plain(history.txnName(txn))
}

/** A name from the history that is safe to print: quoted if it is not a plain word, cut if long. */
export function plain(name: string): string {
  const safe = /^[\w#.$@:/~+=,-]+$/.test(name) ? name : renderValue(name)
  return cut(safe)
}

/** A session beside its transactions: by its own name, or s and its number. */
export function laneName(session: Value): string {
  return typeof session === 'string' ? plain(session) : `s${session}`
}

export function cut(text: string): string {
  return cutTo(text, MAX_LENGTH)
}

export function keyOf(history: History, key: number): string {
  const name = history.keyName(key)
  // Rows have names of our own making: orders(17).
  return cut(isRow(history, key) ? inert(String(name)) : keyWord(name))
}

/** A key in words: a number alone would look like a value, so 14 is called k14. */
export function keyWord(key: Value): string {
  const isNumber = typeof key === 'number' || typeof key === 'bigint'
  return isNumber ? `k${key}` : wordOf(key)
}

const KEYWORD = /^:[\w*+!?<>=.-]+$/

/** A key or value in words: Clojure's keywords (":x") as they are, all else as notation has it. */
function wordOf(value: Value): string {
  return typeof value === 'string' && KEYWORD.test(value) ? value : renderValue(value)
}

/** True if the key is a row of a table. */
function isRow(history: History, key: number): boolean {
  return history.sql !== null && history.sql.keyTable[key] !== NONE
}

/**
 * `x=1` for a read or write, `append of 1 to x` for an append, `l=[1 2]` for a read of a list, and
 * `orders(17)@w3` for a row in the version that the statement w3 wrote.
 * @param matters of a list, the positions of elements that are spoken of: it is cut around them
 */
export function assignment(history: History, op: number, matters: readonly number[] = []): string {
  const key = keyOf(history, history.opKey[op]!)
  if (history.opKind[op] === READ_ROWS) {
    const rows = rowsOf(history, op).map((row) =>
      Array.isArray(row) ? `[${row.map(wordOf).join(' ')}]` : wordOf(row),
    )
    return rows.length === 0 ? `no row of ${key}` : cut(`${key}=${rows.join(' and ')}`)
  }
  if (isRow(history, history.opKey[op]!)) {
    const write = history.valueOf(op)
    return write === null ? key : `${key}@${cut(inert(String(write)))}`
  }
  if (history.opKind[op] === READ_LIST) return `${key}=${listWords(history, op, matters, wordOf)}`
  const value = cut(wordOf(history.valueOf(op)))
  return history.opKind[op] === APPEND ? `append of ${value} to ${key}` : `${key}=${value}`
}
