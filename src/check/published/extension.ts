// A history on the way to a conflict-free one: which transactions take part, which conflicts have
// been given a writer, and the relations that follow. Extending it copies it, so that a search can
// go back to where it was (Bouajjani, Enea, Román-Calvo, Definition 3). Main class: Extension.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { CC, SI } from '../problem/levels.ts'
import { findListOrder } from '../problem/list-order.ts'
import { MAYBE, type MixedProblem, OUT } from '../problem/mixed-problem.ts'
import { Relation } from './relation.ts'

export class Extension {
  readonly choice: Int32Array // conflict -> writer of the version passed over, NONE if open
  readonly sessions: Relation // session order, transitive, the initial transaction first
  readonly rivals: Relation | null // who writes a row that the other writes too; null without si
  readonly sight: Relation // session order and write-read
  /** Its closure, for causal readers; the same object as `sight` if there are none. */
  causes: Relation
  /** What every commit order must contain; closed. */
  order: Relation

  private constructor(
    readonly problem: MixedProblem,
    readonly takesPart: Uint8Array, // node -> 1
    from: Extension | null,
    private readonly deadline: Deadline,
  ) {
    const { nodeCount, openCount } = problem
    this.choice = from ? from.choice.slice() : new Int32Array(openCount).fill(NONE)
    this.sessions = from ? from.sessions : sessionOrder(problem, takesPart)
    this.rivals = from ? from.rivals : problem.level.includes(SI) ? rivalsOf(problem) : null
    this.sight = (from ? from.sight : this.sessions).copy()
    this.order = from ? from.order.copy() : new Relation(nodeCount)
    this.causes = this.sight
  }

  /**
   * The history as it is given, without writers for conflicts.
   * @param optional nodes that may take part or not, and do
   */
  static of(problem: MixedProblem, optional: ReadonlySet<number>, deadline: Deadline): Extension {
    const takesPart = Uint8Array.from(problem.state, (state, node) =>
      state !== OUT && (state !== MAYBE || optional.has(node)) ? 1 : 0,
    )
    const extension = new Extension(problem, takesPart, null, deadline)
    const { readNode, fixedStart, fixedNode, readCount } = problem
    for (let read = 0; read < readCount; read++) {
      if (!takesPart[readNode[read]!]) continue
      for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
        extension.sight.add(fixedNode[pair]!, readNode[read]!)
      }
    }
    const lists = findListOrder(problem)
    lists.from.forEach((node, i) => {
      extension.order.add(node, lists.to[i]!)
    })
    extension.close()
    return extension
  }

  /** The same with a writer for one more conflict. */
  with(conflict: number, writer: number): Extension {
    const { problem } = this
    const extended = new Extension(problem, this.takesPart, this, this.deadline)
    extended.choice[conflict] = writer
    extended.sight.add(writer, problem.readNode[problem.openRead[conflict]!]!)
    extended.close()
    return extended
  }

  private close(): void {
    const { problem, sight, order, takesPart } = this
    for (let i = 0; i < order.rows.length; i++) order.rows[i]! |= sight.rows[i]!
    order.close(this.deadline)
    if (!problem.level.some((level, node) => level === CC && takesPart[node])) return
    this.causes = sight.copy()
    this.causes.close(this.deadline)
  }

  /** Calls back for every row that the read saw and whose writer is known. */
  forEachPair(read: number, visit: (key: number, writer: number) => void): void {
    const { fixedStart, fixedKey, fixedNode, openStart, openKey } = this.problem
    for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
      visit(fixedKey[pair]!, fixedNode[pair]!)
    }
    for (let conflict = openStart[read]!; conflict < openStart[read + 1]!; conflict++) {
      if (this.choice[conflict] !== NONE) visit(openKey[conflict]!, this.choice[conflict]!)
    }
  }
}

function sessionOrder(problem: MixedProblem, takesPart: Uint8Array): Relation {
  const sessions = new Relation(problem.nodeCount)
  for (let node = 1; node < problem.nodeCount; node++) {
    if (!takesPart[node]) continue
    // Those of a session are numbered in its order, so the one before is complete.
    let before = problem.before[node]!
    while (!takesPart[before]) before = problem.before[before]!
    sessions.inherit(node, before)
    sessions.add(before, node)
  }
  return sessions
}

function rivalsOf({ nodeCount, writerStart, writerNode }: MixedProblem): Relation {
  const rivals = new Relation(nodeCount)
  for (let key = 0; key + 1 < writerStart.length; key++) {
    for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
      for (let j = writerStart[key]!; j < writerStart[key + 1]!; j++) {
        if (i !== j) rivals.add(writerNode[i]!, writerNode[j]!)
      }
    }
  }
  return rivals
}
