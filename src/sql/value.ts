// The values that rows hold, and the columns they stand in. Integers are 64-bit and therefore
// bigints throughout: one representation, exact, as PostgreSQL's bigint. A numeric is held as its
// text, such as 12.50, which says all that PostgreSQL knows of it; evaluation makes a number of it.

/** NULL, boolean, integer, text. */
export type SqlValue = null | boolean | bigint | string

/** The type of a column. */
export type SqlType = 'boolean' | 'integer' | 'numeric' | 'text'

export const SQL_TYPES: readonly SqlType[] = ['boolean', 'integer', 'numeric', 'text']

/** A numeric as columns hold it: no exponent, no needless zero in front. */
export const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,499})(?:\.\d{1,500})?$/

/** A column of a table. */
export interface SqlColumn {
  readonly name: string
  readonly type: SqlType
}

/** A row: the values of a table's columns, in the order of the columns. */
export type SqlRow = readonly SqlValue[]

/** The type of a value; null for NULL, which has every type. That of a numeric is text. */
export function typeOfValue(value: SqlValue): SqlType | null {
  if (value === null) return null
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'bigint' ? 'integer' : 'text'
}

/** As SQL writes it: 17, 'it''s', TRUE, NULL. */
export function renderSqlValue(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  if (typeof value === 'bigint') return renderInteger(value)
  return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`
}

/** Digits of an integer; those of a small one are found much faster by way of a number. */
export function renderInteger(value: bigint): string {
  const small = Number(value)
  return Number.isSafeInteger(small) ? String(small) : String(value)
}
