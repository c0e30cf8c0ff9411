// Histories of the kinds of operations that the simulated store does not make: registers with few
// values, counters, sets, range reads, and versions that the store gave. One transaction takes effect
// after the other, two apart in time, each somewhere in its interval. Main table: LEVEL_HISTORIES.

import { readFileSync, writeFileSync } from 'node:fs'
import { Random } from '../src/base/random.ts'
import { LEVELS } from '../src/levels/levels.ts'
import { generate } from './measure.ts'

type Op = readonly unknown[]

/** Writes a history of `count` transactions, each as `perform` says. */
function write(
  file: string,
  { count, sessions }: { count: number; sessions: number },
  perform: (random: Random, txn: number) => Op[],
): void {
  const random = new Random(1)
  const lines = ['{"isobar":1,"initial":0,"unit":"us"}']
  for (let txn = 0; txn < count; txn++) {
    const start = 2 * txn - random.below(sessions)
    const finish = 2 * txn + random.below(sessions)
    const ops = perform(random, txn)
    lines.push(JSON.stringify({ session: txn % sessions, start, finish, ops }))
  }
  writeFileSync(file, `${lines.join('\n')}\n`)
}

/** One register of five values and five clients, as Jepsen's test of etcd has it. */
const register =
  (count: number, wrong: number) =>
  (file: string): void => {
    let value = 0
    const writtenBy = [0, -1, -1, -1, -1] // value -> the last transaction that wrote it
    write(file, { count, sessions: 5 }, (random, txn) => {
      // What was replaced the longest ago.
      if (txn === wrong) return [['r', 'x', writtenBy.indexOf(Math.min(...writtenBy))]]
      if (random.chance(0.5)) return [['r', 'x', value]]
      value = random.below(5)
      writtenBy[value] = txn
      return [['w', 'x', value]]
    })
  }

/** Ten counters; what is added differs. */
function counters(file: string): void {
  const totals = new Array<number>(10).fill(0)
  write(file, { count: 1000, sessions: 20 }, (random, txn) => {
    const key = random.below(totals.length)
    if (random.chance(0.5)) return [['r', `c${key}`, totals[key]!]]
    totals[key]! += txn + 1
    return [['inc', `c${key}`, txn + 1]]
  })
}

/** Ten sets, to which each element is added once; what is read is all of a set. */
function sets(file: string): void {
  const sets = Array.from({ length: 10 }, (): number[] => [])
  write(file, { count: 1000, sessions: 20 }, (random, txn) => {
    const key = random.below(sets.length)
    if (random.chance(0.5)) return [['set', `s${key}`, [...sets[key]!]]]
    sets[key]!.push(txn + 1)
    return [['add', `s${key}`, txn + 1]]
  })
}

/** Rows 1 to 100, each written once; ranges of ten. */
function ranges(file: string): void {
  const rows = new Map<number, number>()
  write(file, { count: 1000, sessions: 20 }, (random, txn) => {
    const key = 1 + random.below(100)
    if (!rows.has(key) && random.chance(0.5)) {
      rows.set(key, txn + 1)
      return [['w', key, txn + 1]]
    }
    const found = [...rows].filter(([row]) => row >= key && row < key + 10)
    return [['range', key, key + 9, found.sort(([a], [b]) => a - b)]]
  })
}

/** A transaction's version is its place in the order of commits. */
function versions(file: string): void {
  const shape = ['--sessions', '50', '--ops', '8', '--keys', '5000']
  generate(file, ['--store', 'ser', '--transactions', '100000', ...shape])
  let version = 0
  const numbered = (line: string) => line.replace('"ops":', () => `"version":${++version},"ops":`)
  writeFileSync(file, readFileSync(file, 'utf8').split('\n').map(numbered).join('\n'))
}

/** Levels that any history of registers or lists may be asked for. */
export const USUAL = LEVELS.map(({ id }) => id).filter((id) => id !== 'mixed' && id !== 'lin')

export const LEVEL_HISTORIES: readonly (readonly [
  name: string,
  make: (file: string) => void,
  levels: readonly string[],
  options: readonly string[],
])[] = [
  ['versions given, 100,000', versions, USUAL, []],
  ['counters, 1,000', counters, [...USUAL.filter((id) => id !== 'stale'), 'lin'], []],
  ['sets, 1,000', sets, [...USUAL, 'lin'], []],
  ['range reads, 1,000', ranges, [...USUAL, 'lin'], []],
  ...[170, 1000, 5000].map(
    (count) =>
      [
        `register of 5 values, ${count.toLocaleString('en')}`,
        register(count, -1),
        ['lin', 'sser', 'ser+lin', 'ser', 'si', 'cc', 'rc'],
        ['--duplicate-values'],
      ] as const,
  ),
  ...[170, 1000].map(
    (count) =>
      [
        `register of 5 values, one read wrong, ${count.toLocaleString('en')}`,
        register(count, count - 20),
        ['lin'],
        ['--duplicate-values'],
      ] as const,
  ),
]
