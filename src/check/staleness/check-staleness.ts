// Bounded staleness (docs/levels.md#bounded-staleness): no read misses a version that had been
// there for longer than the bound, or more versions than it. Nothing has to be chosen: what a read
// missed is what took effect after the version it saw in every order that agrees with sessions,
// reads, known versions and the clock. A read that goes beyond the bound is a circle: the version
// it missed comes after the one it saw, and had to be seen before it. Main function:
// checkStaleness.

import type { Deadline } from '../../base/deadline.ts'
import { assert, UsageError } from '../../base/errors.ts'
import { placesByValue } from '../../base/places.ts'
import { Elapsed, inUnit } from '../../history/elapsed.ts'
import { type History, INITIAL, NONE } from '../../history/history.ts'
import { hasCounters } from '../../history/spans.ts'
import { parseBound } from '../../levels/staleness.ts'
import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import {
  type Anomaly,
  type Edge,
  findTxns,
  INITIAL_TXN,
  type Staleness,
} from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import type { Findings } from '../evidence/findings.ts'
import { listExamples } from '../examples.ts'
import { PathFinder, type Step } from '../order/paths.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { MissedVersions, type StaleRead } from './missed-versions.ts'
import { Moments } from './moments.ts'

/** What is allowed: versions, or a time as a decimal in the unit of the history; null: anything. */
export type Allowed =
  | { readonly kind: 'versions'; readonly count: number }
  | { readonly kind: 'time'; readonly limit: string }
  | null

export interface StaleFindings extends Findings {
  /** The least bounds that hold, if the bound does. */
  readonly staleness: Staleness | null
}

/** What a bound allows in a history. Throws UsageError if that does not say what its times are. */
export function allowedBy(history: History, bound: string | null): Allowed {
  if (bound === null) return null
  const { timeUnit } = history
  const parsed = parseBound(bound)
  if (parsed.kind === 'versions') {
    if (!hasCounters(history)) return parsed
    throw new UsageError(
      `stale:${bound} counts versions, and counters have none: each increment is seen or missed by itself`,
      'ask for a bound by time, such as stale:5s',
    )
  }
  if (timeUnit === null) {
    throw new UsageError(
      `stale:${bound} needs the unit of times, and the history does not say it`,
      'name it in the header, e.g. "unit":"ms"; stale:3 counts versions, stale tells how far',
    )
  }
  return { kind: 'time', limit: inUnit(parsed.amount, parsed.unit, timeUnit) }
}

/** @param base an order without cycles */
export function checkStaleness(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  allowed: Allowed,
  limit: number,
  deadline: Deadline,
): StaleFindings {
  const moments = new Moments(history, reads, base.order, deadline)
  const evidence = new StaleEvidence(history, reads, base, moments)
  const turned = base.order.find((txn) => moments.closes[txn]! < moments.opens[txn]!)
  if (turned !== undefined) {
    return { anomalies: [evidence.contradiction(turned)], proof: null, staleness: null }
  }
  const versions = new MissedVersions(history, reads, moments, deadline)
  const stale = versions.find()
  const elapsed = new Elapsed(history)
  const readerOf = ({ read }: StaleRead) => history.opTxn[read]!
  const isLonger = (a: StaleRead, b: StaleRead) =>
    elapsed.isLonger(a.oldest, readerOf(a), b.oldest, readerOf(b))
  const isBeyond = (each: StaleRead) => {
    if (allowed === null) return false
    return allowed.kind === 'versions'
      ? each.missed > allowed.count
      : elapsed.exceeds(each.oldest, readerOf(each), allowed.limit)
  }
  const longest = stale.reduce<StaleRead | null>((a, b) => (a && !isLonger(b, a) ? a : b), null)
  const beyond = stale.filter(isBeyond)
  if (beyond.length === 0) {
    const begun = Float64Array.from(base.order, (txn) => moments.opens[txn]!)
    const order = placesByValue(begun).map((place) => base.order[place]!)
    return {
      anomalies: [],
      // What comes before another begins no later; of equal ones the order says which it is.
      proof: { kind: 'commit-order', order },
      staleness: {
        time:
          longest === null ? elapsed.nothing() : elapsed.told(longest.oldest, readerOf(longest)),
        ...(hasCounters(history)
          ? {}
          : { versions: stale.reduce((most, { missed }) => Math.max(most, missed), 0) }),
      },
    }
  }
  // The worst read first: it tells from which bound on the level would hold.
  const isByVersions = allowed?.kind === 'versions'
  const isWorse = (a: StaleRead, b: StaleRead) =>
    isByVersions ? a.missed > b.missed : isLonger(a, b)
  const worst = beyond.reduce((a, b) => (isWorse(b, a) ? b : a))
  const told = [worst, ...beyond.filter((each) => each !== worst)]
  const anomalies = listExamples(told, limit, deadline, (each) =>
    evidence.staleRead(each, isByVersions ? versions.missedBy(each.read) : [each.oldest]),
  )
  return { anomalies, proof: null, staleness: null }
}

