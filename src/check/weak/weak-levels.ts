// The verdicts of ci, rc, the session guarantees, ra and cc, with what is wrong with reads and how
// often. One fault is told once (faults.ts). Who asks for patterns gets every read that shows one (Plume's
// TAPs, docs/levels.md: the 14 patterns): a read that shows h also shows k, because what was read
// before is also read; CM patterns are counted for reads that show no CO pattern of their level; m
// and n are what only causality sees. Main class: WeakLevels.

import { withProgress } from '../../base/deadline.ts'
import { addAll } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { type AnomalyKind, findAnomaly, findTap } from '../../levels/anomalies.ts'
import { isSessionGuarantee, type LevelId, type SessionGuarantee } from '../../levels/levels.ts'
import { LEVEL_RULES } from '../../verdict/level-rules.ts'
import { type Anomaly, type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Blame, Findings } from '../evidence/findings.ts'
import { joinKinds, listExamples, weigh } from '../examples.ts'
import type { ForcedEdge } from '../order/components.ts'
import { leaveOut } from '../reads/leave-out.ts'
import { describeOffences, describeUnrepeatable } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { WeakContext } from './context.ts'
import { WeakEvidence } from './evidence.ts'
import { Faults, TOGETHER } from './faults.ts'
import type { WeakLevel } from './premises.ts'
import { type ForcedOrders, saturate } from './saturate.ts'
import { findOnVersionCycle } from './version-cycle.ts'

/** A read that shows a pattern, and the cycle that proves it, worked out on demand. */
interface Witness {
  edge: ForcedEdge
  cycle: () => Edge[]
}

const WEAKEST_FIRST: readonly WeakLevel[] = ['rc', 'ra', 'cc']

/** The level, and those below it that name faults of their own, weakest first. */
function upTo(level: WeakLevel): readonly WeakLevel[] {
  if (isSessionGuarantee(level)) return ['rc', level]
  return WEAKEST_FIRST.slice(0, WEAKEST_FIRST.indexOf(level) + 1)
}

/** How many examples are worked out to find a smallest one. */
const TRIES = 8
/** How often cycles in so ∪ wr are sought among what is left after others were left out. */
const ROUNDS = 5

export class WeakLevels {
  private readonly saturations = new Map<WeakLevel, ForcedOrders>()
  private lazyEvidence: WeakEvidence | null = null
  private lazyRest: WeakLevels | null = null

  constructor(
    private readonly context: () => WeakContext,
    private readonly reads: ReadCheck,
    private readonly limit: number,
    private readonly byPattern = false,
    /** Transactions of the history that are left out here. */
    private readonly leftOut: ReadonlySet<number> = new Set(),
  ) {}

  check(level: LevelId & ('ci' | WeakLevel)): Findings {
    const anomalies = this.offences()
    if (level === 'ci') {
      addAll(anomalies, this.unrepeatable())
      return { anomalies, proof: anomalies.length === 0 ? { kind: 'none' } : null }
    }
    let order: Int32Array | null = null
    addFound(anomalies, () => this.cycles())
    addFound(anomalies, () => {
      if (anomalies.length === 0) {
        const own = this.saturation(level)
        const isClean = own.causal.length === 0 && own.cyclic.length === 0
        const repeats = this.reads.unrepeatable.length === 0 || !LEVEL_RULES[level].repeatable
        if (isClean && repeats) {
          order = own.final.order
          return []
        }
      }
      const find = () => {
        const byPattern = this.byPattern && !isSessionGuarantee(level)
        return byPattern ? this.rest().patterns(level) : this.rest().faults(level)
      }
      return withProgress(find, () => {
        const count = this.context().history.txnCounts.reduce((sum, counts) => sum + counts, 0)
        return `no order of ${count} transactions is valid, but those to blame were not singled out`
      })
    })
    return { anomalies, proof: order && { kind: 'commit-order', order } }
  }

