// Parses the values of command line options: levels, durations, sizes, patterns.

import { UsageError } from '../base/errors.ts'
import { findMeant, hintFor } from '../base/slips.ts'
import { ALGORITHMS, type Algorithm } from '../check/general/strong-levels.ts'
import { findTap } from '../levels/anomalies.ts'
import { findRequest, JEPSEN_MODELS } from '../levels/jepsen.ts'
import { findLevel, LEVELS, type LevelId, type LevelRequest } from '../levels/levels.ts'

/** `rc,ra` → level ids. */
export function parseLevels(text: string): LevelId[] {
  const levels: LevelId[] = []
  for (const id of splitList(text)) {
    const level = findLevel(id.toLowerCase())
    if (!level) {
      const known = LEVELS.map((each) => each.id)
      throw new UsageError(`unknown level ${JSON.stringify(id)}`, hintFor(id, known))
    }
    if (!levels.includes(level.id)) levels.push(level.id)
  }
  if (levels.length === 0) throw new UsageError('--level names no level')
  return levels
}

/** `rc,serializable` → levels, by id or by Jepsen's names. */
export function parseRequests(text: string): LevelRequest[] {
  const requests: LevelRequest[] = []
  for (const name of splitList(text)) {
    const request = findRequest(name)
    if (!request) {
      const known = [...LEVELS.map((each) => each.id), ...JEPSEN_MODELS.map((each) => each.name)]
      throw new UsageError(`unknown level ${JSON.stringify(name)}`, hintFor(name, known))
    }
    const same = (other: LevelRequest) =>
      other.level === request.level && other.sessionOrder === request.sessionOrder
    if (!requests.some(same)) requests.push(request)
  }
  if (requests.length === 0) throw new UsageError('--level names no level')
  return requests
}

/** `on` or `off`. */
export function parseSwitch(text: string, option: string): boolean {
  return parseChoice(text, option, ['on', 'off']) === 'on'
}

/** One of a few words. */
export function parseChoice<Word extends string>(
  text: string,
  option: string,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  const meant = findMeant(text, words)
  throw new UsageError(
    `${option} is ${words.join(' or ')}, not ${JSON.stringify(text)}`,
    meant === null ? null : `did you mean ${meant}?`,
  )
}

export const ABORTED_READS = ['judge', 'ignore'] as const

/** `j,k` → pattern letters. */
export function parseTaps(text: string): string[] {
  const taps = splitList(text).map((letter) => letter.toLowerCase())
  for (const letter of taps) {
    if (!findTap(letter)) {
      throw new UsageError(`unknown pattern ${JSON.stringify(letter)}`, 'there are a to n')
    }
  }
  if (taps.length === 0) throw new UsageError('--tap names no pattern')
  return [...new Set(taps)].sort()
}

export function parseAlgorithm(text: string): Algorithm {
  const found = ALGORITHMS.find((name) => name === text.toLowerCase())
  if (found) return found
  throw new UsageError(`unknown algorithm ${JSON.stringify(text)}`, hintFor(text, ALGORITHMS))
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

const MAX_DURATION_MS = 500 * 3_600_000 // timers do not hold much more

/** `60s`, `500ms`, `2m`, `1h` or plain seconds → milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim())
  if (!match)
    throw new UsageError(`${JSON.stringify(text)} is not a duration`, 'e.g. 500ms, 60s, 2m')
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? 's'] ?? 1000
  const ms = Number(match[1]) * unit
  if (ms <= MAX_DURATION_MS) return ms
  throw new UsageError(`${JSON.stringify(text)} is too long`, 'at most 500h')
}

/** `8g`, `512m`, `100k` or plain bytes → bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([kmgt])?i?b?$/i.exec(text.trim())
  if (!match) throw new UsageError(`${JSON.stringify(text)} is not a size`, 'e.g. 512m, 8g')
  const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase())
  return Math.floor(Number(match[1]) * 1024 ** power)
}

/** A number that is at least `least`; `name` is the option's. */
export function parseNumber(name: string, text: string, least: number): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= least) || value === Number.POSITIVE_INFINITY) {
    throw new UsageError(
      `--${name} takes a number of at least ${least}, not ${JSON.stringify(text)}`,
    )
  }
  return value
}

export function parseSeed(text: string): number {
  const seed = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seed)) return seed
  throw new UsageError(`--seed takes a whole number, not ${JSON.stringify(text)}`)
}