class StaleEvidence {
  private readonly facts: EdgeFacts
  private readonly paths: PathFinder

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly base: BaseOrder,
    private readonly moments: Moments,
  ) {
    this.facts = new EdgeFacts(history, reads)
    this.paths = new PathFinder(history, reads)
  }

  /** @param missed whose versions the read missed, the longest there first */
  staleRead({ read }: StaleRead, missed: readonly number[]): Anomaly {
    const oldest = missed[0]!
    const { facts, reads, history } = this
    const source = reads.opSource[read]!
    const reader = history.opTxn[read]!
    const seen = facts.seenBy(read, source === INITIAL ? INITIAL_TXN : source)
    const late = missed.map((txn) => facts.realTime(txn, reader))
    const way = source === INITIAL ? [facts.session(INITIAL_TXN, oldest)] : this.way(source, oldest)
    return this.anomaly([...way, facts.forced(oldest, seen, late)], reader)
  }

  /** A transaction that would have had to take effect after what comes after it was over. */
  contradiction(txn: number): Anomaly {
    const first = this.follow(txn, this.moments.opensWith)
    const last = this.follow(txn, this.moments.closesWith)
    const edges = [...this.steps(first, last), this.facts.realTime(last, first)]
    return this.anomaly(edges, last)
  }

  private anomaly(edges: Edge[], first: number): Anomaly {
    const others = findTxns(edges, []).filter((txn) => txn !== first)
    const name = nameEvidence(this.history, edges, [])
    return { name, count: 1, txns: [first, ...others], earlier: [], ops: [], edges, cases: [] }
  }

  /** Why one took effect before another. */
  private way(from: number, to: number): Edge[] {
    if (!this.moments.isOver(from, to)) return this.steps(from, to)
    const last = this.follow(from, this.moments.closesWith)
    const first = this.follow(to, this.moments.opensWith)
    return [...this.steps(from, last), this.facts.realTime(last, first), ...this.steps(first, to)]
  }

  private follow(txn: number, next: Int32Array): number {
    let at = txn
    while (next[at] !== NONE) at = next[at]!
    return at
  }

  /** Sessions, reads and known versions that lead from one to another. */
  private steps(from: number, to: number): Edge[] {
    if (from === to) return []
    const { position } = this.base
    const steps = this.paths.find(from, to, {
      allowed: (txn) => position[txn]! >= position[from]!,
      forced: null,
      versions: true,
    })
    assert(steps !== null, 'what comes before is connected by a path')
    return steps.map((step) => this.edgeOf(step))
  }

  private edgeOf(step: Step): Edge {
    const { facts, history } = this
    if (step.kind === 'SO') return facts.session(step.from, step.to)
    if (step.kind === 'WR') return facts.seenBy(step.read, step.from)
    assert(step.kind === 'WW', 'nothing is forced here')
    return facts.knownOrder(step.from, step.to, history.opKey[step.append]!)
  }
}