  /**
   * Adya's PL-2, which knows no session order: nothing aborted, intermediate or never written is
   * read, and no cycle lies in reads-from and known version orders. Where versions are not known,
   * any order of reads-from gives them one. The reads are those of adya-reads.ts.
   */
  checkPl2(): Findings {
    const { base } = this.context()
    const anomalies = this.offences().concat(this.cycles())
    const proof = anomalies.length > 0 ? null : { kind: 'commit-order' as const, order: base.order }
    return { anomalies, proof }
  }

  /** What circles of causes and single reads are to blame for, at every level from cc on. */
  blame(): Blame {
    const { history, causalOrder } = this.context()
    const anomalies = causalOrder().component === null ? [] : this.cycles()
    const rest = this.rest()
    const blamed = new Set(rest.leftOut)
    const faults = new Faults(rest.context(), (read) => blamed.add(history.opTxn[read]!))
    // What reads miss at weaker levels they miss at cc: without any there, one saturation will do.
    const levels = rest.saturation('cc').causal.length === 0 ? [] : WEAKEST_FIRST
    for (const at of levels) addFound(anomalies, () => rest.missed(at, faults))
    return { anomalies: joinKinds(anomalies, this.limit), blamed, rest: rest.context().base }
  }

  /** Faults as far as the level forbids them, those of weaker levels first. */
  private faults(level: WeakLevel): Anomaly[] {
    const found: Anomaly[] = []
    const faults = new Faults(this.context())
    for (const at of upTo(level)) {
      if (at === 'ra') addFound(found, () => this.unrepeatable())
      addFound(found, () => this.missed(at, faults))
      addFound(found, () => {
        const forced = this.saturation(at)
        const kind = findAnomaly(TOGETHER[at])!
        return this.named(kind, forced, this.together(forced, faults.contradicting(forced)))
      })
    }
    return joinKinds(found, this.limit)
  }

  /** Single reads that miss what a level had to show them. */
  private missed(at: WeakLevel, faults: Faults): Anomaly[] {
    const forced = this.saturation(at)
    return [...faults.missed(forced)].flatMap(([name, group]) => {
      const witnesses = group.map(({ edge, earlier }) => ({
        edge,
        cycle: () => this.evidence().causalCycle(at, edge, earlier),
      }))
      return this.named(findAnomaly(name)!, forced, witnesses)
    })
  }

  /** Patterns h … n as far as the level forbids them. */
  private patterns(level: Exclude<WeakLevel, SessionGuarantee>): Anomaly[] {
    const found: Anomaly[] = []
    const add = (tap: string, at: WeakLevel, show: (forced: ForcedOrders) => Witness[]) =>
      addFound(found, () => {
        const forced = this.saturation(at)
        return this.named(findTap(tap)!, forced, show(forced))
      })
    add('h', 'rc', (forced) => this.causal(forced))
    add('i', 'rc', (forced) => this.forced(forced))
    if (level === 'rc') return found
    addFound(found, () => this.unrepeatable())
    add('k', 'ra', (forced) => this.causal(forced))
    add('l', 'ra', (forced) => this.forced(forced))
    if (level === 'ra') return found
    add('m', 'cc', () => this.onlyAtCc('causal'))
    add('n', 'cc', () => this.onlyAtCc('forced'))
    return found
  }

  /** Reads that show a pattern of cc, but none of ra. */
  private onlyAtCc(pattern: 'causal' | 'forced'): Witness[] {
    const ra = this.saturation('ra')
    const direct = new Set([...this.causal(ra), ...this.forced(ra)].map(({ edge }) => edge.read))
    return this[pattern](this.saturation('cc')).filter(({ edge }) => !direct.has(edge.read))
  }

  /** Reads that show the CO pattern of a level. */
  private causal({ level, causal }: ForcedOrders): Witness[] {
    return causal.map((edge) => ({ edge, cycle: () => this.evidence().causalCycle(level, edge) }))
  }

