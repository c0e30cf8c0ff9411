// Keys and values as the notation writes them. Main function: renderValue.

import { inert } from '../base/inert.ts'
import type { Value } from './values.ts'

/** A key or value as the notation writes it; strings that are not plain words are quoted. */
export function renderValue(value: Value): string {
  if (typeof value !== 'string') return String(value)
  if (value !== 'null' && /^[A-Za-z_][\w.$@-]*$/.test(value)) return value
  return inert(JSON.stringify(value))
}
