// Integer keys in their order, for range reads to be spelled out key by key. Main class:
// IntegerKeys.

/** A key with its name. */
export interface NamedKey {
  readonly name: number | bigint
  readonly key: number
}

export class IntegerKeys {
  private readonly sorted: readonly NamedKey[]

  constructor(named: readonly NamedKey[]) {
    this.sorted = named.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Visits the keys from the least to the most, both included. */
  forEach(least: number | bigint, most: number | bigint, visit: (key: number) => void): void {
    const { sorted } = this
    let [from, to] = [0, sorted.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (sorted[middle]!.name < least) from = middle + 1
      else to = middle
    }
    for (; from < sorted.length && sorted[from]!.name <= most; from++) visit(sorted[from]!.key)
  }
}
