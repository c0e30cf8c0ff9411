// The fields of a JSON object that may come in any order, though some can be read only when others
// are known: the object is stepped over once, then its values are gone to, in whatever order suits.

import { obtain } from '../base/maps.ts'
import { findMeant } from '../base/slips.ts'
import { NONE } from '../history/history.ts'
import type { JsonScanner } from './json.ts'
import { forEachName } from './json-walk.ts'
import { Bookmark } from './native/bookmark.ts'
import { COLON, QUOTE } from './scanner.ts'

export class JsonFields {
  private readonly values: readonly Bookmark[] // field -> where its value begins
  private readonly end: Bookmark

  constructor(
    private readonly scanner: JsonScanner,
    private readonly names: readonly string[],
    private readonly aliases: Readonly<Record<string, string>> = {},
  ) {
    this.values = names.map(() => new Bookmark(scanner))
    this.end = new Bookmark(scanner)
  }

  /** Steps over the object that comes next. Names that are nearly known ones are errors. */
  locate(): void {
    const { scanner, values } = this
    for (const value of values) value.at = NONE
    forEachName(scanner, (nameAt) => {
      const field = this.names.findIndex((name) => scanner.textIs(name))
      if (field === NONE) refuseSlip(scanner, nameAt, this.names, this.aliases)
      else if (this.has(field)) {
        const hint = 'a field is given once'
        throw scanner.fail(`"${this.names[field]!}" is given twice`, nameAt, hint)
      }
      scanner.expect(COLON)
      scanner.skipSpace()
      values[field]?.set()
      scanner.skipValue()
    })
    this.end.set()
  }

  has(field: number): boolean {
    return this.valueAt(field) !== NONE
  }

  /** Where the value of a field begins. */
  valueAt(field: number): number {
    return this.values[field]!.at
  }

  /** Goes to the value of a field that is there. */
  enter(field: number): void {
    this.values[field]!.go()
  }

  /** Goes behind the object. */
  leave(): void {
    this.end.go()
  }
}

/** Refuses the name last read if it is a slip of one of `names`. */
export function refuseSlip(
  scanner: JsonScanner,
  at: number,
  names: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): void {
  const name = scanner.text()
  // Every name is compared with the known ones once: recorders may put theirs into every line.
  const ofScanner = obtain(metBy, scanner, () => new Map())
  const strangers = obtain(ofScanner, names, () => new Set())
  if (strangers.has(name)) return
  const meant = findMeant(name, names, aliases)
  if (meant === null) {
    strangers.add(name)
    if (strangers.size <= MAX_STRANGERS) return
    const message = `there are more than ${MAX_STRANGERS} different unknown fields`
    throw scanner.fail(message, at, 'put fields of your own into one object', 'too-large')
  }
  const hint = `did you mean "${meant}"? Other unknown fields are skipped`
  throw scanner.fail(`unknown field ${quote(name)}`, at, hint, 'unknown-field')
}

const MAX_STRANGERS = 1000

/** Scanner -> the fields that it knows -> names it met that are none, nor slips of one. */
const metBy = new WeakMap<JsonScanner, Map<readonly string[], Set<string>>>()

/** A name from the input, as errors show it. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)
}

/** The string that comes next. */
export function takeText(scanner: JsonScanner, what: string, hint: string | null = null): string {
  scanner.need(QUOTE, what, hint)
  scanner.scanString()
  return scanner.text()
}

/** The index of the string that comes next in a list of names. */
export function scanName(scanner: JsonScanner, names: readonly string[], what: string): number {
  scanner.need(QUOTE, `a ${what}`, names.join(', '))
  const at = scanner.at
  scanner.scanString()
  for (let i = 0; i < names.length; i++) if (scanner.textIs(names[i]!)) return i
  const name = JSON.stringify(scanner.text().slice(0, 40))
  throw scanner.fail(`unknown ${what} ${name}`, at, `there are ${names.join(', ')}`)
}
