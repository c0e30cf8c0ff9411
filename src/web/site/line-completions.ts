// What the editor offers at a place in a JSON line of a history of SQL statements: fields by what
// they are in (the line, a statement, a row), levels and outcomes. Main function:
// lineCompletionsAt.

import { STATUS_NAMES } from '../../history/history.ts'
import { SQL_TYPES } from '../../sql/value.ts'
import { type Completion, type Completions, levelOptions } from './completions.ts'

const field = (name: string, detail: string, value = ''): Completion => ({
  label: `"${name}":${value}`,
  detail,
})

/** Of the object that a line is. */
const OF_LINE: readonly Completion[] = [
  field('isobar', 'begins the first line', '1'),
  field('tables', 'begins the history of statements', '{'),
  field('session', 'whose transaction it is'),
  field('id', 'its name', '"'),
  field('level', 'the level it ran at', '"'),
  field('status', 'how it ended', '"'),
  field('start', 'when it began'),
  field('finish', 'when it ended'),
  field('after', 'transactions that ended before it began', '["'),
  field('ops', 'its statements', '['),
]

/** Of a statement, an object in `ops`. */
const OF_STATEMENT: readonly Completion[] = [
  field('select', 'the table it reads', '"'),
  field('insert', 'the table it adds rows to', '"'),
  field('update', 'the table whose rows it changes', '"'),
  field('delete', 'the table whose rows it removes', '"'),
  field('refused', 'the table it could not add a row to, because one was there', '"'),
  field('where', 'its clause', '"'),
  field('params', 'what $1, $2, … stand for', '['),
  field('write', 'the id of what it wrote', '"'),
  field('rows', 'the rows it saw or wrote', '['),
  field('unread', 'rows that satisfy the clause and were not returned', '['),
  field('abort', 'the program rolled back', 'true'),
]

/** Of a row that a statement saw. */
const OF_ROW: readonly Completion[] = [
  field('key', 'its primary key', '['),
  field('from', 'the id of the write that made the version, or null'),
  field('row', 'the row as it was written', '{'),
]

/** Of a table in the first line. */
const OF_TABLE: readonly Completion[] = [
  field('columns', 'their types, by name', '{'),
  field('key', 'the columns of the primary key', '["'),
  field('rows', 'the rows that were there at first', '['),
]
const TYPES = SQL_TYPES.map((label) => ({ label, detail: 'a type' }))

/** What a place is in, the outermost first: `['{', '[ops', '{']`; null inside of a text. */
function pathTo(before: string): string[] | null {
  const path: string[] = []
  let name = ''
  for (const { 0: token, index } of before.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/g)) {
    if (token.startsWith('"')) {
      if (token.length === 1 || !token.endsWith('"')) return null
      name = before[index + token.length] === ':' ? token.slice(1, -1) : ''
    } else {
      if (token === '{' || token === '[') path.push(token + name)
      else path.pop()
      name = ''
    }
  }
  return path[0] === '{' ? path : null
}

/** @param before the line as far as the cursor; null where nothing is offered */
export function lineCompletionsAt(before: string): Completions | null {
  const value = /"(level|status)":"([\w.+-]*)$/.exec(before)
  if (value) return { length: value[2]!.length, options: valuesOf(value[1]!) }
  const start = /(?:^|[{,[])\s*("?\w*)$/.exec(before)
  const type = /"columns":\{[^}]*:"(\w*)$/.exec(before)
  if (type) return { length: type[1]!.length, options: TYPES }
  if (!start) return null
  const [, word] = start as unknown as [string, string]
  const path = pathTo(before.slice(0, before.length - word.length))
  if (path === null) return null
  const options = fieldsIn(path)
  return options && { length: word.length, options }
}

function fieldsIn(path: readonly string[]): readonly Completion[] | null {
  if (path.length === 1) return OF_LINE
  const [, second, third, fourth, fifth] = path
  if (second === '[ops' && third === '{') {
    if (path.length === 3) return OF_STATEMENT
    const isRow = fourth === '[rows' || fourth === '[unread'
    return isRow && fifth === '{' && path.length === 5 ? OF_ROW : null
  }
  return second === '{tables' && path.length === 3 ? OF_TABLE : null
}

function valuesOf(name: string): readonly Completion[] {
  if (name === 'level') return levelOptions()
  return STATUS_NAMES.map((label) => ({ label, detail: 'how it ended' }))
}
