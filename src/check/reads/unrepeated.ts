// Keys of which a transaction saw two versions. That is told as a non-repeatable read; that it also
// missed one of the versions is the same fault. Main functions: findUnrepeated, tellsUnrepeated.

import type { History } from '../../history/history.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { ReadCheck } from './read-consistency.ts'

export type IsUnrepeated = (txn: number, key: number) => boolean

/** Tells whether a transaction saw two versions of a key. */
export function findUnrepeated(
  { opTxn, opKey, keyCount }: History,
  { unrepeatable }: ReadCheck,
): IsUnrepeated {
  const pairs = new Set(Array.from(unrepeatable, (read) => opTxn[read]! * keyCount + opKey[read]!))
  return (txn, key) => pairs.size > 0 && pairs.has(txn * keyCount + key)
}

/** Whether all that an anomaly shows is that such a transaction missed a version of such a key. */
export function tellsUnrepeated({ edges }: Anomaly, isUnrepeated: IsUnrepeated): boolean {
  const [missed, ...others] = edges.filter(({ kind }) => kind === 'RW')
  return missed !== undefined && others.length === 0 && isUnrepeated(missed.from, missed.key)
}
