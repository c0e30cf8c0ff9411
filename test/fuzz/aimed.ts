// Histories that show one of the names that random ones seldom come to: a few transactions that
// show it, several times over on keys of their own, in sessions of their own, with other keys
// read and written beside, and others around them. Main function: aimedHistory.

import { Random } from '../../src/base/random.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { generateSql } from '../../src/pipeline/generate-sql.ts'
import { SQL_FAULTS } from '../../src/sim/sql/faults.ts'
import { SQL_SHAPES } from '../../src/workload/sql/parameters.ts'
import { buildHistory } from '../small/draft.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

interface Aim {
  readonly name: string
  readonly weight: number // how often it is chosen: more where few levels show it
  readonly histories: readonly (readonly string[])[] // sessions; initially registers are 0
  readonly hasTimes?: true
}

const aim = (weight: number, name: string, ...histories: string[][]): Aim => ({
  name,
  weight,
  histories,
})
const once = (name: string, ...histories: string[][]): Aim => aim(1, name, ...histories)

/** Writers of whom each writes a key with the next one. */
const ROUND = ['w(a,1) w(x,1) w(z,1)', 'w(b,1) w(x,2) w(y,1)', 'w(c,1) w(y,2) w(z,2)']

const AIMS: readonly Aim[] = [
  once('AbortedRead', ['w(x,1) [aborted]', 'r(x,1)']),
  once('FutureRead', ['r(x,1) w(x,1)']),
  once(
    'NotMyLastWrite',
    ['w(x,1) w(x,2) r(x,1)'],
    ['w(x,1) w(x,2) w(x,3) r(x,2)', 'r(x,3) w(y,1)'],
  ),
  once('NotMyOwnWrite', ['w(x,1) r(x,0)'], ['w(x,1) r(x,2)', 'w(x,2)']),
  aim(5, 'NonMonotonicRead', ['w(x,1) | r(x,1) w(x,2) w(y,1)', 'r(y,1) r(x,1)']),
  aim(2, 'FracturedRead', ['w(x,1) w(y,1)', 'r(y,0) r(x,1)']),
  aim(2, 'G-single', ['append(l,1) append(m,1)', 'append(l,2)', 'r(l,[1,2]) r(m,[])']),
  aim(4, 'G2-item', ['r(x,0) w(y,1)', 'r(y,0) w(z,1)', 'r(z,0) w(x,1)']),
  once('IntermediateRead', ['w(x,1) w(x,2)', 'r(x,1)']),
  once('DuplicateElements', ['append(l,1)', 'r(l,[1,1])']),
  once('IncompatibleOrder', ['append(l,1)', 'append(l,2)', 'r(l,[1,2])', 'r(l,[2,1])']),
  aim(4, 'ReadYourWritesViolation', ['w(x,1) | r(x,0)'], ['w(x,1) | w(y,1) | r(x,0)']),
  aim(4, 'MonotonicReadsViolation', ['w(x,1)', 'r(x,1) | r(x,0)']),
  aim(4, 'MonotonicWritesViolation', ['w(x,1) | w(y,1)', 'r(y,1) r(x,0)']),
  aim(
    4,
    'WritesFollowReadsViolation', // and CausalityViolation
    ['w(x,1)', 'r(x,1) w(y,1)', 'r(y,1) r(x,0)'],
    ['w(x,1)', 'r(x,1) | w(y,1)', 'r(y,1) r(x,0)'],
  ),
  aim(5, 'WriteSkew', ['r(x,0) r(y,0) w(x,1)', 'r(x,0) r(y,0) w(y,1)']),
  aim(3, 'LongFork', ['w(x,1)', 'w(y,1)', 'r(x,1) r(y,0)', 'r(x,0) r(y,1)']),
  aim(
    6,
    'ReadOnlyAnomaly', // as Fekete, O'Neil and O'Neil found it
    ['r(x,0) r(y,0) w(x,1)', 'r(y,0) w(y,2)', 'r(x,0) r(y,2)'],
    ['r(x,0) r(y,0) w(x,1)', 'r(y,0) w(y,2)', 'r(y,2) r(x,0) r(z,0)', 'r(x,1) r(y,2) w(z,1)'],
  ),
  aim(
    4,
    'G-nonadjacent', // a long fork in three
    ['w(x,1)', 'w(y,1)', 'w(z,1)', 'r(x,1) r(y,0)', 'r(y,1) r(z,0)', 'r(z,1) r(x,0)'],
    ['w(x,1)', 'w(y,1)', 'w(z,1) w(u,1)', 'r(x,1) r(y,0)', 'r(y,1) r(z,0)', 'r(u,1) r(x,0)'],
  ),
  aim(
    8,
    'CircularInformationFlow',
    ['w(x,1) r(y,1)', 'r(x,1) w(y,1)'],
    ['r(x,1) | w(y,1)', 'r(y,1) w(x,1)'],
  ),
  once(
    'G0',
    ['append(l,1) append(m,1)', 'append(l,2) append(m,2)', 'r(l,[1,2]) r(m,[2,1])'],
    ['append(l,1) append(m,1)', 'append(l,2) append(m,2)', 'r(l,[1,2])', 'r(m,[2,1])'],
  ),
  aim(
    2,
    'G1c',
    ['append(l,1) r(m,[2])', 'append(l,2) append(m,2)', 'r(l,[1,2])'],
    ['append(l,1) r(n,[3])', 'append(l,2) append(m,2)', 'r(m,[2]) append(n,3)', 'r(l,[1,2])'],
  ),
  // Three writers of whom each precedes the next, by what was read first, at all, or by others.
  aim(2, 'NonMonoReadCM', [...ROUND, 'r(a,1) r(x,2)', 'r(b,1) r(y,2)', 'r(c,1) r(z,1)']),
  aim(3, 'FracturedReadCM', [...ROUND, 'r(x,2) r(a,1)', 'r(y,2) r(b,1)', 'r(z,1) r(c,1)']),
  aim(4, 'ConflictCM', ['w(x,1)', 'w(x,2)', 'r(x,1) | r(x,2)', 'r(x,2) | r(x,1)']),
  once('WrongVersion', ['w(x,1)@1', 'w(x,2)@2', 'r(x,1)@2'], ['w(x,1)@3', 'r(x,1)@1 w(x,2)@4']),
  {
    name: 'StaleRead',
    weight: 1,
    hasTimes: true,
    histories: [['w(x,1) [start=0 finish=1]', 'r(x,0) [start=2 finish=3]']],
  },
  {
    name: 'LostCommit',
    weight: 1,
    hasTimes: true,
    histories: [
      ['w(x,1) [start=0 finish=1]', 'r(x,0) [audit start=2 finish=3]'],
      [
        'w(x,1) [start=0 finish=1]',
        'r(x,1) w(x,2) [start=1 finish=2]',
        'r(x,1) [audit start=3 finish=4]',
      ],
    ],
  },
]

