// Which transaction has which id. Main class: NamedTxns.

import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { SymbolTable } from '../../history/symbols.ts'
import { INTERNED } from '../../history/values.ts'

export class NamedTxns {
  private readonly named = new IntColumn() // interned id -> txn
  private readonly numbers: SymbolTable // ids that are small integers -> symbol
  private readonly numbered = new IntColumn() // symbol -> txn

  /** @param directLimit of the table of integers (symbols.ts) */
  constructor(directLimit: number | undefined) {
    this.numbers = new SymbolTable(directLimit)
  }

  /** The transaction of that id, NONE if there is none. */
  find(label: number): number {
    return this.claim(label, NONE)
  }

  /** The transaction of that id; `txn` from now on, if there was none. */
  claim(label: number, txn: number): number {
    const isText = label >= INTERNED
    const column = isText ? this.named : this.numbered
    const symbol = isText ? label - INTERNED : this.numbers.ofSmall(label)
    while (column.length <= symbol) column.push(NONE)
    if (column.data[symbol] === NONE) column.data[symbol] = txn
    return column.data[symbol]!
  }
}
