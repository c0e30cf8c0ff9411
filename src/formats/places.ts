// Where operations stand, at next to no memory: formats with one operation a line store only the
// lines that gave none.

import type { Place } from '../base/errors.ts'
import { FloatColumn, IntColumn } from '../base/grow.ts'
import { firstWhere } from '../base/search.ts'
import type { Places } from '../history/history.ts'
import { placeAt } from './source.ts'

/** One operation a line: the line is the arrival plus the lines skipped before it. */
export class LinePlaces implements Places {
  private readonly arrivals = new IntColumn(16) // skip -> arrival that comes after it
  private readonly lines = new FloatColumn(16) // skip -> lines skipped up to and including it
  private skipped = 0

  /** @param called what the n-th line is called; its number unless told */
  constructor(private readonly called: (line: number) => number = (line) => line) {}

  /** A line that gave no operation, before the operation `arrival`. */
  skip(arrival: number): void {
    const last = this.arrivals.length - 1
    this.skipped++
    if (last >= 0 && this.arrivals.data[last] === arrival) {
      this.lines.data[last] = this.skipped
    } else {
      this.arrivals.push(arrival)
      this.lines.push(this.skipped)
    }
  }

  lineOf(arrival: number): number {
    const { arrivals, lines } = this
    const after = firstWhere(0, arrivals.length, (i) => arrivals.data[i]! > arrival)
    return this.called(arrival + 1 + (after > 0 ? lines.data[after - 1]! : 0))
  }

  place(arrival: number): Place {
    return { line: this.lineOf(arrival), column: 1 }
  }

  /** What is known of operations, in the order of their arrival, as known of lines. */
  byLine(ofArrival: Int32Array, ofSkipped: number): Int32Array {
    const { arrivals, lines } = this
    const byLine = new Int32Array(ofArrival.length + this.skipped).fill(ofSkipped)
    let from = 0
    let skipped = 0
    for (let skip = 0; skip < arrivals.length; skip++) {
      const to = arrivals.data[skip]!
      byLine.set(ofArrival.subarray(from, to), from + skipped)
      from = to
      skipped = lines.data[skip]!
    }
    byLine.set(ofArrival.subarray(from), from + skipped)
    return byLine
  }
}

/** Operations anywhere, each with its line and column. */
export class ToldPlaces implements Places {
  private readonly lines = new IntColumn() // arrival -> line
  private readonly columns = new IntColumn() // arrival -> column

  push(line: number, column: number): void {
    this.lines.push(line)
    this.columns.push(column)
  }

  place(arrival: number): Place {
    return { line: this.lines.data[arrival]!, column: this.columns.data[arrival]! }
  }
}

/** Operations anywhere in one text, found in one walk along it. */
export class TextPlaces extends ToldPlaces {
  private at = 0
  private last: Place = { line: 1, column: 1 } // of bytes[at]

  /** The next operation stands at bytes[at], behind the one before. */
  add(bytes: Uint8Array, at: number): void {
    const { line, column } = this.last
    this.last = placeAt(bytes, this.at, at, line, column)
    this.at = at
    this.push(this.last.line, this.last.column)
  }
}
