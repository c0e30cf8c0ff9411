// The events of a Jepsen history as columns, in the order of the file: what happened (invoke, ok,
// fail, info), to which process, with which micro-operations. read.ts fills them, and
// pairs.ts makes transactions of them. An event that turns out to be cut off is taken back.

import type { Place } from '../../base/errors.ts'
import { ByteColumn, FloatColumn, IntColumn } from '../../base/grow.ts'

export const INVOKE = 0
export const OK = 1
export const FAIL = 2
export const EVENT_TYPES = ['invoke', 'ok', 'fail', 'info']

/** The kind of a read that returned nil: nothing yet, an empty list or the initial value. */
export const READ_NIL = 255

export class JepsenEvents {
  readonly type = new ByteColumn() // event -> INVOKE, OK, FAIL, INFO
  readonly process = new IntColumn() // event -> symbol of the process, NONE if it names none
  readonly index = new FloatColumn() // event -> :index, NaN if it has none
  readonly position = new IntColumn() // event -> how many came before it, nemesis and all
  readonly group = new IntColumn() // event -> symbol of its independent key, NONE
  readonly hasOps = new ByteColumn() // event -> 1 if its :value is a transaction
  readonly isSetRead = new ByteColumn() // event -> 1 if it read a set: its elements are its keys
  readonly opStart = new IntColumn() // event -> its first micro-operation
  readonly line = new IntColumn() // event -> line
  readonly column = new IntColumn() // event -> column

  readonly opKind = new ByteColumn() // micro-op -> READ, WRITE, APPEND, READ_LIST, READ_NIL
  readonly opKey = new IntColumn() // micro-op -> key
  readonly opValue = new IntColumn() // micro-op -> value id, or list
  readonly opLine = new IntColumn() // micro-op -> line
  readonly opColumn = new IntColumn() // micro-op -> column

  get count(): number {
    return this.type.length
  }

  get opCount(): number {
    return this.opKind.length
  }

  addOp(kind: number, key: number, value: number, line: number, column: number): void {
    this.opKind.push(kind)
    this.opKey.push(key)
    this.opValue.push(value)
    this.opLine.push(line)
    this.opColumn.push(column)
  }

  /** Leaves out the micro-operations from this one on. */
  dropOps(from: number): void {
    for (const column of [this.opKind, this.opKey, this.opValue, this.opLine, this.opColumn]) {
      column.length = from
    }
  }

  opEnd(event: number): number {
    return event + 1 < this.count ? this.opStart.data[event + 1]! : this.opCount
  }

  placeOf(event: number): Place {
    return { line: this.line.data[event]!, column: this.column.data[event]! }
  }

  placeOfOp(op: number): Place {
    return { line: this.opLine.data[op]!, column: this.opColumn.data[op]! }
  }
}
