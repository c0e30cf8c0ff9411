// What is known of each row: the versions that recorded statements made of it, and the one that was
// there at first. Rows come and go in an application that runs for long, so now and then what
// nobody can need any more is dropped, and, where a disk may be used, rows that were not met of
// late go there and come back when they are met (row-file.ts): memory grows with neither rows nor
// statements. A disk that fails changes no statement of the application: what cannot be written
// stays in memory, what cannot be read is known no more, and makes the history partial. Main class:
// RowStates.

import { type FiledRow, RowFile } from './row-file.ts'

/** A version that a recorded statement made. */
export interface Entry {
  readonly xmin: string
  write: number
  /** When it was last written, as the recorder counts. */
  at: number
  /** When it was replaced; infinite while it was not. */
  replacedAt: number
}

export interface RowState {
  entries: Entry[]
  /** The id of its initial version; null: not known. */
  initial: string | null
  /** Whether its initial version was replaced. */
  isReplaced: boolean
  /** Whether the history says what was there at first. */
  isDeclared: boolean
  /** Whether the disk knows it, as it is or as it was. */
  isFiled: boolean
  /** Whether it was met since rows were last gone through. */
  isRecent: boolean
}

/** Rows that come to be known before they are gone through again. */
const USUAL_COUNT = 16_384

export class RowStates {
  private readonly rows = new Map<string, RowState>()
  private file: RowFile | null = null
  private mayUseDisk = false
  private dueAt: number
  /** Whether something was on disk that cannot be read. */
  isLost = false

  constructor(
    private readonly count = USUAL_COUNT,
    private readonly open = () => new RowFile(),
  ) {
    this.dueAt = count
  }

  /** From now on rows may go to disk. */
  useDisk(): void {
    this.mayUseDisk = true
  }

  /** Forgets all rows, and gives the disk back. */
  clear(): void {
    this.rows.clear()
    this.file?.close()
    this.file = null
    this.dueAt = this.count
    this.isLost = false
  }

  find(name: string): RowState | undefined {
    const state = this.rows.get(name)
    if (state === undefined) return this.file === null ? undefined : this.fetch(name, this.file)
    state.isRecent = true
    return state
  }

  /** The state of a row that may not have been met before. */
  get(name: string): RowState {
    const found = this.find(name)
    if (found !== undefined) return found
    const state: RowState = {
      entries: [],
      initial: null,
      isReplaced: false,
      isDeclared: false,
      isFiled: false,
      isRecent: true,
    }
    this.rows.set(name, state)
    return state
  }

  private fetch(name: string, file: RowFile): RowState | undefined {
    let filed: FiledRow | null = null
    try {
      filed = file.find(name)
    } catch {
      this.isLost = true
    }
    if (filed === null) return undefined
    const { initial, isReplaced, isDeclared, xmin, write } = filed
    // Before any statement that is under way now: else it would not have gone to disk.
    const entry = { xmin: xmin ?? '', write, at: 0, replacedAt: Number.POSITIVE_INFINITY }
    const entries = xmin === null ? [] : [entry]
    const state = { entries, initial, isReplaced, isDeclared, isFiled: true, isRecent: true }
    this.rows.set(name, state)
    return state
  }

  /** Whether rows are to be gone through. */
  get isDue(): boolean {
    return this.rows.size >= this.dueAt
  }

  /** @param oldest when the oldest transaction or statement began that is not done with */
  sweep(oldest: number): void {
    const leaving: [string, FiledRow][] = []
    for (const [name, state] of this.rows) {
      const { entries, isRecent } = state
      if (entries.some(({ replacedAt }) => replacedAt < oldest)) {
        state.entries = entries.filter(({ replacedAt }) => replacedAt >= oldest)
      }
      state.isRecent = false
      if (isEmpty(state)) this.rows.delete(name)
      else if (this.mayUseDisk && !isRecent && isAtRest(state, oldest)) {
        leaving.push([name, filedRow(state)])
      }
    }
    if (leaving.length > 0) this.putAway(leaving)
    const { size } = this.rows
    this.dueAt = size + Math.max(this.count, this.mayUseDisk ? 0 : size >> 1)
  }

  private putAway(leaving: readonly (readonly [string, FiledRow])[]): void {
    try {
      this.file ??= this.open()
      this.file.put(leaving)
      for (const [name] of leaving) this.rows.delete(name)
    } catch {
      this.mayUseDisk = false // they stay in memory, which goes before the disk
    }
  }
}

/** Whether it says no more than a row that was never met. */
function isEmpty({ entries, initial, isDeclared, isFiled }: RowState): boolean {
  return entries.length === 0 && initial === null && !isDeclared && !isFiled
}

/** Whether whoever asks from now on sees one version of it. */
function isAtRest({ entries }: RowState, oldest: number): boolean {
  if (entries.length > 1) return false
  return entries.every(({ at, replacedAt }) => at < oldest && !Number.isFinite(replacedAt))
}

function filedRow({ entries, initial, isReplaced, isDeclared }: RowState): FiledRow {
  const { xmin, write } = entries[0] ?? { xmin: null, write: 0 }
  return { initial, isReplaced, isDeclared, xmin, write }
}
