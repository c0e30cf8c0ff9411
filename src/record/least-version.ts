// The oldest versions of servers that have what a run uses: others would fail in the middle, by
// words of theirs. The word of a server on its own version decides. Main functions: expectVersion,
// isOlder.

import { DatabaseError } from '../base/errors.ts'

/** Product, as its Database calls it -> the least version, and what that one brought. */
const LEAST: Readonly<Record<string, readonly [version: string, brought: string]>> = {
  PostgreSQL: ['9.5', 'INSERT … ON CONFLICT'],
  MariaDB: ['10.2.2', 'texts that are compared with the blanks at their end'],
  MySQL: ['8.0.17', 'texts that are compared with the blanks at their end'],
  Firebird: ['3.0', 'columns of truth values'],
  Redis: ['4.0', 'UNLINK'],
}

/** Throws DatabaseError if the server is too old, e.g. `PostgreSQL 9.4.26`. */
export function expectVersion(name: string, place: string): void {
  const [product = '', version = ''] = name.split(' ')
  const [least, brought] = LEAST[product] ?? []
  if (least === undefined || !isOlder(version, least)) return
  throw new DatabaseError(
    `${place}: ${product} ${version} is too old: ${brought} came with ${least}`,
    `name a server of ${product} ${least} or later`,
  )
}

/** Compares by numbers, as far as both have them; what is no version is not older. */
export function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [version, than].map((text) => text.split(/[.-]/).map(Number))
  for (const [i, number] of theirs!.entries()) {
    const own = ours![i] ?? 0
    if (own !== number) return own < number
  }
  return false
}
