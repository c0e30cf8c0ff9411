// Who replaced what it had read, among the writers of one key whose order no list shows: a writer
// that read another one's version comes after it, or reads and versions would form a cycle. These
// orders make a forest, in which writers on one line need not be ordered any more. Numbered by a
// walk through the forest, so that two writers are compared at once. O(writers). Main class:
// Replacements.

export class Replacements {
  /** Writers that read nobody's version among these. */
  readonly roots: number[]
  /** How many pairs of writers are not on one line. */
  readonly openCount: number
  private readonly enter = new Map<number, number>() // writer -> when the walk came to it
  private readonly leave = new Map<number, number>() // writer -> the last number given below it

  /** @param links from a writer to one that read its version, each of the later ones once */
  constructor(
    writers: readonly number[],
    readonly links: readonly { readonly from: number; readonly to: number }[],
  ) {
    const children = new Map<number, number[]>()
    const isChild = new Set<number>()
    for (const { from, to } of links) {
      const known = children.get(from)
      if (known) known.push(to)
      else children.set(from, [to])
      isChild.add(to)
    }
    this.roots = writers.filter((txn) => !isChild.has(txn))
    let onOneLine = 0
    const path: { txn: number; next: number }[] = []
    for (const root of this.roots) {
      path.push({ txn: root, next: 0 })
      while (path.length > 0) {
        const at = path.at(-1)!
        if (at.next === 0) {
          this.enter.set(at.txn, this.enter.size)
          onOneLine += path.length - 1
        }
        const child = children.get(at.txn)?.[at.next++]
        if (child !== undefined) path.push({ txn: child, next: 0 })
        else {
          this.leave.set(at.txn, this.enter.size - 1)
          path.pop()
        }
      }
    }
    this.openCount = (writers.length * (writers.length - 1)) / 2 - onOneLine
  }

  /** Whether the two are on one line. Who read each other's versions is on none. */
  areOrdered(a: number, b: number): boolean {
    return this.isBefore(a, b) || this.isBefore(b, a)
  }

  private isBefore(a: number, b: number): boolean {
    const at = this.enter.get(b)
    const from = this.enter.get(a)
    return at !== undefined && from !== undefined && from <= at && at <= this.leave.get(a)!
  }
}
