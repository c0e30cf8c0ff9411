// What follows without choice for rows passed over and for readers below pc, beside what saturation
// infers for all others: writers that were visible precede the one that was read from, candidates
// that no order allows are dropped, and a conflict with one candidate left has its writer (the
// fixpoint of Bouajjani, Enea, Román-Calvo, Algorithm 2, extended to snapshots and to candidates).
// A conflict without candidates refutes the history. Stopping earlier is sound. Transactions that
// may take no part have edges only towards them: those hold either way. Each round O(pairs · runs)
// for snapshots, O(pairs · candidates) else. Main class: Conflicts.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { PC } from '../problem/levels.ts'
import { IN } from '../problem/mixed-problem.ts'
import {
  addOverInitial,
  type KnownEdges,
  PASSED_OVER,
  REPLACES_PASSED,
  VISIBLE,
  type Visible,
} from './known-edges.ts'
import { findVersion } from './of-rows.ts'
import type { Pairs } from './pairs.ts'
import type { Problem } from './problem.ts'
import { inferReplacedForPair, inferSeenByPair, lastSeen } from './version-order.ts'
import { Visibility } from './visibility.ts'

/** A pair without candidates; or one that read the initial version though it saw `by`. */
export interface Broken extends Visible {
  readonly by: number // NONE for a pair without candidates
}

export class Conflicts {
  readonly source: Int32Array // pair -> txn it reads from, NONE for a conflict not decided
  readonly alive: Uint8Array // candidate -> 1 unless no order allows it
  hasChanged = false // whether the last round dropped a candidate
  /** Pairs that no version explains, or not the initial one: each refutes the history. */
  readonly broken: Broken[] = []
  private readonly left: Int32Array // conflict -> candidates left
  private readonly pairs: Pairs
  private readonly visibility: Visibility
  private readonly tops: number[] = [] // the last version of each run that a snapshot sees

  /** @param drops whether candidates are dropped: what follows from that takes cases to explain */
  constructor(
    private readonly problem: Problem,
    private readonly known: KnownEdges,
    private readonly drops: boolean,
    deadline: Deadline,
  ) {
    const pairs = problem.pairs!
    this.pairs = pairs
    this.source = new Int32Array(pairs.count)
    for (let pair = 0; pair < pairs.count; pair++) this.source[pair] = pairs.onlySource(pair)
    this.alive = new Uint8Array(pairs.zero.length).fill(1)
    this.left = new Int32Array(pairs.count - pairs.fixedCount)
    for (let open = 0; open < this.left.length; open++) {
      this.left[open] = pairs.zeroStart[open + 1]! - pairs.zeroStart[open]!
    }
    this.visibility = new Visibility(problem, (txn) => pairs.state[txn] === IN, deadline)
  }

  /** Applies every rule once; false if that refutes the history. */
  infer(deadline: Deadline): boolean {
    const { known, pairs, problem } = this
    const { state, looseStart } = pairs
    this.hasChanged = false
    if (pairs.hasCausal) this.visibility.setClocks(commitsOf(known), this.source)
    for (let txn = 1; txn < problem.txnCount; txn++) {
      deadline.step()
      if (state[txn] !== IN || looseStart[txn] === looseStart[txn + 1]) continue
      if (problem.level[txn]! >= PC) this.inferStrong(txn, deadline)
      else this.inferWeak(txn, deadline)
    }
    return this.broken.length === 0
  }

  /** Whom a pair of a reader below pc has to take into account. */
  visibleTo(pair: number): Broken[] {
    const { visibility } = this
    visibility.find(this.pairs.reader[pair]!, this.source)
    const found: Broken[] = []
    for (let i = 0; i < visibility.pair.length; i++) {
      if (visibility.pair.data[i] !== pair) continue
      found.push({ pair, by: visibility.by.data[i]!, via: visibility.via.data[i]! })
    }
    return found
  }

  private inferStrong(txn: number, deadline: Deadline): void {
    const { pairs, source, problem, known } = this
    const { runStart } = problem
    for (let i = pairs.looseStart[txn]!; i < pairs.looseStart[txn + 1]!; i++) {
      const pair = pairs.loose[i]!
      const key = pairs.key[pair]!
      deadline.step(1 + 4 * (runStart[key + 1]! - runStart[key]!))
      if (source[pair] === NONE && this.drops) this.prune(txn, pair, deadline)
      const from = source[pair]!
      if (from <= 0) continue // what follows from the initial version is known
      const version = findVersion(problem, known.commit, key, from)
      inferSeenByPair(known, version, pair)
      inferReplacedForPair(known, version, pair)
    }
  }

