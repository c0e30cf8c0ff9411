// Patterns h, i, k to n as Plume's paper has them (Liu, Gu, Wei, Basin, OOPSLA 2024), where Table 1
// or Algorithm 1 does. CM is one order for all of them: (so ∪ wr ∪ t2 → t1)+, where t3 read x from
// t1 and t2, which writes x too, happens before t3: the axiom of cc, whatever level the pattern
// stands for. A read of x by t3 from t1 shows, because of such a t2,
//
//   h, i  if t3 read another key from t2 before it
//   k, l  if t3 read another key from t2, or follows it in its session
//   m, n  in any case
//
// the first of each pair if t1 happens before t2, the second if t1 is before t2 in CM; so m is also
// where k is, and n is everywhere. A read of the initial state shows patterns, but forces nothing:
// what precedes all cannot come later. docs/levels.md tells how our own patterns differ.
//
// Latest writers of each session stand for all before them. O(reads · sessions · log n), and for
// reads on a cycle of CM the writers of the key. Main function: findPlumePatterns.

import { UsageError } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findComponents } from '../../graph/scc.ts'
import { type History, INITIAL, NONE } from '../../history/history.ts'
import { hasManySessions } from '../../history/sessionless.ts'
import { findTap } from '../../levels/anomalies.ts'
import type { Anomaly, Edge } from '../../verdict/verdict.ts'
import { listExamples } from '../examples.ts'
import { CausalClocks } from '../order/causal-clocks.ts'
import type { ForcedEdge } from '../order/components.ts'
import type { WeakContext } from './context.ts'
import { WeakEvidence } from './evidence.ts'
import { cycleAnomaly } from './weak-levels.ts'

/** The patterns that the two rules tell differently: CO and CM form of each premise. */
export const PLUME_TAPS = ['h', 'i', 'k', 'l', 'm', 'n'] as const
type PlumeTap = (typeof PLUME_TAPS)[number]

/** How t2 stands to the read, and the letters that it gives. */
const EARLIER = ['h', 'i'] as const
const DIRECT = ['k', 'l'] as const
const CAUSAL = ['m', 'n'] as const

/** Null if so ∪ wr has a cycle: then everything on it precedes everything else. */
export function findPlumePatterns(context: WeakContext, limit: number): Anomaly[] | null {
  const { history, reads } = context
  if (history.versions !== null) {
    throw new UsageError('--tap-rule plume knows no versions', 'leave it out')
  }
  if (reads.versions !== null) {
    throw new UsageError('--tap-rule plume knows registers only', 'leave it out for lists')
  }
  if (history.after !== null) {
    throw new UsageError('--tap-rule plume knows sessions only, no "after"', 'leave it out')
  }
  if (hasManySessions(history)) {
    const hint = 'leave --tap-rule or --session-order off out'
    throw new UsageError('--tap-rule plume needs sessions, not one for each transaction', hint)
  }
  if (context.causalOrder().component !== null) return null
  return new PlumePatterns(context).find(limit)
}

class PlumePatterns {
  private readonly history: History
  private readonly clocks: CausalClocks
  private readonly forcedFrom = new IntColumn(64) // forced edge -> t2
  private readonly forcedTo = new IntColumn(64) // forced edge -> t1
  private readonly forcedRead = new IntColumn(64) // forced edge -> the read of t1's version
  private component: Int32Array | null = null // txn -> component of CM; null: CM is CO
  private componentSize = new Int32Array(0)
  private readonly shown = new Map<PlumeTap, ForcedEdge[]>(PLUME_TAPS.map((tap) => [tap, []]))

  constructor(private readonly context: WeakContext) {
    const { history, reads, deadline } = context
    this.history = history
    this.clocks = new CausalClocks(history, reads, context.causalOrder().order, deadline)
  }

