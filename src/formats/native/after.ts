// "after": [ids] in a line of the native format: who else comes before the transaction in session
// order. Ids may name transactions of later lines, so they are looked up when all are known.

import { InputError, type Place } from '../../base/errors.ts'
import type { HistoryBuilder } from '../../history/builder.ts'
import { NONE } from '../../history/history.ts'
import { showValue } from '../../history/initial.ts'
import type { JsonScanner } from '../json.ts'
import { forEachItem } from '../json-walk.ts'

export class AfterReader {
  private readonly named: { txn: number; label: number; place: Place }[] = []
  private ofLine = 0 // where those of the line begin

  constructor(private readonly scanner: JsonScanner) {}

  get isUsed(): boolean {
    return this.named.length > 0
  }

  /** Takes the list. @param takeId takes an id, and returns its label */
  take(takeId: () => number): void {
    forEachItem(this.scanner, () => {
      this.scanner.skipSpace()
      const place = this.scanner.here()
      this.named.push({ txn: NONE, label: takeId(), place })
    })
  }

  /** The line is about this transaction. */
  assign(txn: number): void {
    for (; this.ofLine < this.named.length; this.ofLine++) this.named[this.ofLine]!.txn = txn
  }

  /** @param find the transaction of a label, or NONE */
  resolve(builder: HistoryBuilder, find: (label: number) => number): void {
    for (const { txn, label, place } of this.named) {
      const earlier = find(label)
      if (earlier === NONE) {
        const shown = showValue(builder.labels.get(label))
        const hint = '"after" lists ids of other transactions'
        throw new InputError('unknown-id', `no transaction has the id ${shown}`, place, hint)
      }
      builder.addAfter(txn, earlier)
    }
  }
}
