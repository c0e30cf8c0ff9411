// The edges that hold in every order, each with the rule that put it there: reads-from,
// anti-dependencies on the initial state (which precedes everything), observed list orders, real
// time; later what saturation infers (saturate.ts, conflicts.ts). Session order lies in the chains.
// For sser the instants at which something finished form one more chain: finish → instant →
// whatever starts later, O(n log n) instead of all pairs. Main function: buildKnownEdges.

import type { Deadline } from '../../base/deadline.ts'
import { ByteColumn, IntColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { NONE } from '../../history/history.ts'
import { PC } from '../problem/levels.ts'
import { IN, MAYBE } from '../problem/mixed-problem.ts'
import { ChainGraph } from './chain-graph.ts'
import type { Pairs } from './pairs.ts'
import { finishOf, type Problem } from './problem.ts'

/** Rules, with what `witness` holds. */
export const READ_FROM = 0 // nothing
export const OVER_INITIAL = 1 // nothing: the reader of the initial state precedes a writer
export const LIST_ORDER = 2 // the key of the list
export const REAL_TIME = 3 // nothing: an edge from or to an instant
export const SESSION = 4 // nothing: one that may take no part follows its session
export const PASSED_OVER = 5 // the pair: `to` passed over the version of `from`
export const SEEN_BY_READER = 6 // a reader of `to` that `from` reaches: so `from` wrote earlier
export const OVERWRITES = 7 // the writer of the version that the reader `from` saw
export const OVERLAP = 8 // nothing: both write a key, and `from` began before `to` committed
export const SEEN_BY_PASSING = 9 // a pair that passed `to` over, whose reader `from` reaches
export const REPLACES_PASSED = 10 // the pair of `from` that passed over what `to` replaced
export const VISIBLE = 11 // a number of `visible`: `from` was visible to a reader of `to`'s version

/** Why a writer was visible to a reader below pc. */
export interface Visible {
  readonly pair: number // what it read instead
  readonly via: number // the pair through which it saw the writer; or IN_SESSION, CAUSAL
}

/** Two by two, versions of a key. */
export interface OpenPairs {
  readonly one: IntColumn
  readonly other: IntColumn
}

export class KnownEdges {
  readonly graph: ChainGraph
  readonly begin: Int32Array // txn -> node, as in `problem.moments`
  readonly commit: Int32Array // txn -> node
  readonly claim: Int32Array // txn -> node
  readonly versionCommit: Int32Array // version -> node: its writer's commit
  readonly versionClaim: Int32Array // version -> node: its writer's claim
  readonly readerBegin: Int32Array // slot of `problem.reader` -> node: the reader's snapshot
  readonly runChain: Int32Array // run -> chain
  readonly rule = new ByteColumn(64) // edge -> rule
  readonly witness = new IntColumn(64) // edge -> txn, key or pair, see the rules
  readonly visible: Visible[] = []
  /** Versions of a key that were in no order after the first round; null: all are looked at. */
  openPairs: OpenPairs | null | undefined
  /** Edges before roundStart[k] were there when round k looked; its own come after. */
  readonly roundStart: number[] = []

  constructor(
    readonly problem: Problem,
    deadline: Deadline,
    mostNumbers: number,
  ) {
    const { moments } = problem
    this.graph = new ChainGraph(moments.chainStart, deadline, mostNumbers)
    this.begin = moments.begin
    this.commit = moments.commit
    this.claim = moments.claim
    const { versionTxn, reader, runFirst } = problem
    this.versionCommit = new Int32Array(versionTxn.length)
    this.versionClaim = new Int32Array(versionTxn.length)
    for (let version = 0; version < versionTxn.length; version++) {
      this.versionCommit[version] = moments.commit[versionTxn[version]!]!
      this.versionClaim[version] = moments.claim[versionTxn[version]!]!
    }
    this.readerBegin = new Int32Array(reader.length)
    for (let i = 0; i < reader.length; i++) this.readerBegin[i] = moments.begin[reader[i]!]!
    this.runChain = new Int32Array(runFirst.length - 1)
    for (let run = 0; run < this.runChain.length; run++) {
      this.runChain[run] = this.graph.chainOf[this.versionCommit[runFirst[run]!]!]!
    }
  }

  add(from: number, to: number, rule: number, witness: number): void {
    this.graph.add(from, to)
    this.rule.push(rule)
    this.witness.push(witness)
  }

  /** Whether one of two writers of a key is known to come first; the initial one always does. */
  isOrdered(from: number, to: number): boolean {
    if (this.problem.pairs !== null && (from === 0 || to === 0)) return from === 0 && to !== 0
    return this.graph.reaches(this.claim[from]!, this.commit[to]!)
  }

  /** How many edges there were when the edge was inferred: all it can rest on. */
  basisOf(edge: number): number {
    let basis = 0
    for (const start of this.roundStart) {
      if (start > edge) break
      basis = start
    }
    return basis
  }

  /** The transaction of a node, NONE for an instant. */
  txnOf(node: number): number {
    return this.problem.moments.txnAt[node]!
  }
}

export function buildKnownEdges(
  problem: Problem,
  deadline: Deadline,
  mostNumbers: number,
): KnownEdges {
  const known = new KnownEdges(problem, deadline, mostNumbers)
  addReads(known, deadline)
  addAppends(known)
  if (problem.moments.instants.length > 0) addRealTime(known)
  if (problem.pairs !== null) addPairs(known, problem.pairs, deadline)
  return known
}

function addReads(known: KnownEdges, deadline: Deadline): void {
  const { problem, versionCommit, readerBegin } = known
  const { readerStart, initialStart, initialReader } = problem
  for (let version = 0; version < versionCommit.length; version++) {
    const from = versionCommit[version]!
    deadline.step(1 + 4 * (readerStart[version + 1]! - readerStart[version]!))
    for (let i = readerStart[version]!; i < readerStart[version + 1]!; i++) {
      known.add(from, readerBegin[i]!, READ_FROM, NONE)
    }
  }
  const { keyCount, runStart } = problem
  for (let key = 0; key < keyCount; key++) {
    for (let i = initialStart[key]!; i < initialStart[key + 1]!; i++) {
      deadline.step(1 + 4 * (runStart[key + 1]! - runStart[key]!))
      addOverInitial(known, key, initialReader[i]!, OVER_INITIAL, NONE)
    }
  }
}

/** Who saw the initial state of a key precedes all others who write it. */
export function addOverInitial(
  known: KnownEdges,
  key: number,
  reader: number,
  rule: number,
  witness: number,
): void {
  const { begin, commit, problem } = known
  const { runStart, runFirst, versionTxn } = problem
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    // Later writers of a session follow its first one.
    const first = versionTxn[runFirst[run]!]!
    if (first !== reader) known.add(begin[reader]!, commit[first]!, rule, witness)
  }
}

