// Transactions that were put down before COMMIT was sent: each is open until its outcome comes, and
// those that end with an abort have no other. An outcome may be of a transaction in an earlier
// piece of the file. Main class: PendingTxns.

import { ByteColumn } from '../../base/grow.ts'
import { ABORTED, STATUS_NAMES } from '../../history/history.ts'
import type { JsonScanner } from '../json.ts'
import type { Outcome } from '../source.ts'

const DONE = 0 // the outcome of the transaction is known
const OPEN = 1 // it is pending
const ABORTING = 2 // it is pending, and its last operation is an abort

export const ABORT_HINT = 'the status of a transaction that ends with {"abort":true} is "aborted"'

export class PendingTxns {
  private readonly states = new ByteColumn() // txn -> DONE, OPEN or ABORTING

  /** @param elsewhere where outcomes go whose transactions are not in this piece; null: nowhere */
  constructor(readonly elsewhere: Outcome[] | null) {}

  /** The next transaction: nothing is open about it. */
  add(): void {
    this.states.push(DONE)
  }

  open(txn: number): void {
    this.states.data[txn] = OPEN
  }

  /** It is open, and can only abort. */
  openAborting(txn: number): void {
    this.states.data[txn] = ABORTING
  }

  readonly isOpen = (txn: number): boolean => this.states.data[txn] !== DONE

  /**
   * Takes the outcome of a transaction.
   * @param name its id, as messages have it, with where it stands
   */
  settle(txn: number, status: number, name: string, scanner: JsonScanner, begin: number): void {
    const state = this.states.data[txn]!
    if (state === DONE) {
      throw scanner.fail(`${name} has an outcome already`, begin, null, 'duplicate-id')
    }
    if (state === ABORTING && status !== ABORTED) {
      const message = `${name} aborts, but its outcome is ${STATUS_NAMES[status]!}`
      throw scanner.fail(message, begin, ABORT_HINT)
    }
    this.states.data[txn] = DONE
  }
}
