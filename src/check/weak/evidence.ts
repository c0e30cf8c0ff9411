// Turns the findings of a weak level into evidence: cycles in which every edge carries the
// operations and premises that make it hold, ready for certify and for words. Main class:
// WeakEvidence.

import { assert } from '../../base/errors.ts'
import { addTo } from '../../base/maps.ts'
import { APPEND, type History, INITIAL, NONE, READ_LIST, WRITE } from '../../history/history.ts'
import { isSessionGuarantee, type SessionGuarantee } from '../../levels/levels.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import type { ForcedEdge } from '../order/components.ts'
import { PathFinder, type Step } from '../order/paths.ts'
import type { WeakContext } from './context.ts'
import { countsOnlyEarlier, type WeakLevel } from './premises.ts'
import type { ForcedOrders } from './saturate.ts'

export class WeakEvidence {
  private readonly history: History
  private readonly paths: PathFinder

  constructor(private readonly context: WeakContext) {
    this.history = context.history
    this.paths = new PathFinder(context.history, context.reads)
  }

  /**
   * t1 happens before t2, yet a read forces t2 before t1.
   * @param earlier a read from t2 in an earlier transaction of the reader's session, or NONE
   */
  causalCycle(level: WeakLevel, forced: ForcedEdge, earlier: number = NONE): Edge[] {
    const back = this.forcedEdge(level, forced, earlier)
    if (forced.to === INITIAL) return [sessionEdge(INITIAL_TXN, forced.from), back]
    return [...this.causalPath(forced.to, forced.from), back]
  }

  /** A shortest cycle through a forced edge that lies inside a component. */
  forcedCycle({ level, final, added, cyclic }: ForcedOrders, forced: ForcedEdge): Edge[] {
    const component = final.component!
    return this.cycleWithin({ level, component, forced: [...added, ...cyclic] }, forced)
  }

  /** The same, with what is forced and the components that it makes. */
  cycleWithin(
    found: { level: WeakLevel; component: Int32Array; forced: readonly ForcedEdge[] },
    forced: ForcedEdge,
  ): Edge[] {
    const { level, component } = found
    const inside = component[forced.to]!
    const steps = this.paths.find(forced.to, forced.from, {
      allowed: (txn) => component[txn] === inside,
      forced: groupByTarget(found.forced),
      versions: true,
    })
    assert(steps !== null, 'a forced edge inside a component lies on a cycle')
    return [...steps.map((step) => this.edgeOf(level, step)), this.forcedEdge(level, forced)]
  }

  /** Two reads that force opposite orders of the same two transactions. */
  opposedCycle(level: WeakLevel, edge: ForcedEdge, against: ForcedEdge): Edge[] {
    return [this.forcedEdge(level, against), this.forcedEdge(level, edge)]
  }

  /**
   * A shortest cycle through a transaction among those that are allowed: of session order and
   * reads, of session order and version orders, or of all of these.
   */
  cycleThrough(
    start: number,
    allowed: (txn: number) => boolean,
    over: 'reads' | 'versions' | 'all',
  ): Edge[] {
    const steps = this.paths.find(start, start, {
      allowed,
      forced: null,
      versions: over !== 'reads',
      reads: over !== 'versions',
    })
    assert(steps !== null, 'a member of a component lies on a cycle')
    return steps.map((step) => this.edgeOf('cc', step))
  }

  /** The edge t2 -> t1 with the read and the visibility that force it. */
  forcedEdge(level: WeakLevel, forced: ForcedEdge, earlier: number = NONE): Edge {
    const { opKey } = this.history
    const key = opKey[forced.read]!
    const seen = this.versionOf(forced.read)
    const ops = [this.lastWrite(forced.from, key), forced.read]
    if (seen >= 0) ops.push(seen)
    const premises = [this.readEdge(forced.read), ...this.visibility(level, forced, earlier)]
    const to = forced.to === INITIAL ? INITIAL_TXN : forced.to
    return { from: forced.from, to, kind: 'CO', key, ops, premises }
  }

