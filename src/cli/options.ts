// Parses the values of command line options: levels, numbers, patterns.

import { readFileSync } from 'node:fs'
import { counted } from '../base/counted.ts'
import { UsageError } from '../base/errors.ts'
import { findMeant, hintFor } from '../base/slips.ts'
import { ALGORITHMS, type Algorithm } from '../check/general/strong-levels.ts'
import { findTap } from '../levels/anomalies.ts'
import { type LevelRequest, withoutRepeats } from '../levels/levels.ts'
import { readLevel } from '../levels/words.ts'
import type { HistoryCounts } from '../verdict/verdict-file.ts'

/** Options of these names as a command gets them: with a text, or without one. */
export type Texts<Name extends string> = { [Each in Name]?: string }
export type Switches<Name extends string> = { [Each in Name]?: boolean }

/** `rc,serializable,postgres:repeatable-read` → levels, each once. */
export function parseRequests(
  text: string,
  read: (word: string) => LevelRequest = readLevel,
): LevelRequest[] {
  const requests = withoutRepeats(splitList(text).map((word) => read(word)))
  if (requests.length === 0) throw new UsageError('--level names no level')
  return requests
}

/** How large a history is. */
export function sizeWords(
  counts: HistoryCounts,
  parts: readonly (keyof HistoryCounts)[] = ['sessions', 'transactions', 'operations', 'keys'],
): string {
  return parts.map((part) => counted(counts[part], part.replace(/s$/, ''))).join(', ')
}

/** `on` or `off`. */
export function parseSwitch(text: string, option: string): boolean {
  return parseChoice(text, option, ['on', 'off']) === 'on'
}

/** One of a few words. */
export function parseChoice<W extends string>(text: string, option: string, words: readonly W[]) {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  const meant = findMeant(text, words)
  const message = `${option} is ${words.join(' or ')}, not ${JSON.stringify(text)}`
  throw new UsageError(message, meant === null ? null : `did you mean ${meant}?`)
}

export const ABORTED_READS = ['judge', 'ignore'] as const

/** `j,k` → pattern letters. */
export function parseTaps(text: string): string[] {
  const taps = splitList(text).map((letter) => letter.toLowerCase())
  const unknown = taps.find((letter) => !findTap(letter))
  if (unknown !== undefined) {
    throw new UsageError(`unknown pattern ${JSON.stringify(unknown)}`, 'there are a to n')
  }
  if (taps.length === 0) throw new UsageError('--tap names no pattern')
  return [...new Set(taps)].sort()
}

export function parseAlgorithm(text: string): Algorithm {
  const found = ALGORITHMS.find((name) => name === text.toLowerCase())
  if (found) return found
  throw new UsageError(`unknown algorithm ${JSON.stringify(text)}`, hintFor(text, ALGORITHMS))
}

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** A number that is at least `least`; `name` is the option's. */
export function parseNumber(name: string, text: string, least: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= least && value < Number.POSITIVE_INFINITY) return value
  const shown = JSON.stringify(text)
  throw new UsageError(`--${name} takes a number of at least ${least}, not ${shown}`)
}

export function parseSeed(text: string): number {
  const seed = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(seed)) return seed
  throw new UsageError(`--seed takes a whole number, not ${JSON.stringify(text)}`)
}

/** What a file says that an option names. Throws UsageError. */
export function readNamed(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read the ${what}: ${(error as Error).message}`)
  }
}

export function readPassword(path: string | undefined): string | undefined {
  if (path !== undefined) return readNamed(path, 'password file').replace(/\r?\n$/, '')
}
