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
  /** Sequences that its columns have for defaults. */
  readonly sequences: readonly string[]
  /** Triggers, rules, and functions of the user's in defaults and constraints may touch anything. */
  readonly runsCode: boolean
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

  /** By name, in quotes and with its schema. */
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
      const sequences = row['sequences'] as string[]
      const traits = { group, tiesRows, sequences, runsCode: row['code'] === true }
      found.set(String(row['name']), traits)
    }
    return found
  }

  /**
   * The question for a short sign of what each table holds, equal if it holds the same. Asked of
   * tables of at most a few megabytes that can be read; columns whose values come from sequences,
   * clocks and the like are left out, unless they are all there is. Null if there are no tables.
   */
  async signQuery(): Promise<string | null> {
    const { rows } = await this.client.query(SMALL_TABLES)
    const signs = rows.map(({ name, text, columns }) => {
      const row =
        (columns as string[]).length === 0 ? '1' : `ROW(${(columns as string[]).join(', ')})::text`
      const sign = "count(*) || ' ' || coalesce(md5(string_agg(r, ' ' ORDER BY r)), '')"
      return `SELECT ${text} AS name, ${sign} AS sign FROM (SELECT ${row} AS r FROM ${name}) AS held`
    })
    return signs.length === 0 ? null : signs.join(' UNION ALL ')
  }
}

/** With the columns that have no default, or one that is the same each time. */
const SMALL_TABLES = `
SELECT c.oid::regclass::text AS name, quote_literal(c.oid::regclass::text) AS text,
  ARRAY(SELECT quote_ident(a.attname) FROM pg_attribute AS a
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = ''
      AND coalesce(pg_get_expr(d.adbin, d.adrelid) !~ '[(]|CURRENT_', TRUE) ORDER BY a.attnum) AS columns
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND pg_relation_size(c.oid) < 4000000
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1`

const TRAITS = `
SELECT c.oid::text AS oid,
  format('"%s"."%s"', replace(n.nspname, '"', '""'), replace(c.relname, '"', '""')) AS name,
  EXISTS (SELECT FROM pg_index AS i
    WHERE i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary)
    OR EXISTS (SELECT FROM pg_constraint AS x WHERE x.conrelid = c.oid AND x.contype = 'x') AS ties,
  EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    OR EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class = c.oid AND c.relkind = 'r')
    OR c.relkind <> 'r'
    OR EXISTS (SELECT FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.refobjid
      WHERE d.refclassid = 'pg_proc'::regclass AND p.provolatile <> 'i' AND (
        d.classid = 'pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_attrdef WHERE adrelid = c.oid)
        OR d.classid = 'pg_constraint'::regclass
          AND d.objid IN (SELECT oid FROM pg_constraint WHERE conrelid = c.oid)))
    OR EXISTS (SELECT FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
      WHERE a.attrelid = c.oid AND NOT a.attisdropped AND t.typtype = 'd' AND t.typdefault ~ '[(]')
    OR EXISTS (SELECT FROM pg_attrdef AS a
      WHERE a.adrelid = c.oid AND pg_get_expr(a.adbin, a.adrelid) ~ 'nextval[(]'
        AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_attrdef'::regclass
          AND d.objid = a.oid AND d.refobjid IN (SELECT oid FROM pg_class WHERE relkind = 'S')))
    AS code,
  ARRAY(SELECT s.oid::text FROM pg_class AS s JOIN pg_depend AS d ON s.relkind = 'S' AND (
    d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
      AND d.objid IN (SELECT oid FROM pg_attrdef WHERE adrelid = c.oid)
    OR d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.refobjid = c.oid AND d.deptype = 'i'))
    AS sequences,
  ARRAY(SELECT f.confrelid::text FROM pg_constraint AS f WHERE f.conrelid = c.oid AND f.contype = 'f'
    UNION SELECT f.conrelid::text FROM pg_constraint AS f WHERE f.confrelid = c.oid AND f.contype = 'f') AS linked
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')`
