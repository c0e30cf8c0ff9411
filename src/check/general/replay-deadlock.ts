// Whether a run has come to a state in which keys wait for each other in a circle: the version held
// of one cannot be overwritten before somebody has read it, who comes after one that overwrites the
// next. Only what changed in the last step can have closed a circle, so it is looked for from
// there. Cost: the readers that pin versions, times chains and nodes between these and the next of
// each chain. Main class: DeadlockFinder.

import { IntColumn } from '../../base/grow.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import type { KnownEdges } from './known-edges.ts'
import type { ReplayState } from './replay-state.ts'

export class DeadlockFinder {
  private readonly local: Int32Array // key -> its place in `keys`, if it is there
  private readonly keys = new IntColumn(16) // pinned keys met, those to be looked at behind others
  private readonly from = new IntColumn(16) // edge -> place of a key that waits
  private readonly to = new IntColumn(16) // edge -> place of the key that it waits for
  private visits = 0 // chains looked at

  constructor(
    private readonly known: KnownEdges,
    private readonly state: ReplayState,
  ) {
    this.local = new Int32Array(known.problem.keyCount)
  }

  /** How much was done since this was last asked. */
  takeVisits(): number {
    const { visits } = this
    this.visits = 0
    return visits
  }

  /** Whether there is a circle through a key that changed since a mark of the state. */
  isStuckSince(mark: number): boolean {
    const { keys, from, to } = this
    keys.length = 0
    from.length = 0
    to.length = 0
    this.state.forEachChanged(mark, this.meet)
    for (let place = 0; place < keys.length; place++) this.followReaders(place)
    if (to.length === 0) return false
    return findTopologicalOrder(buildCsr(keys.length, from.view(), to.view())) === null
  }

  /** Numbers a key whose version somebody needs; -1 if nobody does. */
  private readonly meet = (key: number): number => {
    const { keys, local, state } = this
    if (state.pins[state.held[key]!] === 0) return -1
    const place = local[key]!
    if (place < keys.length && keys.data[place] === key) return place
    local[key] = keys.length
    keys.push(key)
    return keys.length - 1
  }

  /** Whom the readers wait for that pin the version held. */
  private followReaders(place: number): void {
    const { state } = this
    const { problem } = this.known
    const { readerStart, reader, initialStart, initialReader, pairs } = problem
    const key = this.keys.data[place]!
    const version = state.held[key]!
    const isInitial = version >= state.versionCount
    const [start, readers] = isInitial ? [initialStart, initialReader] : [readerStart, reader]
    const at = isInitial ? key : version
    for (let i = start[at]!; i < start[at + 1]!; i++) this.follow(place, readers[i]!)
    const { start: first, target } = state.wantedBy
    for (let i = first[version]!; i < first[version + 1]!; i++) {
      const slot = target[i]!
      if (state.hasRead[slot] || state.left[slot] !== 1) continue
      this.follow(place, pairs!.reader[pairs!.loose[slot]!]!)
    }
  }

  /** What still has to run before a reader, and overwrites what somebody else needs. */
  private follow(place: number, reader: number): void {
    const { known, state, from, to } = this
    const { graph, begin, commit } = known
    const { writeStart, writeKey } = known.problem.access
    const snapshot = begin[reader]!
    if (state.head[graph.chainOf[snapshot]!]! > snapshot) return // it has read
    this.visits += graph.chainCount
    for (let chain = 0; chain < graph.chainCount; chain++) {
      const end = graph.firstNotReaching(chain, snapshot)
      for (let node = state.head[chain]!; node < end; node++) {
        const txn = known.txnOf(node)
        if (node === snapshot || txn < 0 || commit[txn] !== node) continue
        for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
          const other = this.meet(writeKey[i]!)
          if (other < 0) continue
          from.push(place)
          to.push(other)
        }
      }
    }
  }
}
