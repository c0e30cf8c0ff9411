// A place in a line to which a parser comes back when it knows more. Main class: Bookmark.

import { NONE } from '../../history/history.ts'
import type { JsonScanner } from '../json.ts'

export class Bookmark {
  /** Where it is; NONE: nowhere. */
  at = NONE
  private wide = 0 // the scanner's there

  constructor(private readonly scanner: JsonScanner) {}

  /** Puts it here. */
  set(): void {
    this.at = this.scanner.at
    this.wide = this.scanner.wide
  }

  /** Puts it here, and steps over the value. */
  pass(): void {
    this.set()
    this.scanner.skipValue()
  }

  /** Goes there. */
  go(): void {
    this.scanner.at = this.at
    this.scanner.wide = this.wide
  }

  /** Reads what stands there, and comes back. */
  visit(read: () => void): void {
    const { scanner } = this
    const { at, wide } = scanner
    this.go()
    read()
    scanner.at = at
    scanner.wide = wide
  }
}
