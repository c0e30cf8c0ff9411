// The transactions of a finding as SQL to type into several terminals, in the order of the replay:
// for histories of statements, and for registers and lists that were recorded from a SQL database.
// Whether a database lets it happen again depends on its level; a statement may have to wait for
// another terminal. Main function: renderSqlScript.

import { inert } from '../base/inert.ts'
import { TupleSet } from '../base/maps.ts'
import type { Value } from '../history/values.ts'
import type { CellJson, OpJson, RunJson, StatementJson, TxnJson } from '../verdict/verdict-file.ts'
import type { Example } from './example.ts'
import { plain } from './names.ts'
import type { Replay } from './replay.ts'

type Dialect = 'postgres' | 'mysql' | 'sqlite'

const LEVELS: Record<string, string> = {
  rc: 'READ COMMITTED',
  ra: 'REPEATABLE READ',
  cc: 'REPEATABLE READ',
  pc: 'REPEATABLE READ',
  si: 'REPEATABLE READ',
  ser: 'SERIALIZABLE',
  sser: 'SERIALIZABLE',
}
const TERMINALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Null where the history did not come from SQL, or the replay leaves something out. */
export function renderSqlScript(
  example: Example,
  replay: Replay | null,
  run: RunJson | undefined,
): string | null {
  const dialect = dialectOf(run)
  const isWhole = replay && replay.left === 0 && replay.txns.length === example.txns.length
  if (!isWhole || (example.tables === null && dialect === null)) return null
  return new Script(example, dialect ?? 'postgres', run).render(replay)
}

/** Null if the run was none on a SQL database. */
function dialectOf(run: RunJson | undefined): Dialect | null {
  const name = run?.database.name ?? ''
  if (/sqlite|turso/i.test(name)) return 'sqlite'
  if (/mysql|maria/i.test(name)) return 'mysql'
  return /postgres|duckdb|cockroach|yugabyte/i.test(name) ? 'postgres' : null
}

class Script {
  private readonly terminals = new Map<Value, string>() // session -> letter

  constructor(
    private readonly example: Example,
    private readonly dialect: Dialect,
    private readonly run: RunJson | undefined,
  ) {}

  render({ steps, initial }: Replay): string {
    const lines: string[] = []
    const { txns } = this.example
    const said = new Map<number, number>() // transaction -> statements written so far
    for (const { txn, op } of steps) {
      const one = txns[txn]!
      const done = said.get(txn)
      if (done === undefined) lines.push(...this.at(one, this.begin(one)))
      const statements = one.statements ?? []
      let next = done ?? 0
      while (next < statements.length && (op === null || statements[next]!.first <= op)) {
        lines.push(...this.at(one, this.statement(statements[next]!)))
        next++
      }
      said.set(txn, next)
      const covered = statements.some(
        ({ first, count }) => op !== null && first <= op && op < first + count,
      )
      if (op === null) {
        const isOver = one.status === 'aborted'
        lines.push(
          ...this.at(one, [`${isOver ? 'ROLLBACK' : 'COMMIT'}; -- ${inert(plain(one.id))}`]),
        )
      } else if (!covered) lines.push(...this.at(one, [this.operation(one.ops[op]!)]))
    }
    const terminals = [...this.terminals].map(
      ([session, letter]) => `${letter}: session ${plain(String(session))}`,
    )
    return [
      '-- Once, in any terminal:',
      ...(this.example.tables === null ? this.registers() : this.tables()),
      '',
      `-- Then line by line, each in the terminal of its letter (${inert(terminals.join(', '))}).`,
      `-- At first: ${inert(initial.join(', '))}`,
      ...lines,
      '',
    ].join('\n')
  }

  /** The lines of a transaction, with the letter of its terminal. */
  private at({ session }: TxnJson, lines: readonly string[]): string[] {
    const known = this.terminals.get(session)
    const letter = known ?? TERMINALS[this.terminals.size] ?? `Z${this.terminals.size}`
    this.terminals.set(session, letter)
    return lines.map((line) => `/* ${letter} */ ${inert(line)}`)
  }

  private begin({ id, level }: TxnJson): string[] {
    const name = LEVELS[level ?? this.run?.level.asked ?? '']
    const who = ` -- ${plain(id)}`
    if (this.dialect === 'sqlite' || name === undefined) return [`BEGIN;${who}`]
    if (this.dialect === 'postgres') return [`BEGIN ISOLATION LEVEL ${name};${who}`]
    return [`SET TRANSACTION ISOLATION LEVEL ${name};`, `START TRANSACTION;${who}`]
  }

  private tables(): string[] {
    return this.example.tables!.flatMap(({ name, columns, key, rows }) => {
      const types = columns.map((column) => `${this.name(column.name)} ${this.type(column.type)}`)
      const primary = `PRIMARY KEY (${key.map((column) => this.name(column)).join(', ')})`
      const values = rows.map(
        (row) => `(${columns.map((column) => this.cell(row[column.name] ?? null)).join(', ')})`,
      )
      const made = `CREATE TABLE ${this.name(name)} (${types.join(', ')}, ${primary});`
      const filled = `INSERT INTO ${this.name(name)} VALUES ${values.join(', ')};`
      return (values.length > 0 ? [made, filled] : [made]).map(inert)
    })
  }

  private type(type: string): string {
    if (type === 'integer') return 'bigint'
    return type === 'text' && this.dialect === 'mysql' ? 'varchar(255)' : type
  }