  find(limit: number): Anomaly[] {
    const { history, context } = this
    const { deadline } = context
    this.forEachRead((read, reader, from) => {
      if (from !== INITIAL) this.addForced(read, reader, from)
    })
    if (this.forcedFrom.length > 0) this.close()
    this.forEachRead((read, reader, from) => this.classify(read, reader, from))
    const evidence = new WeakEvidence(context)
    return PLUME_TAPS.flatMap((tap) =>
      listExamples(this.shown.get(tap)!, limit, deadline, (edge) => {
        deadline.check()
        const cycle = this.cycleOf(evidence, edge)
        return cycleAnomaly(findTap(tap)!, 1, cycle, history.opTxn[edge.read]!)
      }),
    )
  }

  private forEachRead(visit: (read: number, reader: number, from: number) => void): void {
    const { opTxn, opCount, sessionCount } = this.history
    const { opSource } = this.context.reads
    for (let op = 0; op < opCount; op++) {
      if (opSource[op] === NONE) continue
      this.context.deadline.step(8 * sessionCount)
      visit(op, opTxn[op]!, opSource[op]!)
    }
  }

  /** The latest t2 of the session that writes the key and happens before the reader, or NONE. */
  private latest(read: number, reader: number, session: number): number {
    const { txnSession, txnIndex, opKey } = this.history
    const isOwn = session === txnSession[reader]
    const end = isOwn ? txnIndex[reader]! : this.clocks.seen(reader, session)
    return end === 0 ? NONE : this.context.writers().lastBefore(opKey[read]!, session, end)
  }

  /** What precedes t1 in its session, or happens before it, is before it anyway. */
  private addForced(read: number, reader: number, to: number): void {
    for (let session = 0; session < this.history.sessionCount; session++) {
      const from = this.latest(read, reader, session)
      if (from === NONE || from === to || this.clocks.before(from, to)) continue
      this.forcedFrom.push(from)
      this.forcedTo.push(to)
      this.forcedRead.push(read)
    }
  }

  /** Components of so ∪ wr ∪ forced: whoever shares one precedes the other in CM. */
  private close(): void {
    const { history } = this
    const { opSource } = this.context.reads
    const from = copyOf(this.forcedFrom)
    const to = copyOf(this.forcedTo)
    const last = new Int32Array(history.sessionCount).fill(NONE) // session -> its latest
    for (const txn of history.sessionTxns) {
      if (!history.txnCounts[txn]) continue
      const before = last[history.txnSession[txn]!]!
      if (before !== NONE) {
        from.push(before)
        to.push(txn)
      }
      last[history.txnSession[txn]!] = txn
    }
    for (let op = 0; op < history.opCount; op++) {
      if (opSource[op]! < 0) continue
      from.push(opSource[op]!)
      to.push(history.opTxn[op]!)
    }
    const graph = buildCsr(history.txnCount, from.view(), to.view())
    const { componentOf, count } = findComponents(graph, this.context.deadline)
    this.component = componentOf
    this.componentSize = new Int32Array(count)
    for (const component of componentOf) this.componentSize[component]!++
  }

  private classify(read: number, reader: number, from: number): void {
    const { history } = this
    const earlier = this.findDirect(read, reader, from, history.txnOpStart[reader]!, read)
    this.show(EARLIER, read, from, earlier)
    const own = this.findIn(history.txnSession[reader]!, read, reader, from)
    const later = this.findDirect(read, reader, from, read + 1, history.txnOpStart[reader + 1]!)
    const direct = [earlier, later, own]
    this.show(DIRECT, read, from, ...direct)
    this.show(CAUSAL, read, from, ...direct, this.findCause(read, reader, from))
  }

  /** Notes the read for the patterns of which it has an example. */
  private show(
    [co, cm]: readonly [PlumeTap, PlumeTap],
    read: number,
    to: number,
    ...found: readonly Found[]
  ): void {
    const causal = found.find((each) => each.co !== NONE)?.co ?? NONE
    const forced = found.find((each) => each.cm !== NONE)?.cm ?? NONE
    if (causal !== NONE) this.shown.get(co)!.push({ from: causal, to, read })
    const either = causal === NONE ? forced : causal
    if (either !== NONE) this.shown.get(cm)!.push({ from: either, to, read })
  }

