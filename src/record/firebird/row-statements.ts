// What Firebird writes differently: several rows at once, by a block of statements, because an
// INSERT has one row; and columns in clauses, whose letters it would make capitals unless they are
// quoted. Main functions: insertRows, upsertRows, ownClause.

import type { SqlTable } from '../../history/sql-events.ts'
import { SqlError } from '../../sql/error.ts'
import { scan } from '../../sql/scan.ts'

export function insertRows(into: string, tuples: readonly string[]): string {
  return blockOf(tuples.map((tuple) => `INSERT INTO ${into} VALUES ${tuple}`))
}

export function upsertRows(into: string, tuples: readonly string[], key: string): string {
  const each = (tuple: string) => `UPDATE OR INSERT INTO ${into} VALUES ${tuple} MATCHING (${key})`
  return blockOf(tuples.map(each))
}

/** Rows for keys from `from` up to `to`. */
export function keysBlock(table: string, from: number, to: number): string {
  return `EXECUTE BLOCK AS DECLARE k INT = ${from}; BEGIN WHILE (k < ${to}) DO BEGIN
    INSERT INTO ${table} (k) VALUES (:k); k = k + 1; END END`
}

/** One statement, of which either all happens or nothing. */
function blockOf(statements: readonly string[]): string {
  return `EXECUTE BLOCK AS BEGIN ${statements.map((text) => `${text};`).join(' ')} END`
}

/** Columns in quotes, `a % 3` as MOD(a, 3), and LIKE on letters: on bytes it has no wildcards. */
export function ownClause(clause: string, { columns }: SqlTable): string {
  const names = new Set(columns.map(({ name }) => name))
  const tokens = tokensOf(clause).map(({ kind, value, start, end }) => {
    return kind === 'word' && names.has(value) ? `"${value}"` : clause.slice(start, end)
  })
  if (tokens.length === 0) return clause
  const parts: string[] = []
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    const isModulo = token === '%' && parts.length > 0 && i + 1 < tokens.length
    if (/^like$/i.test(token)) likeLetters(parts)
    if (isModulo) parts.push(`MOD(${parts.pop()}, ${tokens[++i]})`)
    else parts.push(token)
  }
  return parts.join(' ')
}

/** The column that is last, before NOT perhaps, is to be seen as letters. */
function likeLetters(parts: string[]): void {
  const at = /^not$/i.test(parts.at(-1) ?? '') ? parts.length - 2 : parts.length - 1
  if (parts[at]?.startsWith('"')) {
    parts[at] = `CAST(${parts[at]} AS VARCHAR(255) CHARACTER SET UTF8)`
  }
}

/** None of what cannot be scanned: the server gets it as it is, and says what is wrong. */
function tokensOf(clause: string): ReturnType<typeof scan> {
  try {
    return scan(clause)
  } catch (error) {
    if (error instanceof SqlError) return []
    throw error
  }
}
