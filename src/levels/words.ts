// From the words people know to a level: our ids and names, Jepsen's names with Elle's meaning
// (without session order unless they say so), SQL's names as a database means them. A word that has
// two meanings is refused, with both. Main function: readLevel.

import { UsageError } from '../base/errors.ts'
import { findMeant, hintFor } from '../base/slips.ts'
import {
  DATABASE_LEVELS,
  type DatabaseWord,
  findDatabase,
  findOwnLevel,
  hyphenate,
} from './databases.ts'
import { findJepsenModel, JEPSEN_MODELS, type JepsenName, SINGLE_OBJECT } from './jepsen.ts'
import { findLevel, isSessionGuarantee, LEVELS, type LevelId, type LevelRequest } from './levels.ts'
import { readBound } from './staleness.ts'

/** What may be written where a level is expected. */
export type LevelWord =
  | LevelId
  | JepsenName
  | `stale:${string}`
  | `${DatabaseWord | 'jepsen' | 'elle'}:${string}`

/** One way to read a word. */
interface Reading {
  /** A word that means this and nothing else. */
  readonly word: string
  readonly about: string
  readonly request: LevelRequest
}

/** The level that a word asks for. Throws UsageError: with what was meant, or with all meanings. */
export function readLevel(word: string): LevelRequest {
  const text = word.trim()
  const id = findLevel(text.toLowerCase())
  if (id) return { level: id.id }
  const [before = '', ...after] = text.split(':')
  if (after.length > 0) return readQualified(before, after.join(':'))
  // Jepsen's names are written so and not otherwise; with spaces they are everybody's words.
  const model = isDisputed(text) ? null : findJepsenModel(text)
  if (model) return { level: model.level, sessionOrder: model.sessionOrder }
  const readings = readingsOf(text)
  const [first, second] = readings
  if (first && !second) return first.request
  if (first) {
    const ways = readings.map(({ word: own, about }) => `${own} (${about})`).join(', ')
    throw new UsageError(`${JSON.stringify(text)} has more than one meaning`, `say which: ${ways}`)
  }
  refuseSingleObject(text)
  throw new UsageError(`unknown level ${JSON.stringify(text)}`, hintFor(text, levelWords()))
}

/** In `ser+rc` and `payment=ser,*=rc`, whatever words name the levels become ids. */
export function translateLevels(text: string, read: (word: string) => LevelId): string {
  if (text === 'mixed') return text
  if (!text.includes('=')) return text.split('+').map(read).join('+')
  return text
    .split(',')
    .map((part) => {
      const [name, ...level] = part.split('=')
      return `${name}=${read(level.join('='))}`
    })
    .join(',')
}

/** The same, null for what has no meaning or more than one. */
export function findRequest(word: string): LevelRequest | null {
  try {
    return readLevel(word)
  } catch (error) {
    if (error instanceof UsageError) return null
    throw error
  }
}

/** The words without a colon that have one meaning. */
export function levelWords(): string[] {
  const models = JEPSEN_MODELS.map(({ name }) => name).filter((name) => !isDisputed(name))
  return [...LEVELS.map(({ id }) => id), ...models]
}

/** Whether databases give different levels by this name, so that nobody can say it without them. */
function isDisputed(name: string): boolean {
  const given = DATABASE_LEVELS.map(({ levels }) => findOwnLevel(levels, name))
  return new Set(given.filter((level) => level !== null)).size > 1
}

/** Throws UsageError for a model that says nothing of transactions. */
export function refuseSingleObject(name: string): void {
  const level = SINGLE_OBJECT.get(hyphenate(name))
  if (level === undefined) return
  throw new UsageError(
    `${JSON.stringify(name)} is a model of single objects, not of transactions`,
    isSessionGuarantee(level)
      ? `${level} is its form for transactions, and cc implies all of these`
      : `${level} is the same where every transaction is one operation, and implies it otherwise`,
  )
}

