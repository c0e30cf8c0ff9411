// Goes through an argument edge by edge, down to what the history itself shows. Each edge is proved
// once per set of assumptions (scope), by an explicit stack, and one that rests on itself is
// refused. What makes an edge hold is the rule's business. Main function: cycleProblems.

import type { Edge } from './verdict.ts'

/** What is assumed at some point of an argument, and what was proved there. */
export class Scope {
  readonly proved = new Set<Edge>()

  constructor(
    private readonly parent: Scope | null = null,
    private readonly assumption: Edge | null = null,
  ) {}

  /** What holds under fewer assumptions holds here. */
  hasProved(edge: Edge): boolean {
    for (let at: Scope | null = this; at !== null; at = at.parent) {
      if (at.proved.has(edge)) return true
    }
    return false
  }

  *assumptions(): Iterable<Edge> {
    for (let at: Scope | null = this; at !== null; at = at.parent) {
      if (at.assumption) yield at.assumption
    }
  }

  assumes(fits: (assumption: Edge) => boolean): boolean {
    for (const assumption of this.assumptions()) if (fits(assumption)) return true
    return false
  }

  assumesOrder(from: number, to: number): boolean {
    return this.assumes((edge) => edge.kind === 'WW' && edge.from === from && edge.to === to)
  }

  /** Under the assumption of what a version order refutes. */
  withOpposite({ from, to, kind, key }: Edge): Scope {
    return new Scope(this, { from: to, to: from, kind, key, ops: [], premises: [], assumed: true })
  }
}

/**
 * What is wrong with the edge itself, null if it holds whenever the edges do that it hands to
 * `need`, each in the scope given with it.
 */
export type Rule = (
  edge: Edge,
  scope: Scope,
  need: (edges: readonly Edge[], scope: Scope) => void,
) => string | null

/** What is wrong with the edges of a cycle under assumptions; `shape` is what is with the cycle. */
export function cycleProblems(
  rule: Rule,
  shape: string | null,
  cycle: readonly Edge[],
  assumptions: readonly Edge[],
): string[] {
  const prover = new EdgeProver(rule)
  if (shape !== null) prover.problems.push(shape)
  let scope = new Scope()
  for (const assumption of assumptions) scope = new Scope(scope, assumption)
  prover.prove(cycle, scope)
  return prover.problems
}

interface Task {
  readonly edge: Edge
  readonly scope: Scope
  entered: boolean
}

class EdgeProver {
  readonly problems: string[] = []
  private readonly open = new Set<Edge>() // edges whose premises are being proved
  private readonly tasks: Task[] = []

  constructor(private readonly rule: Rule) {}

  prove(edges: readonly Edge[], scope: Scope): void {
    for (const edge of edges) {
      this.push([edge], scope)
      this.run()
    }
  }

  private readonly push = (edges: readonly Edge[], scope: Scope): void => {
    for (const edge of edges) this.tasks.push({ edge, scope, entered: false })
  }

  private run(): void {
    while (this.tasks.length > 0) {
      const task = this.tasks[this.tasks.length - 1]!
      if (task.entered) {
        this.tasks.pop()
        this.open.delete(task.edge)
        task.scope.proved.add(task.edge)
        continue
      }
      task.entered = true
      if (task.scope.hasProved(task.edge)) {
        this.tasks.pop()
        continue
      }
      const problem = this.open.has(task.edge) ? 'an edge rests on itself' : this.enter(task)
      if (problem === null) continue
      this.problems.push(problem)
      this.tasks.length = 0
      this.open.clear()
    }
  }

  private enter({ edge, scope }: Task): string | null {
    this.open.add(edge)
    return this.rule(edge, scope, this.push)
  }
}