  /** What keys held before, as far as somebody here read it; else nothing. */
  private registers(): string[] {
    const first = new Map<string, string>() // key -> its first value
    const written = new TupleSet<[key: string, value: string]>()
    for (const { ops } of this.example.txns) {
      for (const [verb, key, value] of ops) {
        if (verb === 'w') written.add([String(key), String(value)])
      }
    }
    for (const { ops } of this.example.txns) {
      for (const [verb, key, value] of ops) {
        const name = this.cell(key)
        const isOfOthers = !written.has([String(key), String(value)])
        if (verb === 'r' && !Array.isArray(value) && isOfOthers && !first.has(name)) {
          first.set(name, this.cell(value))
        }
        if (verb === 'append' || Array.isArray(value)) first.set(name, "''")
      }
    }
    for (const { ops } of this.example.txns) {
      for (const [, key] of ops) if (!first.has(this.cell(key))) first.set(this.cell(key), 'NULL')
    }
    const isNumber = (texts: Iterable<string>) =>
      [...texts].every((text) => /^(-?\d+|NULL)$/.test(text))
    const all = this.example.txns.flatMap(({ ops }) => ops)
    const isList = all.some(([verb, , value]) => verb === 'append' || Array.isArray(value))
    const values = all.flatMap(([, , value]) => (Array.isArray(value) ? [] : [this.cell(value)]))
    const keyType = isNumber(first.keys()) ? 'bigint' : 'varchar(255)'
    const type = !isList && isNumber([...values, ...first.values()]) ? 'bigint' : 'text'
    const rows = [...first].map((row) => `(${row.join(', ')})`)
    return [
      `CREATE TABLE kv (k ${keyType} PRIMARY KEY, v ${type});`,
      `INSERT INTO kv VALUES ${rows.join(', ')};`,
    ].map(inert)
  }

  private operation([verb, key, value]: OpJson): string {
    const where = `WHERE k = ${this.cell(key)};`
    if (verb === 'w') return `UPDATE kv SET v = ${this.cell(value as Value)} ${where}`
    if (verb === 'append') {
      const element = this.cell(`${value} `)
      const sum = this.dialect === 'mysql' ? `concat(v, ${element})` : `v || ${element}`
      return `UPDATE kv SET v = ${sum} ${where}`
    }
    const saw = Array.isArray(value) ? value.flat().join(' ') : this.cell(value)
    return `SELECT v FROM kv ${where} -- saw ${saw === '' ? 'nothing' : saw}`
  }

  private statement(statement: StatementJson): string[] {
    const { kind, table, result, rows } = statement
    const into = this.name(table)
    const saw = ` -- ${result}`
    const clause = this.clause(statement)
    const where = clause === null ? '' : ` WHERE ${clause}`
    if (kind === 'select') return [`SELECT * FROM ${into}${where};${saw}`]
    if (kind === 'delete') return [`DELETE FROM ${into}${where};${saw}`]
    if (kind === 'refused') return [`-- INSERT INTO ${into} was refused because of ${result}`]
    if (kind === 'insert') {
      return rows.map(({ row = {} }) => {
        const columns = Object.keys(row).map((column) => this.name(column))
        const values = Object.values(row).map((cell) => this.cell(cell))
        return `INSERT INTO ${into} (${columns.join(', ')}) VALUES (${values.join(', ')});${saw}`
      })
    }
    const keys = this.example.tables?.find(({ name }) => name === table)?.key ?? []
    if (rows.length === 0) {
      const [column = 'id'] = keys
      const same = this.name(column)
      return [`UPDATE ${into} SET ${same} = ${same}${where};${saw}`]
    }
    return rows.map(({ key, row = {} }) => {
      const sets = Object.entries(row)
        .filter(([column]) => !keys.includes(column))
        .map(([column, cell]) => `${this.name(column)} = ${this.cell(cell)}`)
      const own = keys.map((column, i) => `${this.name(column)} = ${this.cell(key[i] ?? null)}`)
      // What each row became is known, not the expression that made it so.
      const all = rows.length === 1 && clause !== null ? [clause] : [clause, ...own]
      const which = all.filter((part) => part !== null).map((part) => `(${part})`)
      return `UPDATE ${into} SET ${sets.join(', ')} WHERE ${which.join(' AND ')};${saw}`
    })
  }

  /** The clause with its parameters put in. */
  private clause({ where, params = [] }: StatementJson): string | null {
    if (where === undefined) return null
    let next = 0
    return where
      .replace(/--[^\n]*|\/\*.*?\*\//gs, ' ')
      .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)|\?/g, (part, number?: string) => {
        if (number !== undefined) return this.cell(params[Number(number) - 1] ?? null)
        return part === '?' ? this.cell(params[next++] ?? null) : part
      })
      .trim()
  }

  private name(name: string): string {
    if (/^[a-z_][a-z0-9_]*$/.test(name)) return name
    const quote = this.dialect === 'mysql' ? '`' : '"'
    return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`
  }

  private cell(cell: CellJson): string {
    if (cell === null) return 'NULL'
    if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE'
    if (typeof cell !== 'string') return String(cell)
    const text = this.dialect === 'mysql' ? cell.replaceAll('\\', '\\\\') : cell
    return `'${text.replaceAll("'", "''")}'`
  }
}
