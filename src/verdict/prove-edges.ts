// Goes through an argument edge by edge, down to what the history itself shows. Each edge is proved
// once per set of assumptions (scope), by an explicit stack, and one that rests on itself is
// refused. What makes an edge hold is the rule's business. Main class: EdgeProver.

import type { Edge } from './verdict.ts'

/** What is assumed at some point of an argument, and what was proved there. */
export abstract class ProofScope<S extends ProofScope<S>> {
  readonly proved = new Set<Edge>()

  constructor(readonly parent: S | null) {}

  /** What holds under fewer assumptions holds here. */
  hasProved(edge: Edge): boolean {
    for (let at: ProofScope<S> | null = this; at !== null; at = at.parent) {
      if (at.proved.has(edge)) return true
    }
    return false
  }
}

/**
 * What is wrong with the edge itself, null if it holds whenever the edges do that it hands to
 * `need`, each in the scope given with it.
 */
export type Rule<S> = (
  edge: Edge,
  scope: S,
  need: (edges: readonly Edge[], scope: S) => void,
) => string | null

interface Task<S> {
  readonly edge: Edge
  readonly scope: S
  entered: boolean
}

export class EdgeProver<S extends ProofScope<S>> {
  readonly problems: string[] = []
  private readonly open = new Set<Edge>() // edges whose premises are being proved
  private readonly tasks: Task<S>[] = []

  constructor(private readonly rule: Rule<S>) {}

  prove(edges: readonly Edge[], scope: S): void {
    for (const edge of edges) {
      this.push([edge], scope)
      this.run()
    }
  }

  private readonly push = (edges: readonly Edge[], scope: S): void => {
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

  private enter({ edge, scope }: Task<S>): string | null {
    this.open.add(edge)
    return this.rule(edge, scope, this.push)
  }
}