  /** Transactions that other keys were read from by these operations of the reader. */
  private findDirect(read: number, reader: number, from: number, first: number, end: number) {
    const { opKey } = this.history
    const { opSource } = this.context.reads
    const found = { co: NONE, cm: NONE }
    for (let op = first; op < end; op++) {
      const t2 = opSource[op]!
      if (t2 < 0 || t2 === from || t2 === reader || opKey[op] === opKey[read]) continue
      if (this.context.writers().writes(t2, opKey[read]!)) this.take(found, from, t2)
    }
    return found
  }

  /** A t2 of one session: the latest one, if t1 happens before any. */
  private findIn(session: number, read: number, reader: number, from: number): Found {
    const found = { co: NONE, cm: NONE }
    const latest = this.latest(read, reader, session)
    if (latest === NONE) return found
    if (latest !== from) this.take(found, from, latest)
    if (found.co !== NONE || found.cm !== NONE || !this.isOnCycle(from)) return found
    const { txn, start } = this.context.writers()
    const { txnSession, txnIndex, opKey } = this.history
    let slot = this.context.writers().lowerBound(opKey[read]!, session, txnIndex[latest]!)
    for (; found.cm === NONE && slot >= start[opKey[read]!]!; slot--) {
      const t2 = txn[slot]!
      if (txnSession[t2] !== session) break
      if (t2 !== from) this.take(found, from, t2)
    }
    return found
  }

  private findCause(read: number, reader: number, from: number): Found {
    const found = { co: NONE, cm: NONE }
    for (let session = 0; session < this.history.sessionCount; session++) {
      const { co, cm } = this.findIn(session, read, reader, from)
      if (found.co === NONE) found.co = co
      if (found.cm === NONE) found.cm = cm
      if (found.co !== NONE) return found
    }
    return found
  }

  private take(found: { co: number; cm: number }, t1: number, t2: number): void {
    if (found.co === NONE && (t1 === INITIAL || this.clocks.before(t1, t2))) found.co = t2
    else if (found.cm === NONE && this.areCyclic(t1, t2)) found.cm = t2
  }

  /** t2 is before t1, since the read forces it; both are on a cycle if t1 is before t2 as well. */
  private areCyclic(t1: number, t2: number): boolean {
    return t1 >= 0 && this.component !== null && this.component[t1] === this.component[t2]
  }

  private isOnCycle(txn: number): boolean {
    return txn >= 0 && this.component !== null && this.componentSize[this.component[txn]!]! > 1
  }

  /** What is forced within one component. */
  private forcedIn(component: number): ForcedEdge[] {
    const [from, to, read] = [this.forcedFrom, this.forcedTo, this.forcedRead].map((c) => c.view())
    const found: ForcedEdge[] = []
    for (let e = 0; e < from!.length; e++) {
      if (this.component![from![e]!] !== component) continue
      found.push({ from: from![e]!, to: to![e]!, read: read![e]! })
    }
    return found
  }

  private cycleOf(evidence: WeakEvidence, edge: ForcedEdge): Edge[] {
    if (edge.to === INITIAL || this.clocks.before(edge.to, edge.from)) {
      return evidence.causalCycle('cc', edge)
    }
    const component = this.component!
    const forced = this.forcedIn(component[edge.to]!)
    return evidence.cycleWithin({ level: 'cc', component, forced }, edge)
  }
}

function copyOf(column: IntColumn): IntColumn {
  const copy = new IntColumn(2 * column.length)
  copy.data.set(column.view())
  copy.length = column.length
  return copy
}

/** A t2 that t1 happens before, and one that t1 is before in CM; NONE if there is none. */
interface Found {
  readonly co: number
  readonly cm: number
}
