// The order of values of one type: false before true; numbers; text by code points, which is the
// order of its UTF-8 bytes and PostgreSQL's collation C. Main function: compareValues.

import { Decimal } from './decimal.ts'
import type { Value } from './types.ts'

/** Below 0, 0, above 0. Neither may be NULL, and both are of one type. */
export function compareValues(left: Value, right: Value): number {
  if (left === right) return 0
  if (left instanceof Decimal) return left.compare(right as Decimal)
  if (typeof left === 'string') return compareText(left, right as string)
  return (left as bigint) < (right as bigint) ? -1 : 1
}

function compareText(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  for (let i = 0; i < shared; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** UTF-16 writes the characters above U+FFFF with units below U+E000; their place is the end. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