  /** Why t2 had to be visible to the read, as the level understands it. */
  private visibility(level: WeakLevel, forced: ForcedEdge, earlier: number): Edge[] {
    const { opTxn, txnOpStart, txnSession, txnIndex } = this.history
    const { opSource } = this.context.reads
    const reader = opTxn[forced.read]!
    const end = countsOnlyEarlier(level) ? forced.read : txnOpStart[reader + 1]!
    for (let op = txnOpStart[reader]!; op < end; op++) {
      if (opSource[op] === forced.from) return [this.readEdge(op)]
    }
    if (isSessionGuarantee(level)) return this.guaranteed(level, forced)
    const sameSession = txnSession[forced.from] === txnSession[reader]
    if (sameSession && txnIndex[forced.from]! < txnIndex[reader]!) {
      return [sessionEdge(forced.from, reader)]
    }
    if (earlier !== NONE) return [this.readEdge(earlier), sessionEdge(opTxn[earlier]!, reader)]
    return this.causalPath(forced.from, reader)
  }

  /** What a session guarantee makes of it. */
  private guaranteed(level: SessionGuarantee, { from, read }: ForcedEdge): Edge[] {
    const { opTxn } = this.history
    const sighting = this.context.premises.guarantees.find(level, from, read)
    assert(sighting !== null, 'what is forced is visible')
    const { first, last } = sighting
    const reader = opTxn[read]!
    if (first === NONE && last === NONE) return [sessionEdge(from, reader)]
    if (last === NONE) return [this.readEdge(first), sessionEdge(opTxn[first]!, reader)]
    const seen = this.context.reads.opSource[last]!
    if (first === NONE) return [sessionEdge(from, seen), this.readEdge(last)]
    const path = opTxn[first] === seen ? [] : this.causalPath(opTxn[first]!, seen)
    return [this.readEdge(first), ...path, this.readEdge(last)]
  }

  private causalPath(from: number, to: number): Edge[] {
    const { position, component } = this.context.causalOrder()
    const first = position[from]!
    const steps = this.paths.find(from, to, {
      allowed: (txn) =>
        position[txn]! >= first || (component !== null && component[txn] === component[from]),
      forced: null,
      versions: false,
    })
    assert(steps !== null, 'what happens before is connected by a path')
    return steps.map((step) => this.edgeOf('cc', step))
  }

  private edgeOf(level: WeakLevel, step: Step): Edge {
    if (step.kind === 'SO') return sessionEdge(step.from, step.to)
    if (step.kind === 'WR') return this.readEdge(step.read)
    if (step.kind === 'WW') return this.versionEdge(step.from, step.append)
    return this.forcedEdge(level, step.edge)
  }

  readEdge(read: number): Edge {
    const { opTxn, opKey } = this.history
    const source = this.context.reads.opSource[read]!
    const write = this.versionOf(read)
    return {
      from: source === INITIAL ? INITIAL_TXN : source,
      to: opTxn[read]!,
      kind: 'WR',
      key: opKey[read]!,
      ops: write >= 0 ? [write, read] : [read],
      premises: [],
    }
  }

  private versionEdge(from: number, write: number): Edge {
    const { opTxn, opKey } = this.history
    const key = opKey[write]!
    const shown = this.context.reads.versions!.orderRead[key]!
    return {
      from,
      to: opTxn[write]!,
      kind: 'WW',
      key,
      ops: [this.lastWrite(from, key), write, ...(shown === NONE ? [] : [shown])],
      premises: [],
    }
  }

  private versionOf(read: number): number {
    return this.history.opKind[read] === READ_LIST
      ? this.context.reads.versions!.readFrom[read]!
      : this.history.readFrom[read]!
  }

  private lastWrite(txn: number, key: number): number {
    const { txnOpStart, opKind, opKey } = this.history
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      if (opKey[op] === key && (opKind[op] === WRITE || opKind[op] === APPEND)) return op
    }
    return NONE
  }
}

function sessionEdge(from: number, to: number): Edge {
  return { from, to, kind: 'SO', key: NONE, ops: [], premises: [] }
}

function groupByTarget(forced: readonly ForcedEdge[]): Map<number, ForcedEdge[]> {
  const byTarget = new Map<number, ForcedEdge[]>()
  for (const edge of forced) addTo(byTarget, edge.to, edge)
  return byTarget
}
