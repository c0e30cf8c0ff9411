// Guesses at an order in the stricter problem in which all see snapshots (stricter.ts), by running
// it again and again (replay.ts). The solver goes first, for little is left open in most histories,
// and they take turns: if the solver has met some conflicts, or its orders were wrong some times,
// it is likely to meet many more. Main class: SnapshotGuess.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { PC } from '../problem/levels.ts'
import { IN, MAYBE } from '../problem/mixed-problem.ts'
import { Conflicts } from './conflicts.ts'
import { buildKnownEdges, type KnownEdges } from './known-edges.ts'
import { ofRows } from './of-rows.ts'
import type { Pairs } from './pairs.ts'
import { Replay } from './replay.ts'
import { saturate } from './saturate.ts'
import { makeStricter } from './stricter.ts'

/** When it is the guess's turn, and how many steps it may take, for each node. */
const TURNS = [
  { conflicts: 50, rounds: 1, steps: 5 },
  { conflicts: 300, rounds: 4, steps: 50 },
  { conflicts: 3000, rounds: 20, steps: 400 },
]

/** It may take so much of the time that is left. */
const SHARE = 0.5

export class SnapshotGuess {
  private turn = 0
  private replay: Replay | null = null
  private nodeOf: Int32Array | null = null // txn -> its node in the replay, null if they are one
  private wholeOf: Int32Array | null = null // node in the replay -> txn

  constructor(
    private readonly known: KnownEdges,
    private readonly conflicts: Conflicts,
    private readonly mostNumbers: number,
  ) {}

  /** How many conflicts the solver may meet before it is the guess's turn. */
  conflictsToGo(conflicts: number): number {
    const turn = TURNS[this.turn]
    return turn ? Math.max(1, turn.conflicts - conflicts) : Number.POSITIVE_INFINITY
  }

  /**
   * Transactions in an order that may be valid; null if none was found, or it is not its turn.
   * @param conflicts that the solver met
   * @param rounds in which it found an order that was wrong
   */
  next(conflicts: number, rounds: number, deadline: Deadline): Int32Array | null {
    const turn = TURNS[this.turn]
    if (!turn || (conflicts < turn.conflicts && rounds < turn.rounds)) return null
    const part = deadline.part(SHARE)
    try {
      if (this.turn++ === 0) this.replay = this.prepare(part)
      const found = this.replay?.find(turn.steps, part)
      return found ? this.ofWhole(found) : null
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      deadline.check()
      this.turn = TURNS.length
      return null
    }
  }

  /** Null if nothing comes of it. */
  private prepare(deadline: Deadline): Replay | null {
    const { pairs, level } = this.known.problem
    if (isStrict(pairs!, level)) return new Replay(this.known, this.conflicts)
    const stricter = makeStricter(pairs!.rows)
    if (stricter === null) return null
    this.nodeOf = stricter.nodeOf
    this.wholeOf = stricter.wholeOf
    const problem = ofRows(stricter.rows)
    const known = buildKnownEdges(problem, deadline, this.mostNumbers)
    if (!known.graph.hasClosure) return null
    const conflicts = new Conflicts(problem, known, true, deadline)
    return saturate(known, conflicts, deadline) ? new Replay(known, conflicts) : null
  }

  private ofWhole(order: Int32Array): Int32Array {
    const { nodeOf, wholeOf } = this
    if (nodeOf === null || wholeOf === null) return order
    return order.filter((node) => nodeOf[wholeOf[node]!] === node).map((node) => wholeOf[node]!)
  }
}

/** Whether all see snapshots as it is, and take part. */
function isStrict({ state }: Pairs, level: Uint8Array): boolean {
  for (let txn = 1; txn < state.length; txn++) {
    if (state[txn] === MAYBE || (state[txn] === IN && level[txn]! < PC)) return false
  }
  return true
}
