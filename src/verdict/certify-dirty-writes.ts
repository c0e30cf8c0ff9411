// Orders of versions as Adya's PL-1 takes them, where reads count for nothing but the order in
// which lists show what was appended, whoever did it and whether or not the read is sound
// otherwise. An order of the transactions proves the level if every list read shows appends in
// that order, and nothing that comes before the last one shown is missing. O(length of all lists
// and reads). Main functions: findDirtyWrite, isShownBefore.

import { addTo } from '../base/maps.ts'
import { APPEND, type History, NONE, READ_LIST } from '../history/history.ts'
import { ownAppendsBefore } from './certify-reads.ts'

/** What a list read shows against the order of transactions; null if nothing does. */
export function findDirtyWrite(history: History, position: Int32Array): string | null {
  const { opCount, opKind, opTxn, opKey, txnCounts } = history
  const appends = new Map<number, number[]>() // key -> appends of transactions that count
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== APPEND || !txnCounts[opTxn[op]!]) continue
    addTo(appends, opKey[op]!, op)
  }
  const placeOf = (append: number) => position[opTxn[append]!]!
  for (const list of appends.values()) list.sort((a, b) => placeOf(a) - placeOf(b) || a - b)
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_LIST || !txnCounts[opTxn[op]!]) continue
    const shown = othersIn(history, op)
    const isTurned = (append: number, i: number) =>
      i > 0 && placeOf(append) < placeOf(shown[i - 1]!)
    if (shown.some(isTurned)) return `list read ${op} shows another order of versions`
    const last = shown.at(-1)
    if (last === undefined) continue
    const isShown = new Set(shown)
    for (const append of appends.get(opKey[op]!) ?? []) {
      if (placeOf(append) >= placeOf(last)) break
      if (!isShown.has(append)) return `list read ${op} misses append ${append}`
    }
  }
  return null
}

/** Two versions that the order of transactions has the other way; null if there are none. */
export function findTurnedVersion(history: History, position: Int32Array): string | null {
  const { versions, opTxn, keyCount } = history
  for (let key = 0; versions !== null && key < keyCount; key++) {
    for (let i = versions.orderStart[key]! + 1; i < versions.orderStart[key + 1]!; i++) {
      const [older, newer] = [versions.order[i - 1]!, versions.order[i]!]
      if (position[opTxn[older]!]! > position[opTxn[newer]!]!) {
        return `write ${older} comes after a later version`
      }
    }
  }
  return null
}

/**
 * Whether a list read of a transaction that counts shows the one append before the other; what it
 * does not show, and what the reader appended itself, comes after all that it shows of others.
 */
export function isShownBefore(
  history: History,
  read: number,
  first: number,
  second: number,
): boolean {
  const { opKind, opTxn, opKey, txnCounts } = history
  if (opKind[read] !== READ_LIST || !txnCounts[opTxn[read]!]) return false
  if (opKey[first] !== opKey[read] || opKey[second] !== opKey[read]) return false
  const shown = othersIn(history, read)
  const at = shown.indexOf(first)
  if (at < 0) return false
  return shown.includes(second) ? shown.lastIndexOf(second) > at : true
}

/**
 * The appends of others that count among those that a list read shows; none if it contradicts its
 * own transaction, whose appends so far have to be its tail.
 */
export function othersIn(history: History, read: number): number[] {
  const { opValue, opTxn, txnCounts, listStart, listFrom } = history
  const list = opValue[read]!
  const shown = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  const own = ownAppendsBefore(history, read)
  const tail = shown.splice(Math.max(0, shown.length - own.length))
  const isOwn = (append: number) => append !== NONE && opTxn[append] === opTxn[read]
  if (tail.join() !== own.join() || shown.some(isOwn)) return []
  const isOther = (append: number) => append !== NONE && txnCounts[opTxn[append]!] === 1
  return shown.filter((append) => isOther(append))
}
