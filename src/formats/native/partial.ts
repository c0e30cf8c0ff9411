// What a recorder could not tell of, in the header or in a line of its own:
//
//   {"partial":{"reasons":{"a join":3},"tables":["orders"]}}
//
// Several add up. Main function: takePartial.

import type { Omissions } from '../../history/history.ts'
import type { JsonScanner } from '../json.ts'
import { takeText } from '../json-fields.ts'
import { forEachItem, forEachName } from '../json-walk.ts'
import { COLON, OPEN_LIST, OPEN_MAP } from '../scanner.ts'

const HINT = 'it looks like {"partial":{"reasons":{"a join":3},"tables":["orders"]}}'

/** @param before what earlier lines said */
export function takePartial(scanner: JsonScanner, before: Omissions | null): Omissions {
  const reasons: Record<string, number> = { ...before?.reasons }
  const tables = new Set(before?.tables)
  scanner.need(OPEN_MAP, 'what was left out', HINT)
  forEachName(scanner, (at) => {
    const name = scanner.text()
    scanner.expect(COLON)
    if (name === 'reasons') takeReasons(scanner, reasons)
    else if (name === 'tables') takeNames(scanner, tables)
    else throw scanner.fail(`"partial" has no ${JSON.stringify(name.slice(0, 40))}`, at, HINT)
  })
  return { reasons, tables: [...tables] }
}

function takeReasons(scanner: JsonScanner, reasons: Record<string, number>): void {
  scanner.need(OPEN_MAP, 'the reasons', HINT)
  forEachName(scanner, () => {
    const reason = scanner.text()
    scanner.expect(COLON)
    scanner.skipSpace()
    scanner.scanInteger('count')
    // Not by assignment: a reason may be called __proto__.
    const count =
      Number(scanner.integer()) + (Object.hasOwn(reasons, reason) ? reasons[reason]! : 0)
    const field = { value: count, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(reasons, reason, field)
  })
}

function takeNames(scanner: JsonScanner, names: Set<string>): void {
  scanner.need(OPEN_LIST, 'the tables', HINT)
  forEachItem(scanner, () => {
    names.add(takeText(scanner, 'the name of a table', HINT))
  })
}
