// Which statements change what the names of tables mean: those that set the search path, or who one
// is, and those that make, alter and drop tables. Main function: movesNames.

import type { Word } from './words.ts'

/** What a statement may do beyond what is recorded of it. */
export type Effect =
  | 'nothing' // to rows
  | 'reads'
  | 'writes' // tables that it names
  | 'anything'

/** What a statement may change: where tables are looked for, or which tables there are. */
export type Moves = 'path' | 'tables'

const SETTINGS = new Set(
  'search_path schema role authorization session_authorization all temp temporary'.split(' '),
)

/** Null: names mean what they meant before. */
export function movesNames(words: readonly Word[], effect: Effect): Moves | null {
  if (effect === 'anything') return 'tables'
  const values = words.map(({ value }) => value)
  const isSetting = ['set', 'reset', 'discard'].includes(values[0] ?? '') || values.includes(';')
  if (isSetting && values.some((value) => SETTINGS.has(value))) return 'path'
  if (values.includes('pg_settings')) return 'path'
  return words.some((_, i) => setsPath(words, i)) ? 'path' : null
}

/** set_config of something that matters here, or of nobody knows what. */
function setsPath(words: readonly Word[], i: number): boolean {
  if (words[i]!.value !== 'set_config' || words[i + 1]?.value !== '(') return false
  const setting = words[i + 2]
  const isPlain = setting?.kind === 'string' && words[i + 3]?.value === ','
  return !isPlain || SETTINGS.has(setting.value.slice(1, -1).toLowerCase())
}
