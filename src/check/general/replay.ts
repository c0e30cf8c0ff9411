// Guesses an order by running the transactions on a store (replay-state.ts), as guess.ts does, but
// with steps back, and for rows passed over. What takes nothing from anybody runs as soon as it
// can; of those that would overwrite, or claim a key, one after another is tried, the first in the
// order of the known edges first, until nothing can run any more or keys wait for each other in a
// circle (replay-deadlock.ts); states that lead nowhere are remembered. Where histories are
// contended what went wrong shows soon, so that few steps are taken back. If many are, it starts
// over, with some other choices. Main class: Replay.

import type { Deadline } from '../../base/deadline.ts'
import { Random } from '../../base/random.ts'
import type { Conflicts } from './conflicts.ts'
import type { KnownEdges } from './known-edges.ts'
import { DeadlockFinder } from './replay-deadlock.ts'
import { ReplayState } from './replay-state.ts'

/** How many steps the first run may take, for each node; each run may take half as many more. */
const FIRST_STEPS = 2

/** How many places of the order a node may go ahead, in all runs but the first. */
const HASTE = 30

/** A state in which there was a choice. */
interface Fork {
  readonly mark: number // of the state
  readonly hash: number
  readonly chains: readonly number[] // whose next nodes can run
  next: number // the first of these that is not tried
}

export class Replay {
  private readonly state: ReplayState
  private readonly deadlocks: DeadlockFinder
  private readonly rank: Float64Array // node -> nodes of small ones are tried first
  private readonly failed = new Set<number>() // hashes of states that lead nowhere
  private readonly random = new Random(1)
  private runSteps: number // that the present run may take
  private isExhausted = false // whether all was tried

  constructor(
    private readonly known: KnownEdges,
    conflicts: Conflicts,
  ) {
    this.state = new ReplayState(known, conflicts)
    this.deadlocks = new DeadlockFinder(known, this.state)
    this.rank = Float64Array.from(known.graph.position)
    this.runSteps = FIRST_STEPS * (1 + known.graph.nodeCount)
  }

  /** The order of commits; null if none was found in so many steps for each node: try again. */
  find(mostSteps: number, deadline: Deadline): Int32Array | null {
    for (let left = mostSteps * (1 + this.rank.length); left > 0; ) {
      const allowed = Math.min(left, this.runSteps)
      const found = this.runOnce(allowed, deadline)
      if (found !== null || this.isExhausted) return found
      left -= allowed
      this.runSteps *= 1.5
      const { position } = this.known.graph
      for (let node = 0; node < this.rank.length; node++) {
        this.rank[node] = position[node]! - this.random.below(HASTE)
      }
    }
    return null
  }

  private runOnce(mostSteps: number, deadline: Deadline): Int32Array | null {
    const { state, failed, deadlocks } = this
    const forks: Fork[] = []
    let mark = 0 // of the state before the last step
    let isNew = true // whether the state was not looked at yet
    for (let steps = 0; steps < mostSteps; ) {
      if (isNew) {
        this.settle()
        if (this.isDone()) break
        const { hash } = state
        const isHopeless = failed.has(hash) || deadlocks.isStuckSince(mark)
        forks.push({ mark: state.mark, hash, chains: isHopeless ? [] : this.listReady(), next: 0 })
      }
      const fork = forks.at(-1)
      this.isExhausted = fork === undefined
      if (fork === undefined) break
      state.undoTo(fork.mark)
      isNew = fork.next < fork.chains.length
      if (isNew) {
        steps++
        deadline.step(8 * state.head.length + deadlocks.takeVisits())
        mark = fork.mark
        state.run(fork.chains[fork.next++]!)
      } else {
        failed.add(fork.hash)
        forks.pop()
      }
    }
    const order = this.isDone() ? state.order.view().slice() : null
    state.undoTo(0)
    return order
  }

  private isDone(): boolean {
    const { chainStart } = this.known.graph
    return this.state.head.every((node, chain) => node === chainStart[chain + 1])
  }

  /** Runs whatever takes nothing from anybody. */
  private settle(): void {
    const { state } = this
    const { chainStart } = this.known.graph
    const { head } = state
    // Chains are gone through in turn until none went on in a whole round.
    for (let chain = 0, idle = 0; idle < head.length; chain = (chain + 1) % head.length) {
      idle++
      while (head[chain]! < chainStart[chain + 1]!) {
        if (!state.isFree(head[chain]!) || !state.mayRun(head[chain]!)) break
        state.run(chain)
        idle = 0
      }
    }
  }

  /** The chains whose next node can run, the likeliest first. */
  private listReady(): number[] {
    const { state, rank } = this
    const { chainStart } = this.known.graph
    const { head } = state
    const ready: number[] = []
    for (let chain = 0; chain < head.length; chain++) {
      if (head[chain]! < chainStart[chain + 1]! && state.mayRun(head[chain]!)) ready.push(chain)
    }
    return ready.sort((a, b) => rank[head[a]!]! - rank[head[b]!]!)
  }
}
