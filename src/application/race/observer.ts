// A connection of our own beside the application's: it asks the server who waits for whom, what the
// tables are like, and what they hold. It changes nothing.

import { DatabaseError } from '../../base/errors.ts'
import type { RacePool } from './pool.ts'

/** What matters of a table for whether statements on it commute. */
export interface TableTraits {
  /** Tables that are linked by foreign keys have one name in common. */
  readonly group: string
  /** Unique, exclusion and foreign keys tie its rows to each other or to other tables' rows. */
  readonly tiesRows: boolean
  /** Triggers or rules may touch anything. */
  readonly runsCode: boolean
  /** The columns of its primary key. */
  readonly key: readonly string[]
}

interface Rows {
  readonly rows: readonly Record<string, unknown>[]
}

export class Observer {
  private constructor(
    private readonly client: {
      query(text: string, values?: unknown[]): Promise<Rows>
      end(): Promise<void>
    },
  ) {}

  /** Connects as the pool itself would. Throws DatabaseError. */
  static async open(pool: RacePool): Promise<Observer> {
    const client = new pool.Client(pool.options)
    client.on('error', () => {}) // the next question fails, and says why
    try {
      await client.connect()
    } catch (error) {
      throw new DatabaseError(`race: the server cannot be reached: ${(error as Error).message}`)
    }
    return new Observer(client)
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => {})
  }

  /** The rows of a question of somebody else's. */
  async ask(text: string, values: unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const { rows } = await this.client.query(text, values)
    return rows
  }

  /** The server's processes that a process waits for. */
  async blockersOf(processId: number): Promise<number[]> {
    const { rows } = await this.client.query(
      'SELECT pg_blocking_pids($1) || pg_safe_snapshot_blocking_pids($1) AS blockers',
      [processId],
    )
    return (rows[0]!['blockers'] as number[]).map(Number)
  }

  /** Has a process give up its statement. */
  async cancel(processId: number): Promise<void> {
    await this.client.query('SELECT pg_cancel_backend($1)', [processId]).catch(() => {})
  }

  /** Ends a process, with its transaction. */
  async terminate(processId: number): Promise<void> {
    await this.client.query('SELECT pg_terminate_backend($1)', [processId]).catch(() => {})
  }

  async defaultLevel(): Promise<string> {
    const { rows } = await this.client.query('SHOW default_transaction_isolation')
    return String(rows[0]!['default_transaction_isolation'])
  }

  /** By name: with its schema, and bare where the search path finds it. */
  async traits(): Promise<Map<string, TableTraits>> {
    const { rows } = await this.client.query(TRAITS)
    const groups = new Map<string, string>()
    const rootOf = (oid: string) => {
      let root = oid
      for (let up = groups.get(root); up !== undefined; up = groups.get(root)) root = up
      return root
    }
    for (const row of rows) {
      for (const other of row['linked'] as string[]) {
        const [a, b] = [rootOf(String(row['oid'])), rootOf(String(other))]
        if (a !== b) groups.set(a, b)
      }
    }
    const found = new Map<string, TableTraits>()
    for (const row of rows) {
      const group = `group ${rootOf(String(row['oid']))}`
      const tiesRows = row['ties'] === true || (row['linked'] as string[]).length > 0
      const key = row['key'] as string[]
      const traits = { group, tiesRows, runsCode: row['code'] === true, key }
      found.set(`${row['schema']}.${row['name']}`, traits)
      if (row['visible'] === true) found.set(String(row['name']), traits)
    }
    return found
  }

  /**
   * A short sign of what tables hold, equal if they hold the same. Columns whose values come from
   * sequences, clocks and the like are left out, unless they are all there is.
   */
  async signs(tables: readonly string[]): Promise<Map<string, string>> {
    const signs = new Map<string, string>()
    for (const table of tables) {
      const { rows } = await this.client.query(COLUMNS, [table])
      const names = rows.map((row) => String(row['name']))
      const row = names.length === 0 ? '1' : `ROW(${names.join(', ')})::text`
      const sign = await this.client.query(
        `SELECT count(*) || ' ' || coalesce(md5(string_agg(r, ' ' ORDER BY r)), '') AS sign FROM (SELECT ${row} AS r FROM ${table}) AS held`,
      )
      signs.set(table, String(sign.rows[0]!['sign']))
    }
    return signs
  }

  /** The tables of at most a few megabytes that can be read, quoted for use in statements. */
  async smallTables(): Promise<string[]> {
    const { rows } = await this.client.query(SMALL_TABLES)
    return rows.map((row) => String(row['name'])).sort()
  }
}

const SMALL_TABLES = `
SELECT c.oid::regclass::text AS name
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND pg_relation_size(c.oid) < 4000000
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`

const TRAITS = `
SELECT c.oid::text AS oid, n.nspname AS schema, c.relname AS name,
  pg_table_is_visible(c.oid) AS visible,
  EXISTS (SELECT FROM pg_index AS i
    WHERE i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary)
    OR EXISTS (SELECT FROM pg_constraint AS x WHERE x.conrelid = c.oid AND x.contype = 'x') AS ties,
  EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class = c.oid AND c.relkind = 'r')
    OR c.relkind <> 'r' AS code,
  ARRAY(SELECT a.attname::text FROM pg_index AS i JOIN pg_attribute AS a
    ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = c.oid AND i.indisprimary) AS key,
  ARRAY(SELECT f.confrelid::text FROM pg_constraint AS f WHERE f.conrelid = c.oid AND f.contype = 'f'
    UNION SELECT f.conrelid::text FROM pg_constraint AS f WHERE f.confrelid = c.oid AND f.contype = 'f') AS linked
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')`

/** Columns without a default that is another one each time. */
const COLUMNS = `
SELECT quote_ident(a.attname) AS name FROM pg_attribute AS a
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = ''
  AND coalesce(pg_get_expr(d.adbin, d.adrelid) !~ '[(]|CURRENT_', TRUE) ORDER BY a.attnum`