/** Names that take a strong level, which costs more to judge. */
const STRONG: ReadonlySet<string> = new Set([
  'G-single',
  'G2-item',
  'WriteSkew',
  'LongFork',
  'ReadOnlyAnomaly',
  'G-nonadjacent',
  'StaleRead',
])

const weigh = (weightOf: (aim: Aim) => number) =>
  AIMS.flatMap((aim) => Array<Aim>(weightOf(aim)).fill(aim))

const AT_ANY_LEVEL = weigh(({ name, weight }) => (STRONG.has(name) ? weight : 1))
const AT_WEAK_LEVELS = weigh(({ name, weight }) => (STRONG.has(name) ? 0 : weight))

/** A small history in which rows vanish, show twice, and are looked for by audits. */
export function brokenHistory(seed: number): History {
  const shape = shapeOf(seed, { broken: 0.2, audits: 0.3 })
  return buildHistory(randomHistory(seed, shape))
}

const LAST_FAULT = SQL_FAULTS.at(-1)!

/** Statements in a store with a fault of predicates. */
export function aimedSql(seed: number): History {
  const random = new Random(seed ^ 0x5a1d)
  const shape = random.pick(SQL_SHAPES)
  const fault = random.pick([...SQL_FAULTS, LAST_FAULT]) // which one level alone forbids
  const workload = { shape, sessions: 5, transactions: 40, districts: 3, levels: 'ser' }
  const store = { faults: [{ fault, count: MOST_COPIES / 2 }], lag: 0 }
  return generateSql({ seed, workload, store }).history
}

/** How often at most one history shows what it is aimed at. */
export const MOST_COPIES = 8

/** @param isWeak only what weak levels name */
export function aimedHistory(seed: number, isWeak = false): History {
  const random = new Random(seed ^ 0xa13d)
  const { histories, hasTimes } = random.pick(isWeak ? AT_WEAK_LEVELS : AT_ANY_LEVEL)
  const shown = Array.from({ length: 1 + random.below(MOST_COPIES) }, (_, copy) => {
    const mark = `${random.below(1000)}_${copy}`
    const sessions = random.pick(histories)
    return sessions.map((txns) => txns.replaceAll(/\(([a-z])/g, `($1${mark}`))
  })
  const others = Array.from(
    { length: hasTimes ? 0 : random.below(4) },
    (_, i) => `w(around${i},1)${random.chance(0.5) ? ` r(around${random.below(i + 1)},1)` : ''}`,
  )
  const sessions = [...shown.flat().map((txns) => beside(txns, random)), ...others]
  const lines = random.shuffle(sessions).map((txns, i) => `s${i}: ${txns}`)
  return parseNotation(`initial 0\n${lines.join('\n')}\n`)
}

/** The same operations with others on keys of their own between them. */
function beside(txns: string, random: Random): string {
  return txns
    .split(/(?<=\)) /)
    .flatMap((op) => {
      if (!op.includes('(') || op.startsWith('|') || !random.chance(0.3)) return [op]
      const key = `own${random.below(1e9)}`
      const own = random.pick([`w(${key},1)`, `r(${key},0)`, `w(${key},1) r(${key},1)`])
      return random.chance(0.5) ? [op, own] : [own, op]
    })
    .join(' ')
}
