// Writes the matrix of docs/databases.md from what databases do: every schedule of `isobar
// conformance`, on the targets that are named, on SQLite, Turso and DuckDB, and on the servers that
// scripts/live-databases.sh starts:
//
//   scripts/live-databases.sh run npm run conformance -- embedded
//
// Versions of a database that do all alike share their columns. In a cluster it is a race which of
// two nodes hears of the other's commit first, so there everything is played several times, and a
// cell says the worst.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LevelId, OWN_LEVELS } from '../src/levels/levels.ts'
import { examine } from '../src/pipeline/conformance.ts'
import { parseTarget } from '../src/record/targets.ts'
import { compared, gets } from '../src/report/conformance-text.ts'
import {
  type Conformance,
  type LevelOutcome,
  type Outcome,
  weigh,
} from '../src/verdict/conformance.ts'
import { SCHEDULES } from '../src/workload/schedules.ts'

const PAGE = join(import.meta.dirname, '..', 'docs', 'databases.md')
const BEGIN = '<!-- conformance: written by scripts/conformance.ts -->'
const END = '<!-- end of conformance -->'
const SERVERS = ['POSTGRES', 'MYSQL', 'GALERA', 'FIREBIRD', 'REDIS', 'ETCD'].flatMap(
  (name) => process.env[`ISOBAR_TEST_${name}`] ?? [],
)
const TIMES_IN_A_CLUSTER = 5
/** What a MariaDB does otherwise when it is asked to: parameters, of which levels, and how to say so. */
const SPECIAL: readonly (readonly [parameters: string, levels: LevelId[] | null, words: string])[] =
  [
    ['?isolation=read-uncommitted', null, ''],
    ['?set=innodb_snapshot_isolation=ON', ['si'], ' with innodb_snapshot_isolation=ON'],
  ]

/** A level of databases that do all alike there. */
interface Column {
  readonly databases: string[]
  readonly level: LevelOutcome
}

const directory = mkdtempSync(join(tmpdir(), 'isobar-docs-'))
const files = [`sqlite:${join(directory, 'sqlite')}`, `turso:${join(directory, 'turso')}`]
try {
  const found: Conformance[] = []
  const add = async (text: string, levels: LevelId[] | null = null, words = '') => {
    const target = parseTarget(text, process.env)
    const play = () => examine({ target, levels, patienceMs: 60_000, signal: null })
    let one = await play()
    const times = one.nodeCount > 1 ? TIMES_IN_A_CLUSTER : 1
    for (let time = 1; time < times; time++) one = worstOf(one, await play())
    const named = one.levels.map((level) => ({ ...level, name: level.name + words }))
    found.push({ ...one, levels: named })
    process.stdout.write(`${one.database}${words}\n`)
  }
  const plain = [...process.argv.slice(2), ...SERVERS, ...files, 'duckdb::memory:']
  for (const text of plain) await add(text)
  const mysql = process.env['ISOBAR_TEST_MYSQL']
  if (mysql) for (const [parameters, ...rest] of SPECIAL) await add(mysql + parameters, ...rest)
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest] = page.split(BEGIN)
  const [, after] = rest!.split(END)
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${render(found)}\n${END}${after}`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function worstOf(one: Conformance, other: Conformance): Conformance {
  const levels = one.levels.map(({ name, promised, outcomes }, i) => {
    const others = other.levels[i]!.outcomes
    const worst = outcomes.map((each, j) => (rank(others[j]!) < rank(each) ? others[j]! : each))
    return weigh(name, promised, worst)
  })
  return { ...one, levels }
}

/** The weaker the level is that is broken, the less. */
function rank({ violated }: Outcome): number {
  return violated === null ? OWN_LEVELS.length : OWN_LEVELS.indexOf(violated)
}

function render(found: readonly Conformance[]): string {
  const columns = columnsOf(found)
  const levels = columns.map(({ databases, level }) => [
    joinVersions(databases),
    level.name,
    gets(level),
    compared(level),
  ])
  const heads = columns.map(({ databases, level }) => `${joinVersions(databases)}: ${level.name}`)
  const rows = SCHEDULES.map(({ name, about }, i) => [
    `${name}: ${about}`,
    ...columns.map(({ level }) => cell(level.outcomes[i]!)),
  ])
  return `${table(['database', 'asked for', 'one gets', 'promised'], levels)}\n${table(['schedule', ...heads], rows)}`
}

/** Columns in the order of levels, versions that are alike together. */
function columnsOf(found: readonly Conformance[]): Column[] {
  const columns: Column[] = []
  const sorted = [...found].sort((a, b) => order(a.database).localeCompare(order(b.database)))
  for (const { database, levels } of sorted) {
    for (const level of levels) {
      const same = columns.find(
        (other) => productOf(other.databases[0]!) === productOf(database) && isAlike(other, level),
      )
      if (same?.databases.includes(database)) continue
      if (same) same.databases.push(database)
      else columns.push({ databases: [database], level })
    }
  }
  const place = ({ databases }: Column) =>
    sorted.findIndex((each) => each.database === databases[0])
  return columns.sort((a, b) => place(a) - place(b))
}

function isAlike({ level }: Column, other: LevelOutcome): boolean {
  return (
    level.name === other.name && level.outcomes.map(cell).join() === other.outcomes.map(cell).join()
  )
}

function cell({ notPlayed, violated, anomalies }: Outcome): string {
  if (notPlayed !== null) return 'n/a'
  return violated === null ? '·' : `${anomalies.join(', ')} (${violated})`
}

/** Numbers by their size. */
function order(database: string): string {
  return database.replace(/\d+/g, (digits) => digits.padStart(4, '0'))
}

function productOf(database: string): string {
  return database.split(' ')[0]!
}

/** `PostgreSQL 15.18, 18.4` */
function joinVersions([first, ...others]: readonly string[]): string {
  return [first, ...others.map((name) => name.slice(productOf(name).length + 1))].join(', ')
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('')
}
