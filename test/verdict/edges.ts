// Edges made by hand, for certificates true and false. Operations are found by their text in the
// notation of the history, e.g. op(history, 'r(x,1)', 1) for the second such operation.

import { type History, INITIAL, NONE, READ } from '../../src/history/history.ts'
import { renderOp } from '../../src/history/render-notation.ts'
import { type Edge, INITIAL_TXN } from '../../src/verdict/verdict.ts'

export function op(history: History, text: string, nth = 0): number {
  let left = nth
  for (let i = 0; i < history.opCount; i++) {
    if (renderOp(history, i) === text && left-- === 0) return i
  }
  throw new Error(`there is no ${text}`)
}

export function so(from: number, to: number): Edge {
  return { from, to, kind: 'SO', key: NONE, ops: [], premises: [] }
}

export function rt(from: number, to: number): Edge {
  return { from, to, kind: 'RT', key: NONE, ops: [], premises: [] }
}

/** Who wrote what the register read returned. */
export function wr(history: History, read: number): Edge {
  const { opTxn, opKey, readFrom } = history
  const write = readFrom[read]!
  const from = write === INITIAL ? INITIAL_TXN : opTxn[write]!
  const ops = write === INITIAL ? [read] : [write, read]
  return { from, to: opTxn[read]!, kind: 'WR', key: opKey[read]!, ops, premises: [] }
}

/** The version that a read returned was replaced by a write of the same transaction. */
export function replaced(history: History, read: number, write: number): Edge {
  const { from, to, key, ops } = wr(history, read)
  if (from === INITIAL_TXN) return afterInitial(history, write)
  return { from, to, kind: 'WW', key, ops: [ops[0]!, write, read], premises: [] }
}

/** Two writes of a key in an order that the premises prove. */
export function ww(
  history: History,
  first: number,
  second: number,
  more: Pick<Edge, 'premises'> & Partial<Edge>,
): Edge {
  const { opTxn, opKey } = history
  const ops = [first, second]
  return { from: opTxn[first]!, to: opTxn[second]!, kind: 'WW', key: opKey[first]!, ops, ...more }
}

export function assumed(history: History, first: number, second: number): Edge {
  return ww(history, first, second, { premises: [], assumed: true })
}

/** Any write replaces the initial state. */
export function afterInitial(history: History, write: number): Edge {
  const { opTxn, opKey } = history
  const key = opKey[write]!
  return { from: INITIAL_TXN, to: opTxn[write]!, kind: 'WW', key, ops: [write], premises: [] }
}

/** The read came before the end of the version order given. */
export function rw(history: History, read: number, version: Edge): Edge {
  const write = version.ops[version.from === INITIAL_TXN ? 0 : 1]!
  return {
    from: history.opTxn[read]!,
    to: version.to,
    kind: 'RW',
    key: version.key,
    ops: [read, write],
    premises: [wr(history, read), version],
  }
}

/** Everything that makes a simple edge between transactions that count, true or not. */
export function simpleEdges(history: History): Edge[] {
  const edges: Edge[] = []
  const txns = Array.from({ length: history.txnCount }, (_, txn) => txn)
  const reads: number[] = []
  const writes: number[] = []
  for (let i = 0; i < history.opCount; i++) (history.opKind[i] === READ ? reads : writes).push(i)
  for (const a of txns) for (const b of txns) edges.push(so(a, b), rt(a, b))
  const versions: Edge[] = writes.map((write) => afterInitial(history, write))
  for (const read of reads.filter((read) => history.readFrom[read] !== NONE)) {
    edges.push(wr(history, read))
    for (const write of writes) versions.push(replaced(history, read, write))
  }
  for (const first of writes) {
    for (const second of writes) {
      if (first === second || history.opKey[first] !== history.opKey[second]) continue
      for (const premise of edges.slice())
        versions.push(ww(history, first, second, { premises: [premise] }))
    }
  }
  for (const read of reads) for (const version of versions) edges.push(rw(history, read, version))
  return [...edges, ...versions]
}
