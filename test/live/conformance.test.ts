// Every schedule on every database that is here: what each really gives at each of its levels. The
// answers are judged, not expected; expected is what comes out of that, because databases keep it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { examine } from '../../src/pipeline/conformance.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { isBroken } from '../../src/verdict/conformance.ts'
import { etcdName, firebirdDatabase, liveAddress, mysqlDatabase, redisDatabase } from './targets.ts'

interface Expected {
  /** Its own name of the level -> what one gets. */
  readonly got: Readonly<Record<string, string>>
  /** Level / schedule -> what it shows. */
  readonly shows: Readonly<Record<string, string | null>>
  readonly played: number
  /** The schedules that break what it promises (docs/found.md). */
  readonly weaker?: readonly string[]
}

const directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const POSTGRES: Expected = {
  got: { 'READ COMMITTED': 'rc', 'REPEATABLE READ': 'si', SERIALIZABLE: 'ser' },
  shows: {
    'READ COMMITTED/p4': 'LostUpdate',
    'READ COMMITTED/pmp-statement': 'Phantom',
    'READ COMMITTED/upsert-rows': 'Phantom',
    'REPEATABLE READ/p4': null,
    'REPEATABLE READ/g2': 'PredicateWriteSkew',
    'REPEATABLE READ/deferred': null,
    'REPEATABLE READ/g2-item-early': null, // the snapshot comes with the first statement
    'REPEATABLE READ/g2-item-snapshot': 'WriteSkew',
    'SERIALIZABLE/g2': null,
  },
  played: 35,
}

/** One server under two names: two nodes that show each other's writes at once, and locks. */
function twice(address: string | null): string | null {
  return address?.replace(/@127\.0\.0\.1(:\d+)/, '@127.0.0.1$1,localhost$1') ?? null
}

const postgres = liveAddress('ISOBAR_TEST_POSTGRES', 'PostgreSQL')
const uncommitted = await mysqlDatabase('conformance_uncommitted')

const DATABASES: readonly (readonly [name: string, address: string | null, Expected])[] = [
  ['embedded PostgreSQL', 'embedded', POSTGRES],
  ['PostgreSQL', postgres, POSTGRES],
  ['PostgreSQL by two addresses', twice(postgres), POSTGRES],
  [
    'MariaDB',
    await mysqlDatabase('conformance'),
    {
      got: { 'READ COMMITTED': 'rc', 'REPEATABLE READ': 'pc', SERIALIZABLE: 'ser' },
      shows: {
        'READ COMMITTED/pmp-statement': null,
        'REPEATABLE READ/p4': 'LostUpdate',
        'REPEATABLE READ/pmp-write': 'NonMonotonicRead',
        'REPEATABLE READ/index-skew': null,
        'SERIALIZABLE/g2': null,
      },
      played: 34,
    },
  ],
  [
    'MariaDB at READ UNCOMMITTED',
    uncommitted && `${uncommitted}?isolation=read-uncommitted`,
    {
      got: { 'READ UNCOMMITTED': 'rc' },
      shows: {
        'READ UNCOMMITTED/g0': null,
        'READ UNCOMMITTED/g1a': 'AbortedRead',
        'READ UNCOMMITTED/g1b': 'IntermediateRead',
        'READ UNCOMMITTED/g1c': 'CircularInformationFlow',
        'READ UNCOMMITTED/g1a-predicate': 'AbortedRead',
      },
      played: 34,
    },
  ],
  [
    'Firebird',
    await firebirdDatabase('conformance'),
    {
      got: { 'READ COMMITTED': 'rc', SNAPSHOT: 'si', 'SNAPSHOT TABLE STABILITY': 'si' },
      weaker: ['g2-item-early', 'g2-read-only-early', 'g2-early'],
      shows: {
        'READ COMMITTED/pmp': 'Phantom',
        'SNAPSHOT/p4': null,
        'SNAPSHOT/g2': 'PredicateWriteSkew',
        'SNAPSHOT TABLE STABILITY/g2': null,
        'SNAPSHOT TABLE STABILITY/g2-early': 'PredicateWriteSkew',
        'SNAPSHOT TABLE STABILITY/g2-item-snapshot': null,
      },
      played: 34,
    },
  ],
  [
    'SQLite',
    `sqlite:${join(directory, 'sqlite')}`,
    { got: { SERIALIZABLE: 'ser' }, shows: { 'SERIALIZABLE/g2': null }, played: 31 },
  ],
  [
    'Turso',
    `turso:${join(directory, 'turso')}`,
    {
      got: { 'BEGIN CONCURRENT': 'si' },
      shows: {
        'BEGIN CONCURRENT/g2': 'PredicateWriteSkew',
        'BEGIN CONCURRENT/g2-early': 'PredicateWriteSkew', // the snapshot comes with BEGIN
        'BEGIN CONCURRENT/p4': null,
        'BEGIN CONCURRENT/p4-replace': null,
      },
      played: 31,
    },
  ],
  [
    'DuckDB',
    'duckdb::memory:',
    {
      got: { 'SNAPSHOT ISOLATION': 'pc' },
      weaker: ['p4-replace'],
      shows: {
        'SNAPSHOT ISOLATION/g2': 'PredicateWriteSkew',
        'SNAPSHOT ISOLATION/p4': null,
        'SNAPSHOT ISOLATION/p4-replace': 'LostUpdate',
      },
      played: 31,
    },
  ],
  [
    'Redis',
    redisDatabase(5),
    { got: { 'MULTI without WATCH': 'rc', 'WATCH and MULTI': 'ser' }, shows: {}, played: 16 },
  ],
  [
    'etcd',
    etcdName('conformance'),
    {
      got: { 'transactions without comparison': 'rc', 'transactions with comparison': 'ser' },
      shows: {},
      played: 16,
    },
  ],
]

describe.each(DATABASES)('%s', (_, address, expected) => {
  it.skipIf(address === null)('gives at each level what is known of it', async () => {
    const target = parseTarget(address!, process.env)
    const found = await examine({ target, levels: null, patienceMs: 60_000, signal: null })
    const got = Object.fromEntries(found.levels.map((level) => [level.name, level.got]))
    expect(got).toEqual(expected.got)
    const broken = found.levels.flatMap(({ promised, outcomes }) =>
      outcomes.filter((outcome) => isBroken(outcome, promised)).map(({ schedule }) => schedule.id),
    )
    expect(broken).toEqual(expected.weaker ?? [])
    expect(found.levels.some(({ isWeaker }) => isWeaker)).toBe(broken.length > 0)
    for (const { name, outcomes } of found.levels) {
      const played = outcomes.filter(({ notPlayed }) => notPlayed === null)
      expect(played).toHaveLength(expected.played)
      for (const { schedule, anomalies } of played) {
        const shown = expected.shows[`${name}/${schedule.id}`]
        if (shown !== undefined) expect(anomalies, schedule.id).toEqual(shown ? [shown] : [])
      }
    }
  })
})
