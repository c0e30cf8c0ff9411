// Adya's PL-2 straight from its phenomena, for the tests: G1a and reads of what nobody wrote, G1b, and
// cycles in reads-from and the order of versions that lists show. What a transaction does to itself
// is no matter of PL-2, so its own writes are taken out of what it reads before that is judged.

import type { Draft, DraftOp, DraftTxn } from './draft.ts'
import { judge, type Offence, settle } from './judge.ts'
import { isAcyclic } from './oracle.ts'

const INTERNAL: ReadonlySet<Offence> = new Set(['FutureRead', 'NotMyLastWrite', 'NotMyOwnWrite'])

export function isPl2(draft: Draft): boolean {
  const situation = judge(draft, settle(draft), { sessionOrder: false })
  if (situation.offences.some(({ name }) => !INTERNAL.has(name))) return false
  const before = situation.wr.map((mask, txn) => mask | situation.ww[txn]!)
  const txns = draft.sessions.flat()
  const places = txns.flatMap((txn, reader) => txn.ops.map((op) => ({ op, reader })))
  for (const { op: offending } of situation.offences) {
    const { op, reader } = places[offending]!
    const writer = writerOfForeignPart(txns, op, reader)
    if (writer === 'torn') return false
    if (writer !== null) before[situation.txnOf[reader]!]! |= 1 << situation.txnOf[writer]!
  }
  return isAcyclic(before)
}

/** Whose version was read, own writes aside; null if nobody's, 'torn' if only part of one's writes. */
function writerOfForeignPart(
  txns: readonly DraftTxn[],
  op: DraftOp,
  reader: number,
): number | 'torn' | null {
  const read = op.kind === 'list' ? op.list : op.kind === 'r' ? [op.value] : []
  const writesOf = (txn: number) =>
    txns[txn]!.ops.flatMap((other) =>
      (other.kind === 'w' || other.kind === 'append') && other.key === op.key ? [other.value] : [],
    )
  const foreign = read.filter((value) => !writesOf(reader).includes(value))
  let last: number | null = null
  for (let i = 0; i < foreign.length; ) {
    last = txns.findIndex((_, txn) => writesOf(txn).includes(foreign[i]!))
    if (last < 0) return null // the initial value
    const whole = op.kind === 'list' ? writesOf(last) : writesOf(last).slice(-1)
    if (whole.some((value, j) => foreign[i + j] !== value)) return 'torn'
    i += whole.length
  }
  return last
}
