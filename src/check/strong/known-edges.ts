// The edges that hold in every order of a history at a strong level, each with the rule that put it
// there: reads-from, anti-dependencies on the initial state (which precedes everything), observed
// list orders, real time; later what saturation infers (saturate.ts). Session order lies in the
// chains. For sser the instants at which something finished form one more chain: finish → instant →
// whatever starts later, O(n log n) instead of all pairs. Main function: buildKnownEdges.

import type { Deadline } from '../../base/deadline.ts'
import { ByteColumn, IntColumn } from '../../base/grow.ts'
import { COMMITTED } from '../../history/history.ts'
import type { Problem } from '../problem/register-problem.ts'
import type { LevelShape } from '../problem/shape.ts'
import { ChainGraph } from './chain-graph.ts'

/** Rules, with what `witness` holds. */
export const READ_FROM = 0 // nothing
export const OVER_INITIAL = 1 // nothing: the reader of the initial state precedes a writer
export const LIST_ORDER = 2 // the key of the list
export const REAL_TIME = 3 // nothing: an edge from or to an instant
export const SEEN_BY_READER = 4 // a reader of `to` that `from` reaches: so `from` wrote earlier
export const OVERWRITES = 5 // the writer of the version that the reader `from` saw
export const OVERLAP = 6 // nothing: both write a key, and `from` began before `to` committed

export class KnownEdges {
  readonly graph: ChainGraph
  readonly rule = new ByteColumn(64) // edge -> rule
  readonly witness = new IntColumn(64) // edge -> local txn or key, see the rules
  /** Edges before roundStart[k] were there when round k looked; its own come after. */
  readonly roundStart: number[] = []

  constructor(
    readonly problem: Problem,
    readonly shape: LevelShape,
    chainStart: Int32Array,
    deadline: Deadline,
    mostNumbers: number,
  ) {
    this.graph = new ChainGraph(chainStart, deadline, mostNumbers)
  }

  add(from: number, to: number, rule: number, witness: number): void {
    this.graph.add(from, to)
    this.rule.push(rule)
    this.witness.push(witness)
  }

  begin(txn: number): number {
    return this.shape.width * txn
  }

  commit(txn: number): number {
    return this.shape.width * txn + this.shape.commit
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

  /** Local transaction of a node, or -1 for an instant. */
  txnOf(node: number): number {
    const txn = this.shape.width === 2 ? node >> 1 : node
    return txn < this.problem.txnCount ? txn : -1
  }
}

export function buildKnownEdges(
  problem: Problem,
  shape: LevelShape,
  deadline: Deadline,
  mostNumbers: number,
): KnownEdges {
  const instants = shape.level === 'sser' ? findInstants(problem) : new Float64Array(0)
  const { sessionCount, sessionStart } = problem
  const chains = sessionCount + (instants.length > 0 ? 1 : 0)
  const chainStart = new Int32Array(chains + 1)
  for (let s = 0; s <= sessionCount; s++) chainStart[s] = shape.width * sessionStart[s]!
  if (instants.length > 0) chainStart[chains] = chainStart[sessionCount]! + instants.length
  const known = new KnownEdges(problem, shape, chainStart, deadline, mostNumbers)
  addReads(known, deadline)
  addAppends(known)
  if (instants.length > 0) addRealTime(known, instants)
  return known
}

function addReads(known: KnownEdges, deadline: Deadline): void {
  const { problem } = known
  const { readerStart, reader, versionTxn, initialStart, initialReader } = problem
  for (let version = 0; version < versionTxn.length; version++) {
    const from = known.commit(versionTxn[version]!)
    deadline.step(1 + 4 * (readerStart[version + 1]! - readerStart[version]!))
    for (let i = readerStart[version]!; i < readerStart[version + 1]!; i++) {
      known.add(from, known.begin(reader[i]!), READ_FROM, -1)
    }
  }
  // Later writers of a session follow its first one.
  const { keyCount, runStart, runFirst } = problem
  for (let key = 0; key < keyCount; key++) {
    for (let i = initialStart[key]!; i < initialStart[key + 1]!; i++) {
      const from = initialReader[i]!
      deadline.step(1 + 4 * (runStart[key + 1]! - runStart[key]!))
      for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
        const to = versionTxn[runFirst[run]!]!
        if (to !== from) known.add(known.begin(from), known.commit(to), OVER_INITIAL, -1)
      }
    }
  }
}

function addAppends(known: KnownEdges): void {
  const { appendFrom, appendTo, appendKey } = known.problem
  const { width, versionTo } = known.shape
  for (let i = 0; i < appendFrom.length; i++) {
    const to = width * appendTo[i]! + versionTo
    known.add(known.commit(appendFrom[i]!), to, LIST_ORDER, appendKey[i]!)
  }
}

/** Distinct finish times, ascending. */
function findInstants(problem: Problem): Float64Array {
  const { history, txnOf } = problem
  const times = new Float64Array(txnOf.length)
  let count = 0
  for (const txn of txnOf) {
    if (history.txnStatus[txn] === COMMITTED) times[count++] = history.txnFinishTime![txn]!
  }
  const sorted = times.subarray(0, count).sort()
  let distinct = 0
  for (let i = 0; i < count; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]!
  }
  return sorted.slice(0, distinct)
}

function addRealTime(known: KnownEdges, instants: Float64Array): void {
  const { history, txnOf, txnCount } = known.problem
  for (let t = 0; t < txnCount; t++) {
    const txn = txnOf[t]!
    // An observed indeterminate transaction never finishes, as far as anybody knows.
    if (history.txnStatus[txn] === COMMITTED) {
      const finish = lowerBound(instants, history.txnFinishTime![txn]!)
      known.add(t, txnCount + finish, REAL_TIME, -1)
    }
    const before = lowerBound(instants, history.txnStartTime![txn]!) - 1
    if (before >= 0) known.add(txnCount + before, t, REAL_TIME, -1)
  }
}

/** First index whose time is not below the given one. */
function lowerBound(times: Float64Array, time: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const mid = (low + high) >>> 1
    if (times[mid]! < time) low = mid + 1
    else high = mid
  }
  return low
}