  /** Reads that show the CM pattern of a level. */
  private forced(found: ForcedOrders): Witness[] {
    const opposed = found.opposed.map(({ edge, against }) => ({
      edge,
      cycle: () => this.evidence().opposedCycle(found.level, edge, against),
    }))
    return [...this.together(found, found.cyclic), ...opposed]
  }

  private together(found: ForcedOrders, edges: readonly ForcedEdge[]): Witness[] {
    return edges.map((edge) => ({ edge, cycle: () => this.evidence().forcedCycle(found, edge) }))
  }

  private named(kind: AnomalyKind, found: ForcedOrders, witnesses: Witness[]): Anomaly[] {
    if (witnesses.length === 0) return []
    const { history, deadline } = this.context()
    const anomalyOf = ({ edge, cycle }: Witness, count: number) => {
      deadline.check()
      return cycleAnomaly(kind, count, cycle(), history.opTxn[edge.read]!)
    }
    if (this.limit > 1) {
      return listExamples(witnesses, this.limit, deadline, (witness) => anomalyOf(witness, 1))
    }
    // The nearest pairs tend to have the shortest cycles; work out a few and keep the best.
    const { position } = found.final
    const span = ({ edge }: Witness) =>
      edge.to < 0 ? 0 : Math.abs(position[edge.from]! - position[edge.to]!)
    const nearest =
      witnesses.length <= TRIES ? witnesses : [...witnesses].sort((a, b) => span(a) - span(b))
    let best: Anomaly | null = null
    for (const witness of nearest.slice(0, TRIES)) {
      if (best && deadline.hasRunOut()) break
      const anomaly = anomalyOf(witness, witnesses.length)
      if (!best || weigh(anomaly) < weigh(best)) best = anomaly
      if (best.edges.length === 2 && best.txns.length <= 3) break
    }
    return [best!]
  }

  /** Pattern g, and cycles that known version orders close. */
  private cycles(): Anomaly[] {
    const context = this.context()
    if (context.base.component === null) return []
    const causal = context.causalOrder()
    return causal.component === null
      ? this.componentCycles(context.base.component, context.base, true)
      : this.componentCycles(causal.component, causal, false)
  }

  private componentCycles(
    component: Int32Array,
    base: { order: Int32Array; groupEnd: Int32Array | null },
    versions: boolean,
  ): Anomaly[] {
    const cycles: Anomaly[] = []
    const { order } = base
    const groupEnd = base.groupEnd!
    const { deadline } = this.context()
    let readCount = 0
    for (let p = 0; p < order.length; p = groupEnd[p]!) {
      const end = groupEnd[p]!
      if (end === p + 1) continue
      readCount += this.readsInside(order.subarray(p, end), component)
      if (cycles.length >= this.limit || (cycles.length > 0 && deadline.hasRunOut())) continue
      const members = order.subarray(p, end)
      const cycle =
        (versions && this.dirtyCycle(members)) || this.shortCycle(members, component, versions)
      cycles.push(cycleAnomaly(this.circle(), 1, cycle, cycle[0]!.to))
    }
    if (versions) {
      for (const cycle of cycles) {
        cycle.name = cycle.edges.every((edge) => edge.kind !== 'WR') ? 'G0' : 'G1c'
      }
    }
    if (this.limit === 1) for (const cycle of cycles) cycle.count = Math.max(1, readCount)
    return cycles
  }

  /** Dirty writes, if there are any among these: worse than a circle of information. */
  private dirtyCycle(members: Int32Array): Edge[] | null {
    const found = findOnVersionCycle(this.context().history, this.reads, members)
    if (found === null) return null
    const [start] = found
    return this.evidence().cycleThrough(start!, (txn) => found.has(txn), 'versions')
  }

  private circle(): AnomalyKind {
    return this.byPattern ? findTap('g')! : findAnomaly('CircularInformationFlow')!
  }

