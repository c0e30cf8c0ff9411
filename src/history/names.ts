// Names for what the input numbers or does not name: transaction 7 is T7, one without a name #3,
// session 1 is s1. An input may also use such a name itself, as a string; then the made-up one gets
// an apostrophe, so that no two go by one name.

import type { SymbolTable } from './symbols.ts'

const MADE_UP = /^(?:[Ts]-?|#)\d+'*$/

export class TakenNames {
  private taken: Set<string> | null = null // names in the input that could have been made up

  constructor(private readonly names: SymbolTable) {}

  /** The name, or the next one like it that the input does not use. */
  free(name: string): string {
    this.taken ??= this.find()
    let free = name
    while (this.taken.has(free)) free += "'"
    return free
  }

  private find(): Set<string> {
    const taken = new Set<string>()
    for (let symbol = 0; symbol < this.names.size; symbol++) {
      const name = this.names.get(symbol)
      if (typeof name === 'string' && MADE_UP.test(name)) taken.add(name)
    }
    return taken
  }
}
