// What the editor offers at a place in a line of notation: sessions at its beginning, operations,
// and, in brackets, what may be said of a transaction. Main function: completionsAt.

import { STATUS_NAMES } from '../../history/history.ts'
import { LEVELS } from '../../levels/levels.ts'

export interface Completion {
  readonly label: string
  readonly detail: string
}

export interface Completions {
  /** How many characters before the place they replace. */
  readonly length: number
  readonly options: readonly Completion[]
}

const OPERATIONS: readonly Completion[] = [
  { label: 'r(', detail: 'r(key,value) read a value, r(key,[1,2]) a list' },
  { label: 'w(', detail: 'w(key,value) wrote it' },
  { label: 'append(', detail: 'append(key,value) to a list' },
  { label: 'inc(', detail: 'inc(key,number) added to a counter' },
  { label: 'cas(', detail: 'cas(key,old,new) compared and set' },
  { label: 'insert(', detail: 'insert(key,value) if there was none' },
  { label: 'range(', detail: 'range(1,5,[2:7]) read all keys from 1 to 5' },
  { label: 'rows(', detail: 'rows(key,[…]) read so many rows' },
]

const ATTRIBUTES: readonly Completion[] = [
  ...STATUS_NAMES.map((label) => ({ label, detail: 'how it ended' })),
  { label: 'id=', detail: 'its name' },
  { label: 'start=', detail: 'when it began' },
  { label: 'finish=', detail: 'when it ended' },
  { label: 'level=', detail: 'its own level' },
  { label: 'after=', detail: 'transactions that ended before it began' },
  { label: 'audit', detail: 'read everything at the end' },
]

/** @param before the line as far as the cursor; null where nothing is offered */
export function completionsAt(before: string): Completions | null {
  if (/^\s*[{#]/.test(before)) return null
  const level = /\blevel=([\w.+-]*)$/.exec(before)
  if (level) return { length: level[1]!.length, options: levelOptions() }
  const word = /[A-Za-z]*$/.exec(before)![0]
  const rest = before.slice(0, before.length - word.length)
  const isInBrackets = /\[[^\]()]*$/.test(rest)
  if (isInBrackets) return { length: word.length, options: ATTRIBUTES }
  if (/[:|)]\s*$/.test(rest)) return { length: word.length, options: OPERATIONS }
  if (rest.trim() === '') {
    const initial = { label: 'initial ', detail: 'the value that keys have at first' }
    return { length: word.length, options: [{ label: 's1: ', detail: 'a session' }, initial] }
  }
  return null
}

export function levelOptions(): Completion[] {
  return LEVELS.filter(({ id }) => id !== 'mixed').map(({ id, name }) => ({
    label: id,
    detail: name,
  }))
}
