// Makes an argument by cases shorter and plainer: a case that refutes one order of two writers
// shows the other one, and where later cases assume that, they carry it with its reasons instead.
// Often a single cycle is left. An order with its reasons stands wherever it is used, so those that
// rest on much stay cases. Main function: foldCases.

import { TupleMap } from '../../base/maps.ts'
import type { Case, Edge } from '../../verdict/verdict.ts'

/** Reasons beyond this number, with their own, are not repeated where they are used. */
const MOST_REASONS = 24

export interface Argument {
  readonly edges: Edge[]
  readonly cases: Case[]
}

/** Why a version order holds. */
interface Reasons {
  readonly premises: Edge[]
  readonly refutes: boolean
}

/** Between which moments of two transactions an edge leads: snapshots, and commits after them. */
export interface EndsOfEdges {
  startsAtCommit(edge: Edge): boolean
  arrivesAtSnapshot(edge: Edge): boolean
}

export function foldCases(cases: readonly Case[], ends: EndsOfEdges): Argument {
  return new Folder(ends).run(cases)
}

class Folder {
  private readonly known = new TupleMap<[from: number, to: number], Reasons>() // why

  constructor(private readonly ends: EndsOfEdges) {}

  /** What is noted also makes cases before it shorter: again and again until nothing is. */
  run(cases: readonly Case[]): Argument {
    let left = cases
    while (true) {
      const argument = this.pass(left)
      if (argument.edges.length > 0 || argument.cases.length === left.length) return argument
      left = argument.cases
    }
  }

  private pass(cases: readonly Case[]): Argument {
    const left: Case[] = []
    for (const step of cases) {
      const assumptions = step.assumptions.filter((assumption) => !this.reasonsOf(assumption))
      const cycle = step.cycle.map((edge) => this.resolve(edge))
      if (cycle.length > 0 && assumptions.length === 0) {
        return { edges: this.spellOut(this.turnAround(cycle)), cases: [] }
      }
      const [only] = assumptions
      if (cycle.length > 0 && assumptions.length === 1 && only!.kind === 'WW') {
        if (this.note(only!, cycle)) continue
      }
      left.push({ assumptions, cycle })
    }
    return { edges: [], cases: left }
  }

  private reasonsOf({ kind, from, to }: Edge): Reasons | undefined {
    return kind === 'WW' ? this.known.get([from, to]) : undefined
  }

  /** The edge with reasons for what it assumed, where they are known. */
  private resolve(edge: Edge): Edge {
    if (edge.kind === 'RW') {
      const [seen, newer] = edge.premises
      return { ...edge, premises: [seen!, this.resolve(newer!)] }
    }
    const reasons = edge.assumed ? this.reasonsOf(edge) : undefined
    return reasons ? proved(edge, reasons) : edge
  }

  /** The cycle refutes the order assumed: notes the opposite; false if that rests on too much. */
  private note({ from, to }: Edge, cycle: readonly Edge[]): boolean {
    const reasons = this.opposite(from, to, cycle)
    if (countReasons(reasons.premises) > MOST_REASONS) return false
    this.known.set([to, from], reasons)
    return true
  }

  /** Why `to` precedes `from`, if the opposite closes the cycle. */
  private opposite(from: number, to: number, cycle: readonly Edge[]): Reasons {
    const isIt = (edge: Edge) =>
      edge.kind === 'WW' && edge.assumed === true && edge.from === from && edge.to === to
    const at = cycle.findIndex(isIt)
    const path = [...cycle.slice(at + 1), ...cycle.slice(0, at)]
    const isPath =
      at >= 0 &&
      path.length > 0 &&
      this.ends.startsAtCommit(path[0]!) &&
      !path.some((edge) => isIt(edge) || edge.premises.some(isIt))
    return isPath ? { premises: path, refutes: false } : { premises: [...cycle], refutes: true }
  }

  /**
   * An order that only refutes its opposite is turned around: the rest of the cycle is that
   * opposite, so the refuting cycle stands on its own.
   */
  private turnAround(found: Edge[]): Edge[] {
    let cycle = found
    while (true) {
      const at = cycle.findIndex(({ kind, refutes }) => kind === 'WW' && refutes)
      const rest = [...cycle.slice(at + 1), ...cycle.slice(0, at)]
      if (at < 0 || rest.length === 0 || !this.ends.startsAtCommit(rest[0]!)) return cycle
      const { from, to, premises } = cycle[at]!
      this.known.set([to, from], { premises: rest, refutes: false })
      cycle = premises.map((edge) => this.resolve(edge))
    }
  }

  /** A version order that follows from a path is told by the path, where that leads as far. */
  private spellOut(cycle: readonly Edge[]): Edge[] {
    const passed = new Set(cycle.map(({ from }) => from))
    return cycle.flatMap((edge) => {
      const { kind, premises, refutes } = edge
      const last = premises.at(-1)
      if (kind !== 'WW' || last === undefined || refutes) return [edge]
      const isNew = premises.slice(1).every(({ from }) => !passed.has(from))
      const { ends } = this
      const isAsFar = ends.arrivesAtSnapshot(last) || !ends.arrivesAtSnapshot(edge)
      if (!isNew || !isAsFar) return [edge]
      for (const { from } of premises) passed.add(from)
      return premises
    })
  }
}

function proved(edge: Edge, { premises, refutes }: Reasons): Edge {
  const { from, to, kind, key, ops } = edge
  const made: Edge = { from, to, kind, key, ops, premises }
  if (refutes) made.refutes = true
  return made
}

/** The edges of reasons and of theirs, as often as they would be told; at most one too many. */
function countReasons(edges: readonly Edge[]): number {
  const pending = [...edges]
  for (const edge of pending) {
    if (pending.length > MOST_REASONS) break
    for (const premise of edge.premises) pending.push(premise)
  }
  return pending.length
}
