// What the server's catalog says of the tables and functions that statements name. Asked once for
// each, but for names of tables, which each connection asks for: each has a search path of its own.
// Main classes: Catalog, Names.

import type { Moves } from './path.ts'
import type { Shape } from './shape.ts'
import { COMMON_CELLS, OWN, TABLE, type Table, tableOf } from './table.ts'

/** Asks the server something of our own; cells as PostgreSQL writes them. */
export type Ask = (text: string, values?: readonly string[]) => Promise<(string | null)[][]>

/** What a function may do that no clause shows. */
export interface FunctionTraits {
  /** It makes one row of many. */
  readonly aggregate: boolean
  /** It makes many rows of one, or none. */
  readonly returnsSet: boolean
  /** Called twice it may answer twice. */
  readonly volatile: boolean
  /** Functions of the user may look at tables, and change them. */
  readonly does: 'nothing' | 'reads' | 'writes'
}

const PLAIN: FunctionTraits = {
  aggregate: false,
  returnsSet: false,
  volatile: false,
  does: 'nothing',
}

/** PostgreSQL's own functions that run statements which they are given as text. */
const RUNS_TEXT = `(p.proname ~ '^(query|cursor)_to_xml' OR p.proname IN ('ts_stat', 'ts_rewrite'))`

const FUNCTIONS = `
  SELECT p.proname, bool_or(p.prokind = 'a'), bool_or(p.proretset), bool_or(p.provolatile = 'v'),
    bool_or(${OWN} OR ${RUNS_TEXT}), bool_or((${OWN} OR ${RUNS_TEXT}) AND p.provolatile = 'v')
  FROM pg_proc p WHERE p.proname IN (SELECT json_array_elements_text($1::json)) GROUP BY 1`

/** What a table was when it was first met. */
interface Known {
  readonly table: Table
  readonly described: string
}

export class Catalog {
  private readonly known = new Map<string, Known>() // quoted, with schema
  private readonly taken = new Map<string, string>() // name in the history -> quoted, with schema
  private readonly functions = new Map<string, FunctionTraits>()
  private readonly used = new Set<Table>() // since the recording began
  /** Grows when what was asked before may be wrong. */
  edition = 0

  /** @param onAltered called when a table is found to be another than the one that was recorded */
  constructor(private readonly onAltered: () => void) {}

  /** What is recorded from now on knows nothing of the tables as they were. */
  restart(): void {
    this.used.clear()
  }

  use(table: Table): void {
    this.used.add(table)
  }

  /** The table of a name; null: there is none. */
  async askTable(written: string, ask: Ask): Promise<Table | null> {
    const [row] = await ask(TABLE, [written])
    if (row === undefined) return null
    const made = tableOf(row)
    if (made.problem !== null) return made
    const described = JSON.stringify(row.slice(0, COMMON_CELLS))
    const before = this.known.get(made.sqlName)
    if (before?.described === described) return before.table
    if (before !== undefined && this.used.has(before.table)) {
      this.onAltered()
      return { ...made, problem: 'it was altered' }
    }
    const table = this.rename(made)
    this.known.set(made.sqlName, { table, described })
    return table
  }

  /** Tables of one name in two schemas are two in a history. */
  private rename(table: Table): Table {
    const { sqlName, declared } = table
    const isTaken = (name: string) => (this.taken.get(name) ?? sqlName) !== sqlName
    let name = isTaken(table.name) ? table.qualifiedName : table.name
    while (isTaken(name)) name += "'"
    this.taken.set(name, sqlName)
    return { ...table, name, declared: { ...declared, name } }
  }

  /** Undefined: not asked yet. */
  traitsOf(name: string): FunctionTraits | undefined {
    return this.functions.get(name)
  }

  async askFunctions(names: readonly string[], ask: Ask): Promise<void> {
    const { edition } = this
    const rows = await ask(FUNCTIONS, [JSON.stringify(names)])
    if (edition !== this.edition) return
    // Not before the answer: another connection would take an aggregate for a plain function.
    for (const name of names) this.functions.set(name, PLAIN)
    for (const [name, ...traits] of rows) {
      const [aggregate, returnsSet, volatile, own, writes] = traits.map((trait) => trait === 't')
      const does = writes ? 'writes' : own ? 'reads' : 'nothing'
      this.functions.set(name!, {
        ...{ aggregate: aggregate!, returnsSet: returnsSet!, volatile: volatile!, does },
      })
    }
  }

  /** After a change of tables. */
  forget(): void {
    this.edition++
    this.functions.clear()
  }
}

/** The tables that one connection finds under the names that it writes. */
export class Names {
  private readonly tables = new Map<string, Table | null>() // as written -> table
  private edition = 0
  /** What the end of the transaction may take back. */
  private pending: Moves | null = null

  constructor(private readonly catalog: Catalog) {}

  /** Undefined: not asked yet; null: there is no such table. */
  table(written: string): Table | null | undefined {
    if (this.edition !== this.catalog.edition) {
      this.tables.clear()
      this.edition = this.catalog.edition
    }
    const table = this.tables.get(written)
    if (table) this.catalog.use(table)
    return table
  }

  async ask(written: string, ask: Ask): Promise<void> {
    const { edition } = this.catalog
    const table = await this.catalog.askTable(written, ask)
    if (edition === this.catalog.edition) this.tables.set(written, table)
  }

  /** What a statement did to names. */
  follow({ moves, functions }: Shape, endsTransaction: boolean): void {
    const { catalog } = this
    const calls = functions.some((name) => catalog.traitsOf(name)?.does === 'writes')
    if (moves !== null || calls) this.change(moves ?? 'path')
    if (endsTransaction) this.end()
  }

  /** The transaction has ended. */
  end(): void {
    this.takeBack()
    this.pending = null
  }

  /** A part of the transaction was taken back. */
  takeBack(): void {
    if (this.pending !== null) this.change(this.pending)
  }

  private change(what: Moves): void {
    this.tables.clear()
    if (what === 'tables') this.catalog.forget()
    if (this.pending !== 'tables') this.pending = what
  }
}
