// Which transactions of an argument violate the level, and which only left the state from which
// those start. A reader precedes whoever overwrites what it read, since its version is the older
// one; who wrote that version often matters no more than who wrote the initial state:
//
//   s1: w(x,1) | w(y,1) w(z,1)
//   s2: r(z,1) w(x,2)     s3: r(z,1) w(y,2)     s4: r(x,2) r(y,1)     s5: r(x,1) r(y,2)
//
// is a long fork of the last four, which find x = 1, y = 1. A transaction is put aside as earlier
// if it is part of no cycle and no assumption, and everybody else in the example who writes a key
// that was read from it is shown to come later, without any assumption that holds only for a
// while. The rest, with the versions of the earlier ones as its initial state, then violates the
// level on its own, by the same argument: where that asks why the version read is the older one,
// it is initial. What shows that it came first goes aside with it. Linear in the evidence, times
// the transactions put aside. Main function: splitTxns.

import type { History } from '../history/history.ts'
import { writesOf } from './certify-shape.ts'
import { type Anomaly, type Case, type Edge, findEdges, findTxns, INITIAL_TXN } from './verdict.ts'

/** Those that violate the level, and those that only left the state they start from; ascending. */
export function splitTxns(
  history: History,
  edges: readonly Edge[],
  cases: readonly Case[],
): Pick<Anomaly, 'txns' | 'earlier'> {
  const all = findTxns(edges, cases)
  const core = new Splitter(history, edges, cases).run()
  return { txns: all.filter((txn) => core.has(txn)), earlier: all.filter((txn) => !core.has(txn)) }
}

class Splitter {
  private readonly core = new Set<number>()
  private readonly needed = new Set<Edge>() // what the argument rests on; grows while it is walked
  private readonly older = new Set<Edge>() // WW: a version that was read is older than another

  constructor(
    private readonly history: History,
    edges: readonly Edge[],
    cases: readonly Case[],
  ) {
    for (const edge of edges) this.needed.add(edge)
    for (const { assumptions, cycle } of cases) {
      for (const edge of [...assumptions, ...cycle]) this.needed.add(edge)
    }
  }

  run(): Set<number> {
    const { core, needed, older } = this
    let size = -1
    while (size !== core.size + needed.size) {
      size = core.size + needed.size
      for (const edge of needed) this.take(edge)
      for (const edge of older) {
        if (edge.from === INITIAL_TXN) continue
        if (!core.has(edge.from) && !this.isStartingState(edge)) core.add(edge.from)
        if (core.has(edge.from)) needed.add(edge)
      }
    }
    return core
  }

  private take(edge: Edge): void {
    for (const txn of [edge.from, edge.to]) if (txn !== INITIAL_TXN) this.core.add(txn)
    if (edge.kind !== 'RW') {
      for (const premise of edge.premises) this.needed.add(premise)
      return
    }
    this.older.add(edge.premises[1]!)
  }

  /** Whether what was read of the key may count as its initial version. */
  private isStartingState({ from, key }: Edge): boolean {
    const shown = [...this.older].filter((edge) => edge.key === key && !this.core.has(edge.from))
    if (shown.some((edge) => edge.from !== from || this.isAssumed(edge))) return false
    const later = new Set(shown.map((edge) => edge.to))
    const isWriter = (txn: number) => writesOf(this.history, txn).has(key)
    return [...this.core].every((txn) => later.has(txn) || !isWriter(txn))
  }

  /** Whether the edge holds only as long as something that the argument assumes. */
  private isAssumed(edge: Edge): boolean {
    const assumed = [...findEdges([edge], [])].filter((reason) => reason.assumed)
    if (assumed.length === 0) return false
    for (const { from, to, assumed: isGiven, refutes } of this.needed) {
      if (isGiven && assumed.some((reason) => reason.from === from && reason.to === to)) return true
      if (refutes && assumed.some((reason) => reason.from === to && reason.to === from)) return true
    }
    return false
  }
}
