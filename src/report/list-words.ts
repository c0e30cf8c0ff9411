// Lists that reads returned, in words: long ones are cut around the elements that are spoken of.
// Main functions: listWords, positionsOf, offendingPositions, culpritOf.

import { cut } from '../base/inert.ts'
import { ABORTED, APPEND, type History, NONE, READ_LIST } from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { cutList } from './cut-list.ts'

const MAX_LENGTH = 60 // characters of a list
const MAX_ELEMENT = 30

/** `[28 46 … 110 111 …]`. */
export function listWords(
  history: History,
  read: number,
  matters: readonly number[],
  wordOf: (value: Value) => string,
): string {
  const ids = elementsOf(history, read)
  if (ids.length === 0) return '[]'
  const textOf = (at: number) => cut(wordOf(history.values.get(ids[at]!)), MAX_ELEMENT)
  return `[${cutList(ids.length, textOf, matters, MAX_LENGTH).join(' ')}]`
}

/** Where the values of these operations stand in the list that was read. */
export function positionsOf(history: History, read: number, ops: readonly number[]): number[] {
  const ids = elementsOf(history, read)
  const appends = ops.filter((op) => op >= 0 && history.opKind[op] === APPEND)
  return appends.map((op) => ids.indexOf(history.opValue[op]!))
}

/** The elements by which a read of a list offends; none if it is not of a list. */
export function offendingPositions(
  history: History,
  name: string,
  read: number,
  other: number,
): number[] {
  if (history.opKind[read] !== READ_LIST) return []
  const ids = elementsOf(history, read)
  if (name === 'ThinAirRead') {
    const list = history.opValue[read]!
    const from = history.listFrom.subarray(history.listStart[list]!, history.listStart[list + 1]!)
    return [from.indexOf(NONE)]
  }
  if (name === 'IncompatibleOrder') {
    const others = elementsOf(history, other)
    return [ids.findIndex((id, at) => id !== others[at])]
  }
  if (name === 'DuplicateElements') {
    const seen = new Map<number, number>() // element -> where it stands first
    for (const [at, id] of ids.entries()) {
      const first = seen.get(id)
      if (first !== undefined) return [first, at]
      seen.set(id, at)
    }
    return []
  }
  return history.opKind[other] === READ_LIST ? [] : positionsOf(history, read, [other])
}

/**
 * The operation beside the read that a sentence is about. Of a list all appends are there: it is
 * the aborted one, or the one that its writer followed by another; else the last.
 */
export function culpritOf(history: History, name: string, ops: readonly number[]): number {
  const [read = NONE, ...others] = ops
  if (history.opKind[read] !== READ_LIST || name === 'IncompatibleOrder') return others[0] ?? NONE
  const culprit = others.find((op) => {
    if (name === 'AbortedRead') return history.txnStatus[history.opTxn[op]!] === ABORTED
    return name === 'IntermediateRead' && isFollowed(history, op, others)
  })
  return culprit ?? others.at(-1) ?? NONE
}

/** Whether its transaction appends more to the list than the read saw. */
function isFollowed(history: History, append: number, seen: readonly number[]): boolean {
  const { opTxn, opKey, opKind, txnOpStart } = history
  for (let op = append + 1; op < txnOpStart[opTxn[append]! + 1]!; op++) {
    if (opKind[op] === APPEND && opKey[op] === opKey[append] && !seen.includes(op)) return true
  }
  return false
}

function elementsOf({ opKind, opValue, listStart, listValue }: History, op: number): Int32Array {
  if (opKind[op] !== READ_LIST) return new Int32Array(0)
  const list = opValue[op]!
  return listValue.subarray(listStart[list]!, listStart[list + 1]!)
}
