// Walking through JSON whose shape is known, on top of the scanner.

import type { JsonScanner } from './json.ts'
import { COLON, COMMA, OPEN_LIST, OPEN_MAP, QUOTE } from './scanner.ts'

/** Calls `take` at each value of an object, with its name; it must take the value. */
export function forEachField(scanner: JsonScanner, take: (name: string) => void): void {
  forEachName(scanner, () => {
    const name = scanner.text()
    scanner.expect(COLON)
    scanner.skipSpace()
    take(name)
  })
}

/**
 * Calls `take` behind each name of an object, which the scanner has just read, with where it
 * begins; it must take the colon and the value.
 */
export function forEachName(scanner: JsonScanner, take: (at: number) => void): void {
  forEachIn(scanner, OPEN_MAP, () => {
    scanner.need(QUOTE, 'the name of a field')
    const at = scanner.at
    scanner.scanString()
    take(at)
  })
}

/** Calls `take` at each item of a list, with its position; it must take the item. */
export function forEachItem(scanner: JsonScanner, take: (position: number) => void): void {
  forEachIn(scanner, OPEN_LIST, take)
}

function forEachIn(scanner: JsonScanner, open: number, take: (position: number) => void): void {
  const close = open + 2 // of both brackets
  scanner.expect(open)
  for (let position = 0; scanner.skipSpace() !== close; position++) {
    if (position > 0) {
      scanner.expect(COMMA)
      scanner.skipSpace()
    }
    take(position)
  }
  scanner.at++
}

/** Takes `true` or `false`. */
export function takeFlag(scanner: JsonScanner): boolean {
  const yes = scanner.skipSpace() === 116
  scanner.expectWord(yes ? 'true' : 'false')
  return yes
}