function addAppends(known: KnownEdges): void {
  const { appendFrom, appendTo, appendKey } = known.problem
  for (let i = 0; i < appendFrom.length; i++) {
    const to = known.claim[appendTo[i]!]!
    known.add(known.commit[appendFrom[i]!]!, to, LIST_ORDER, appendKey[i]!)
  }
}

/** What follows from pairs whose writer is beyond doubt, and from session order beside chains. */
function addPairs(known: KnownEdges, pairs: Pairs, deadline: Deadline): void {
  const { before, level } = known.problem
  const { begin, commit } = known
  const { state, reader, loose, fixedCount } = pairs
  for (let txn = 1; txn < state.length; txn++) {
    if (state[txn] !== MAYBE) continue
    let previous = before[txn]!
    while (previous !== NONE && state[previous] !== IN) previous = before[previous]!
    if (previous !== NONE) known.add(commit[previous]!, begin[txn]!, SESSION, NONE)
  }
  for (const pair of loose) {
    deadline.step(4)
    const source = pairs.onlySource(pair)
    const isOpen = pair >= fixedCount
    if (source > 0 && state[source] === IN) {
      const rule = isOpen ? PASSED_OVER : READ_FROM
      known.add(commit[source]!, begin[reader[pair]!]!, rule, isOpen ? pair : NONE)
    }
    if (source === 0 && isOpen && level[reader[pair]!]! >= PC) {
      addOverInitial(known, pairs.key[pair]!, reader[pair]!, REPLACES_PASSED, pair)
    }
  }
}

function addRealTime(known: KnownEdges): void {
  const { history, txnOf, txnCount, moments } = known.problem
  const { instants, begin, commit, txnAt } = moments
  const first = txnAt.length - instants.length // node of the first instant
  for (let t = 0; t < txnCount; t++) {
    if (commit[t] === NONE) continue
    const txn = txnOf[t]!
    // An observed indeterminate transaction never finishes, as far as anybody knows.
    const finish = finishOf(history, txn)
    if (!Number.isNaN(finish)) {
      known.add(commit[t]!, first + lowerBound(instants, finish), REAL_TIME, -1)
    }
    // Nothing comes before one of which nobody knows when it started.
    const before = lowerBound(instants, history.txnStartTime![txn]!) - 1
    if (before >= 0) known.add(first + before, begin[t]!, REAL_TIME, -1)
  }
}