  /** Drops candidates that come after the snapshot, or that a writer it sees has overwritten. */
  private prune(txn: number, pair: number, deadline: Deadline): void {
    const { known, pairs, problem, alive, tops } = this
    const { graph, begin, commit } = known
    const { runStart, runFirst, versionTxn } = problem
    const open = pair - pairs.fixedCount
    const key = pairs.key[pair]!
    const snapshot = begin[txn]!
    tops.length = 0
    for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
      const last = lastSeen(known, run, snapshot)
      if (last >= runFirst[run]!) tops.push(last)
    }
    deadline.step(((1 + tops.length) * (pairs.zeroStart[open + 1]! - pairs.zeroStart[open]!)) >> 1)
    for (let i = pairs.zeroStart[open]!; i < pairs.zeroStart[open + 1]!; i++) {
      if (!alive[i]) continue
      const from = pairs.zero[i]!
      let dead = from > 0 && graph.reaches(snapshot, commit[from]!)
      for (let t = 0; !dead && t < tops.length; t++) {
        const top = versionTxn[tops[t]!]!
        dead = top !== from && known.isOrdered(from, top)
      }
      if (dead) this.drop(open, i)
    }
    this.settle(open)
  }

  private inferWeak(txn: number, deadline: Deadline): void {
    const { pairs, known, source, visibility } = this
    const { fixedCount, zeroStart } = pairs
    visibility.find(txn, source)
    for (let i = 0; i < visibility.pair.length; i++) {
      const pair = visibility.pair.data[i]!
      const by = visibility.by.data[i]!
      const from = source[pair]!
      if (from === 0) this.broken.push({ pair, by, via: visibility.via.data[i]! })
      else if (from !== NONE) {
        if (by !== from) this.addVisible(by, from, pair, visibility.via.data[i]!)
      } else if (this.drops) {
        const open = pair - fixedCount
        deadline.step(zeroStart[open + 1]! - zeroStart[open]!)
        this.dropIf(open, (candidate) => candidate !== by && known.isOrdered(candidate, by))
      }
    }
    for (let i = pairs.txnStart[txn]!; this.drops && i < pairs.txnStart[txn + 1]!; i++) {
      const open = pairs.ofTxn[i]! - fixedCount
      if (open < 0 || source[pairs.ofTxn[i]!] !== NONE) continue
      deadline.step(zeroStart[open + 1]! - zeroStart[open]!)
      this.dropIf(
        open,
        (candidate) =>
          candidate > 0 && known.graph.reaches(known.commit[txn]!, known.commit[candidate]!),
      )
      this.settle(open)
    }
  }

  private addVisible(by: number, from: number, pair: number, via: number): void {
    const { graph, commit, claim, visible } = this.known
    if (graph.reaches(commit[by]!, claim[from]!)) return
    this.known.add(commit[by]!, claim[from]!, VISIBLE, visible.length)
    visible.push({ pair, via })
  }

  private dropIf(open: number, isDead: (candidate: number) => boolean): void {
    const { zeroStart, zero } = this.pairs
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      if (this.alive[i] && isDead(zero[i]!)) this.drop(open, i)
    }
  }

  private drop(open: number, candidate: number): void {
    this.alive[candidate] = 0
    this.left[open]!--
    this.hasChanged = true
  }

  /** Takes the last candidate left. */
  private settle(open: number): void {
    const { pairs, known, problem } = this
    const pair = pairs.fixedCount + open
    if (this.left[open] === 0) this.broken.push({ pair, by: NONE, via: NONE })
    if (this.left[open] !== 1) return
    let last = pairs.zeroStart[open]!
    while (!this.alive[last]) last++
    const from = pairs.zero[last]!
    // Whether one that may take no part does is for the solver to say.
    if (pairs.state[from] !== IN) return
    this.source[pair] = from
    this.hasChanged = true
    const reader = pairs.reader[pair]!
    if (from > 0) known.add(known.commit[from]!, known.begin[reader]!, PASSED_OVER, pair)
    else if (problem.level[reader]! >= PC) {
      addOverInitial(known, pairs.key[pair]!, reader, REPLACES_PASSED, pair)
    }
  }
}

/** Transactions in the order of their commits, as far as it is known. */
function commitsOf({ graph, problem, commit }: KnownEdges): Int32Array {
  const { txnAt } = problem.moments
  return graph.order.filter((node) => commit[txnAt[node]!] === node).map((node) => txnAt[node]!)
}
