// Renders data as EDN, or as JSON in which keywords are strings and sets are lists.

import { inert } from '../base/inert.ts'

/** Data for EDN: maps have keywords as keys. */
export type Edn =
  | null
  | boolean
  | number
  | bigint
  | string
  | Keyword
  | { set: Edn[] }
  | Edn[]
  | { [name: string]: Edn }

export interface Keyword {
  readonly keyword: string
}

export function keyword(name: string): Keyword {
  return { keyword: name }
}

const MAX_LINE = 100

/** On one line if it is short, else an item or field a line. Nesting is a few levels deep. */
export function renderEdn(value: Edn, indent = ''): string {
  const line = renderLine(value)
  if (line.length + indent.length <= MAX_LINE || typeof value !== 'object' || value === null) {
    return line
  }
  const inner = `${indent} `
  if (Array.isArray(value)) {
    const isPlain = (item: Edn) => typeof item !== 'object' || item === null || isKeyword(item)
    if (value.every(isPlain)) return line
    return `[${value.map((item) => renderEdn(item, inner)).join(`\n${inner}`)}]`
  }
  if (isKeyword(value) || isSet(value)) return line
  const fields = Object.entries(value).map(
    ([name, item]) => `:${name} ${renderEdn(item, `${inner}${' '.repeat(name.length + 2)}`)}`,
  )
  return `{${fields.join(`,\n${inner}`)}}`
}

function renderLine(value: Edn): string {
  if (value === null) return 'nil'
  if (typeof value === 'string') return renderString(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(renderLine).join(' ')}]`
  if (isKeyword(value)) return `:${value.keyword}`
  if (isSet(value)) return `#{${value.set.map(renderLine).join(' ')}}`
  const fields = Object.entries(value).map(([name, item]) => `:${name} ${renderLine(item)}`)
  return `{${fields.join(', ')}}`
}

export function ednToJson(value: Edn): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ednToJson)
  if (isKeyword(value)) return value.keyword
  if (isSet(value)) return value.set.map(ednToJson)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, ednToJson(item)]))
}

function isKeyword(value: object): value is Keyword {
  return 'keyword' in value && typeof value.keyword === 'string'
}

function isSet(value: object): value is { set: Edn[] } {
  return 'set' in value && Array.isArray(value.set)
}

/** EDN knows fewer escapes than JSON: no \b, \f or \/ . */
function renderString(text: string): string {
  const quoted = JSON.stringify(text).replace(/\\./g, (escaped) =>
    escaped === '\\b' ? '\\u0008' : escaped === '\\f' ? '\\u000c' : escaped,
  )
  return inert(quoted)
}
