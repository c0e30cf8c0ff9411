// `--levels-file`: which level transactions of each type of an SQL application ask for.
//
//   {"new order": "ser", "payment": "si", "*": "rc"}
//
// Levels are named by any word that --db-level or --store takes. Types are those of the shape, in
// any spelling of their spaces; `*` is for all others. The file is read piece by piece, so that
// whatever is wrong with it has a place. Main function: readLevelsFile.

import { readFileSync } from 'node:fs'
import { InputError, type Place, UsageError } from '../base/errors.ts'
import { findMeant } from '../base/slips.ts'
import { fileError } from '../formats/open.ts'
import { type LevelId, OWN_LEVELS } from '../levels/levels.ts'
import { OTHERS, renderByType } from '../workload/sql/levels.ts'
import { isSqlShape, SQL_SHAPES } from '../workload/sql/parameters.ts'
import { kindNames } from '../workload/sql/workload.ts'

/**
 * The levels as --db-level and --store take them: `new order=ser,*=rc`.
 * @param read what a word for a level means
 */
export function readLevelsFile(
  path: string,
  shape: string,
  read: (word: string) => LevelId,
): string {
  if (!isSqlShape(shape)) {
    const hint = `types are those of the shapes ${SQL_SHAPES.join(', ')}`
    throw new UsageError(`--levels-file is for SQL transactions, not for ${shape}`, hint)
  }
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw fileError(error)
  }
  try {
    return renderByType(new LevelsFile(text, kindNames(shape), read).parse())
  } catch (error) {
    if (error instanceof InputError) error.path ??= path
    throw error
  }
}

const TEXT = /"(?:[^"\\\n]|\\.)*"/y

class LevelsFile {
  private at = 0

  constructor(
    private readonly text: string,
    private readonly kinds: readonly string[],
    private readonly read: (word: string) => LevelId,
  ) {}

  parse(): Map<string, LevelId> {
    const levels = new Map<string, LevelId>()
    this.expect('{')
    if (!this.accepts('}')) {
      do {
        const begin = this.skipSpace()
        const kind = this.kindOf(this.takeText('a type of transactions'), begin)
        if (levels.has(kind)) throw this.fail(`the type "${kind}" has two levels`, begin, null)
        this.expect(':')
        const levelAt = this.skipSpace()
        levels.set(kind, this.levelOf(this.takeText('a level'), levelAt))
      } while (this.accepts(','))
      this.expect('}')
    }
    if (this.skipSpace() < this.text.length) throw this.unexpected('nothing behind the object')
    const missing = this.kinds.filter((kind) => !levels.has(kind))
    if (missing.length > 0 && !levels.has(OTHERS)) {
      const hint = `add them, or "${OTHERS}" for all others`
      throw this.fail(`no level for ${missing.join(', ')}`, 0, hint)
    }
    return levels
  }

  /** The type of that name, however its words are joined. */
  private kindOf(name: string, begin: number): string {
    if (name === OTHERS) return name
    const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
    const found = this.kinds.find((kind) => plain(kind) === plain(name))
    if (found !== undefined) return found
    const meant = findMeant(name, this.kinds)
    const known = `there are ${[...this.kinds, OTHERS].join(', ')}`
    const hint = meant ? `did you mean "${meant}"?` : known
    throw this.fail(`unknown type of transactions ${JSON.stringify(name)}`, begin, hint)
  }

  private levelOf(name: string, begin: number): LevelId {
    let level: LevelId
    try {
      level = this.read(name)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      throw this.fail(error.message, begin, error.hint)
    }
    if (OWN_LEVELS.includes(level)) return level
    const hint = `there are ${OWN_LEVELS.join(', ')}`
    throw this.fail(`SQL transactions cannot be at level ${JSON.stringify(name)}`, begin, hint)
  }

  private takeText(what: string): string {
    TEXT.lastIndex = this.at
    const [quoted] = TEXT.exec(this.text) ?? []
    if (quoted === undefined) throw this.unexpected(`${what} in quotes`)
    this.at += quoted.length
    try {
      return JSON.parse(quoted) as string
    } catch {
      throw this.fail('a bad escape in a string', this.at - quoted.length, null)
    }
  }

  private skipSpace(): number {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++
    return this.at
  }

  private accepts(symbol: string): boolean {
    if (this.text[this.skipSpace()] !== symbol) return false
    this.at++
    return true
  }

  private expect(symbol: string): void {
    if (!this.accepts(symbol)) throw this.unexpected(symbol)
  }

  private unexpected(expected: string): InputError {
    const found = this.text[this.at]
    const what = found === undefined ? 'the end of the file' : JSON.stringify(found)
    const hint = 'the file looks like {"new order": "ser", "*": "rc"}'
    return this.fail(`expected ${expected}, found ${what}`, this.at, hint)
  }

  private fail(message: string, at: number, hint: string | null): InputError {
    return new InputError('bad-levels', message, this.placeOf(at), hint)
  }

  private placeOf(at: number): Place {
    const lines = this.text.slice(0, at).split('\n')
    return { line: lines.length, column: lines.at(-1)!.length + 1 }
  }
}