/** `postgres:repeatable-read`, `jepsen:serializable`, `stale:5s`. */
function readQualified(before: string, name: string): LevelRequest {
  if (/^stale$/i.test(before)) return { level: 'stale', bound: readBound(name) }
  if (/^(jepsen|elle)$/i.test(before)) {
    const model = findJepsenModel(hyphenate(name))
    if (model) return { level: model.level, sessionOrder: model.sessionOrder }
    refuseSingleObject(name)
    const known = JEPSEN_MODELS.map((each) => each.name)
    throw new UsageError(`Jepsen has no such model${quoted(name)}`, hintFor(hyphenate(name), known))
  }
  const database = findDatabase(before)
  if (database === null) {
    const known = [...DATABASE_LEVELS.flatMap(({ words }) => [...words]), 'jepsen']
    const message = `no levels of such a database are known${quoted(before)}`
    throw new UsageError(message, hintFor(before, known))
  }
  const level = findOwnLevel(database.levels, name)
  if (level !== null) return { level }
  const known = [...new Set([...database.levels.values()].map(hyphenate))]
  const message = `${database.product} has no such level that is judged here${quoted(name)}`
  throw new UsageError(message, hintFor(hyphenate(name), known))
}

/** Shown only if it cannot hold a password: somebody may have meant an address. */
function quoted(name: string): string {
  return /^[\w .-]{1,40}$/.test(name) ? `: ${JSON.stringify(name)}` : ''
}

/** Every way to read a word as a name that is not written as Jepsen writes it. */
function readingsOf(text: string): Reading[] {
  const wanted = hyphenate(text)
  const readings: Reading[] = []
  const add = (word: string, about: string, request: LevelRequest) => {
    const isSame = ({ request: { level, sessionOrder } }: Reading) =>
      level === request.level && (sessionOrder ?? true) === (request.sessionOrder ?? true)
    // Of databases each is named: whoever says SQL's word may mean any of them.
    if (word.includes(':') || !readings.some(isSame)) readings.push({ word, about, request })
  }
  for (const { id, name } of LEVELS) {
    if (hyphenate(name) === wanted) add(id, `${name}, with session order`, { level: id })
  }
  const model = findJepsenModel(wanted)
  if (model) {
    const order = model.sessionOrder ? 'with' : 'without'
    const about = `Jepsen's, ${model.level} ${order} session order`
    const { level, sessionOrder } = model
    const word = isDisputed(wanted) ? `jepsen:${model.name}` : model.name
    add(word, about, { level, sessionOrder })
  }
  for (const { words, levels } of DATABASE_LEVELS) {
    const level = findOwnLevel(levels, wanted)
    if (level !== null) add(`${words[0]}:${wanted}`, level, { level })
  }
  return readings
}

/**
 * The level that a word asks for where a database is at hand: a word with several meanings, such as
 * `repeatable read`, is that database's. Throws UsageError.
 * @param levels what it offers: our id -> its own name
 */
export function readLevelBeside(word: string, levels: ReadonlyMap<LevelId, string>): LevelRequest {
  try {
    return readLevel(word)
  } catch (error) {
    const own = error instanceof UsageError ? findOwnLevel(levels, word) : null
    if (own === null) throw error
    return { level: own }
  }
}

/**
 * The level to ask a database for: by our id, by its own name, or by a word with one meaning.
 * Throws UsageError.
 * @param levels what it offers: our id -> its own name
 */
export function readDatabaseLevel(
  word: string,
  product: string,
  levels: ReadonlyMap<LevelId, string>,
): LevelId {
  const id = findLevel(word.trim().toLowerCase())?.id ?? findOwnLevel(levels, word)
  if (id) return id
  try {
    return readLevel(word).level
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const own = [...levels].map(([level, name]) => `${level} (${name})`)
    const names = [...new Set([...levels.values()].map((name) => name.toLowerCase()))]
    const meant = findMeant(word.toLowerCase().replace(/[\s_-]+/g, ' '), names)
    const known = `${product} offers ${own.join(', ')}`
    const hint = meant === null ? known : `did you mean ${meant}? ${known}`
    throw new UsageError(`unknown level ${JSON.stringify(word)}`, hint)
  }
}
