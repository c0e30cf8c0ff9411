// Why the solver was told of an edge or a clause, so that what it finds impossible can be explained
// in terms of the history. Kept only while explaining. Main class: Origins.

import type { Cause } from './causes.ts'

/** The rule by which an edge holds when its literals do. */
export type Origin =
  | { readonly rule: 'session' }
  | { readonly rule: 'read'; readonly pair: number; readonly source: number }
  | { readonly rule: 'order'; readonly from: number; readonly to: number }
  | {
      readonly rule: 'overwritten' // `by` replaced what the reader read from its source
      readonly reader: number
      readonly key: number
      readonly pair: number // NONE if the reader is listed with the version
      readonly source: number
      readonly by: number
    }
  | {
      readonly rule: 'visible' // `by` was visible to the reader that read from the source
      readonly pair: number
      readonly source: number
      readonly by: number
      readonly via: readonly Cause[]
    }

interface Note {
  readonly literals: readonly number[]
  readonly origin: Origin
}

export class Origins {
  private readonly edges = new Map<number, Note[]>() // from · nodeCount + to -> what brings it in
  private readonly clauses: Note[] = []
  /** Clauses that go without saying: some version was seen, who was read from took effect. */
  readonly axioms: (readonly number[])[] = []

  constructor(private readonly nodeCount: number) {}

  addEdge(literals: readonly number[], from: number, to: number, origin: Origin): void {
    const id = from * this.nodeCount + to
    const notes = this.edges.get(id)
    if (notes) notes.push({ literals, origin })
    else this.edges.set(id, [{ literals, origin }])
  }

  addClause(literals: readonly number[], origin: Origin): void {
    this.clauses.push({ literals, origin })
  }

  /** Why the edge is there under these literals; null if it is given. */
  ofEdge(literals: readonly number[], from: number, to: number): Origin | null {
    const notes = this.edges.get(from * this.nodeCount + to) ?? []
    return notes.find((note) => areSame(note.literals, literals))?.origin ?? null
  }

  ofClause(literals: readonly number[]): Origin | null {
    return this.clauses.find((note) => areSame(note.literals, literals))?.origin ?? null
  }
}

/** Whether two lists have the same members. */
function areSame(a: readonly number[], b: readonly number[]): boolean {
  return a.every((literal) => b.includes(literal)) && b.every((literal) => a.includes(literal))
}
