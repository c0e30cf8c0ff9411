// What databases call their levels, and what one gets by that name, as our id: the one table that
// drivers ask with and that `check --level mariadb:repeatable-read` is read by. Whoever adds a
// database adds a row. Main functions: offeredBy, findDatabase.

import type { LevelId } from './levels.ts'

export interface DatabaseLevels {
  /** What may stand before the colon. */
  readonly words: readonly string[]
  readonly product: string
  /**
   * Our id -> its own name of the level to ask for. Of ids with one name the first is what one
   * really gets; the others are what one may hope for.
   */
  readonly levels: ReadonlyMap<LevelId, string>
  /** Where its own documentation takes something back. */
  readonly departures?: readonly Departure[]
}

/** What a database's documentation says one does not get, though its level would forbid it. */
export interface Departure {
  /** Its own name of the level. */
  readonly at: string
  /** The schedules by which it shows (workload/schedules.ts). */
  readonly schedules: readonly string[]
  readonly words: string
  readonly source: string
}

const named = (levels: Partial<Record<LevelId, string>>): ReadonlyMap<LevelId, string> =>
  new Map(Object.entries(levels) as [LevelId, string][])

export const DATABASE_LEVELS = [
  {
    words: ['postgres', 'postgresql'],
    product: 'PostgreSQL',
    levels: named({ rc: 'READ COMMITTED', si: 'REPEATABLE READ', ser: 'SERIALIZABLE' }),
    departures: [
      {
        at: 'READ COMMITTED',
        schedules: ['pmp-write', 'pmp-statement'],
        words:
          'an UPDATE or DELETE that waited sees the new versions of the rows it waited for, and old ones of all others',
        source: 'https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED',
      },
    ],
  },
  {
    // InnoDB reads from a snapshot, but writes over what came after it: updates are lost, unless
    // innodb_snapshot_isolation is on.
    words: ['mariadb', 'mysql'],
    product: 'MariaDB or MySQL',
    levels: named({
      rc: 'READ COMMITTED',
      pc: 'REPEATABLE READ',
      si: 'REPEATABLE READ',
      ser: 'SERIALIZABLE',
    }),
    departures: [
      {
        at: 'READ UNCOMMITTED',
        schedules: ['g1a', 'g1b', 'g1c', 'g1a-predicate', 'g1b-predicate', 'g1c-predicate'],
        words: 'SELECT returns what other transactions have not committed yet',
        source: 'https://dev.mysql.com/doc/refman/8.4/en/innodb-transaction-isolation-levels.html',
      },
      {
        at: 'REPEATABLE READ',
        schedules: ['pmp-write', 'p4-rows', 'g-single-write', 'g-single-race', 'for-update-late'],
        words:
          'the snapshot is for plain SELECTs: UPDATE, DELETE and SELECT … FOR UPDATE see the latest versions',
        source: 'https://dev.mysql.com/doc/refman/8.4/en/innodb-consistent-read.html',
      },
    ],
  },
  {
    words: ['firebird'],
    product: 'Firebird',
    levels: named({ rc: 'READ COMMITTED', si: 'SNAPSHOT', ser: 'SNAPSHOT TABLE STABILITY' }),
  },
  { words: ['sqlite'], product: 'SQLite', levels: named({ ser: 'SERIALIZABLE' }) },
  { words: ['turso'], product: 'Turso', levels: named({ si: 'BEGIN CONCURRENT' }) },
  { words: ['duckdb'], product: 'DuckDB', levels: named({ si: 'SNAPSHOT ISOLATION' }) },
  {
    words: ['redis'],
    product: 'Redis',
    levels: named({ rc: 'MULTI without WATCH', ser: 'WATCH and MULTI' }),
  },
  {
    words: ['etcd'],
    product: 'etcd',
    levels: named({ rc: 'transactions without comparison', ser: 'transactions with comparison' }),
  },
] as const satisfies readonly DatabaseLevels[]

/** A database, where a level is meant as it means it: `postgresql:serializable`. */
export type DatabaseWord = (typeof DATABASE_LEVELS)[number]['words'][number]

export function findDatabase(word: string): DatabaseLevels | null {
  const all: readonly DatabaseLevels[] = DATABASE_LEVELS
  return all.find(({ words }) => words.includes(word.toLowerCase())) ?? null
}

/** Our id -> its own name. */
export function offeredBy(word: DatabaseWord): ReadonlyMap<LevelId, string> {
  return findDatabase(word)!.levels
}

/** What its documentation takes back of the level that it calls so. */
export function departuresOf(product: string, ownLevel: string): readonly Departure[] {
  const all: readonly DatabaseLevels[] = DATABASE_LEVELS
  const isIt = ({ words }: DatabaseLevels) =>
    words.some((word) => product.toLowerCase().startsWith(word))
  return (all.find(isIt)?.departures ?? []).filter(({ at }) => at === ownLevel)
}

/** What one gets who asks for a level by the database's own name; null if there is none. */
export function findOwnLevel(levels: ReadonlyMap<LevelId, string>, name: string): LevelId | null {
  const wanted = hyphenate(name)
  for (const [id, own] of levels) if (hyphenate(own) === wanted) return id
  return null
}

/** `REPEATABLE READ`, `repeatable_read` and `Repeatable-Read` are one. */
export function hyphenate(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '-')
}
