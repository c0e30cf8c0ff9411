// Who uses what at the moment: for each key, or table, the transactions in progress that use it,
// newest first. Those that are over are dropped when somebody looks. Main class: Users.

import { ByteColumn, IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'

export class Users {
  private readonly head: Int32Array // thing -> newest node
  private readonly next = new IntColumn(1024) // node -> older one
  private readonly txn = new IntColumn(1024)
  private readonly uses = new ByteColumn(1024) // node -> how it uses it

  /** @param finish txn -> when it is over; NaN: never; null: not known of any */
  constructor(
    count: number,
    private readonly finish: Float64Array | null,
  ) {
    this.head = new Int32Array(count).fill(NONE)
  }

  add(thing: number, txn: number, uses: number): void {
    this.next.push(this.head[thing]!)
    this.head[thing] = this.next.length - 1
    this.txn.push(txn)
    this.uses.push(uses)
  }

  /** The newest user of a thing that was not over then; NONE if there is none. */
  newest(thing: number, then: number): number {
    let node = this.head[thing]!
    while (node !== NONE && this.isOver(node, then)) node = this.next.data[node]!
    this.head[thing] = node
    return node
  }

  /** The one before it. */
  older(node: number, then: number): number {
    const next = this.next.data
    let older = next[node]!
    while (older !== NONE && this.isOver(older, then)) older = next[older]!
    next[node] = older
    return older
  }

  txnOf(node: number): number {
    return this.txn.data[node]!
  }

  usesOf(node: number): number {
    return this.uses.data[node]!
  }

  /** Says of a user once more how it uses the thing; true if that was not known. */
  mark(node: number, uses: number): boolean {
    const before = this.uses.data[node]!
    this.uses.data[node] = before | uses
    return (before & uses) === 0
  }

  /** At the instant of its finish it is not: equal instants overlap. */
  private isOver(node: number, then: number): boolean {
    return this.finish !== null && this.finish[this.txn.data[node]!]! < then
  }
}