  /** The shortest of a few cycles of a component. */
  private shortCycle(members: Int32Array, component: Int32Array, versions: boolean): Edge[] {
    const { deadline } = this.context()
    let best: Edge[] | null = null
    for (const txn of members.subarray(0, TRIES)) {
      if (best && deadline.hasRunOut()) break
      deadline.check()
      const isInside = (other: number) => component[other] === component[txn]
      const over = versions ? 'all' : 'reads'
      const cycle = this.evidence().cycleThrough(txn, isInside, over)
      if (!best || cycle.length < best.length) best = cycle
    }
    return best!
  }

  private readsInside(members: Int32Array, component: Int32Array): number {
    const { txnOpStart, opValue } = this.context().history
    let count = 0
    for (const txn of members) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = this.reads.opSource[op]!
        // What has no value only stands for session order (history/after-as-reads.ts).
        const isRead = source >= 0 && opValue[op] !== NONE
        if (isRead && component[source] === component[txn]) count++
      }
    }
    return count
  }

  private unrepeatable(): Anomaly[] {
    const { history, deadline } = this.context()
    return describeUnrepeatable(history, this.reads, this.limit, deadline)
  }

  private offences(): Anomaly[] {
    const { history, deadline } = this.context()
    return describeOffences(history, this.reads, this.limit, deadline)
  }

  private saturation(level: WeakLevel): ForcedOrders {
    const known = this.saturations.get(level)
    if (known) return known
    const made = saturate(this.context(), level)
    this.saturations.set(level, made)
    return made
  }

  /** The same without the transactions of cycles in so ∪ wr, so that these hide nothing else. */
  private rest(): WeakLevels {
    if (this.context().causalOrder().component === null) return this
    this.lazyRest ??= this.withoutCycles()
    return this.lazyRest
  }

  private withoutCycles(): WeakLevels {
    let levels: WeakLevels = this
    const leftOut = new Set<number>()
    for (let round = 1; ; round++) {
      const { deadline } = levels.context()
      const { component, order, groupEnd } = levels.context().causalOrder()
      if (component === null) return levels
      for (let p = 0; p < order.length; p = groupEnd![p]!) {
        const members = order.subarray(p, groupEnd![p]!)
        if (members.length === 1) continue
        deadline.check()
        // Where one cycle after the other turns up, all that lie on any are left out in the end.
        const some = round < ROUNDS ? levels.shortCycle(members, component, false) : null
        if (some === null) for (const txn of members) leftOut.add(txn)
        else for (const { to } of some) leftOut.add(to)
      }
      const context = contextWithout(levels.context(), leftOut)
      const { limit, byPattern } = this
      levels = new WeakLevels(() => context, context.reads, limit, byPattern, leftOut)
    }
  }

  private evidence(): WeakEvidence {
    this.lazyEvidence ??= new WeakEvidence(this.context())
    return this.lazyEvidence
  }
}

/** The history as if some of its transactions, and what others read from them, were not there. */
function contextWithout(
  { history, reads, deadline, recorded }: WeakContext,
  leftOut: ReadonlySet<number>,
): WeakContext {
  const left = leaveOut(history, reads, leftOut)
  return new WeakContext(left.history, left.reads, deadline, null, recorded)
}

/** An anomaly shown by a cycle; its transactions are all that the edges and their premises name. */
export function cycleAnomaly(
  kind: AnomalyKind,
  count: number,
  edges: Edge[],
  first: number,
): Anomaly {
  const txns = new Set<number>([first])
  const pending = [...edges]
  for (let i = 0; i < pending.length; i++) {
    const edge = pending[i]!
    txns.add(edge.from)
    txns.add(edge.to)
    addAll(pending, edge.premises)
  }
  txns.delete(INITIAL_TXN)
  const name = kind.name as Anomaly['name']
  return { name, count, txns: [...txns], earlier: [], ops: [], edges, cases: [] }
}
