// LIKE: % stands for any characters, _ for one, a backslash for the next pattern character itself,
// unless ESCAPE names another.
// One pass with a return to the last %: a later % never needs an earlier one to try again. Cost:
// text × pattern at worst, no recursion. Main function: matchLike.

import type { Place } from './error.ts'

const PERCENT = 37
const BACKSLASH = 92
const UNDERSCORE = 95

export function matchLike(text: string, pattern: string, place: Place): boolean {
  let at = 0 // in the text
  let next = 0 // in the pattern
  let retryAt = 0
  let retryNext = -1 // after the last %
  while (at < text.length) {
    const want = next < pattern.length ? pattern.charCodeAt(next) : -1
    if (want === PERCENT) {
      for (; next < pattern.length; next++) {
        const wild = pattern.charCodeAt(next)
        if (wild === UNDERSCORE) {
          if (at >= text.length) return false
          at += widthAt(text, at)
        } else if (wild !== PERCENT) break
      }
      if (next === pattern.length) return true
      checkEscape(pattern, next, place)
      retryAt = at
      retryNext = next
      continue
    }
    if (want === UNDERSCORE) {
      at += widthAt(text, at)
      next++
      continue
    }
    checkEscape(pattern, next, place)
    const literal = want === BACKSLASH ? next + 1 : next
    if (want !== -1 && text.charCodeAt(at) === pattern.charCodeAt(literal)) {
      at++
      next = literal + 1
      continue
    }
    if (retryNext < 0) return false
    retryAt += widthAt(text, retryAt)
    at = retryAt
    next = retryNext
  }
  while (next < pattern.length && pattern.charCodeAt(next) === PERCENT) next++
  return next === pattern.length
}

/**
 * A pattern with an escape character of its own as one with backslashes; none if the character is
 * left empty.
 */
export function escapeLike(pattern: string, by: string, place: Place): string {
  if (by === '\\') return pattern
  if ([...by].length > 1) throw place.error('escape string must be empty or one character')
  let escaped = ''
  let isAfter = false
  for (const character of pattern) {
    if (character === by && !isAfter) {
      escaped += '\\'
      isAfter = true
      continue
    }
    escaped += character === '\\' && !isAfter ? '\\\\' : character
    isAfter = false
  }
  return escaped
}

/** ILIKE in the C collation: ASCII letters count as equal in both cases. */
export function matchIlike(text: string, pattern: string, place: Place): boolean {
  return matchLike(lowerAscii(text), lowerAscii(pattern), place)
}

/** Without capital letters, in the C collation. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Only a backslash that matching comes to is an error, as in PostgreSQL. */
function checkEscape(pattern: string, next: number, place: Place): void {
  if (next === pattern.length - 1 && pattern.charCodeAt(next) === BACKSLASH) {
    throw place.error('LIKE pattern must not end with escape character')
  }
}

/** Code units of the character: _ is one character, not half a pair. */
function widthAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1
}
