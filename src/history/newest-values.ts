// The large integer last written to each key, and its id. A read mostly sees the newest version, so
// one row of its key answers it, where a table of all values would be a cache miss a question.

import { enlarged } from '../base/grow.ts'
import { NONE } from './history.ts'

const STRIDE = 4 // of a row
const ID = 0 // the value's id, plus 1; 0 if nothing was written yet
const LOW = 1
const HIGH = 2

export class NewestValues {
  private rows = new Int32Array(1024 * STRIDE)

  /** The id of the value if it is the key's newest, else NONE. */
  find(key: number, low: number, high: number): number {
    const { rows } = this
    const at = key * STRIDE
    if (at >= rows.length || rows[at + LOW] !== low || rows[at + HIGH] !== high) return NONE
    return rows[at + ID]! - 1
  }

  set(key: number, low: number, high: number, id: number): void {
    const at = key * STRIDE
    if (at >= this.rows.length) {
      this.rows = enlarged(this.rows, Math.max(at + STRIDE, this.rows.length * 2))
    }
    const { rows } = this
    rows[at + ID] = id + 1
    rows[at + LOW] = low
    rows[at + HIGH] = high
  }
}
