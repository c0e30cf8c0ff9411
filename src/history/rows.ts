// Reads of a key that did not return exactly one row, which only a broken database does: none,
// though nobody deleted the row, or several under one key. Each is one operation, READ_ROWS, whose
// value is a set of rows; what a row held is a list, a register's of one element.

/** What reads returned that did not return exactly one row. */
export interface RowSets {
  readonly setStart: Int32Array // set -> its first row; one more entry at the end
  readonly rowList: Int32Array // row -> the list of what it held
  readonly setIsList: Uint8Array // set -> 1 if rows of its key hold lists
}

/** Collects sets of rows while a history is built. They are rare: a plain list of lists will do. */
export class RowColumns {
  private readonly sets: { readonly lists: number[]; readonly isList: boolean }[] = []

  /** The set of these rows. */
  add(lists: readonly number[], isList: boolean): number {
    return this.sets.push({ lists: [...lists], isList }) - 1
  }

  addRow(set: number, list: number): void {
    this.sets[set]!.lists.push(list)
  }

  finish(): RowSets {
    const setStart = new Int32Array(this.sets.length + 1)
    this.sets.forEach(({ lists }, set) => {
      setStart[set + 1] = setStart[set]! + lists.length
    })
    return {
      setStart,
      rowList: Int32Array.from(this.sets.flatMap(({ lists }) => lists)),
      setIsList: Uint8Array.from(this.sets, ({ isList }) => (isList ? 1 : 0)),
    }
  }
}
