// Every level against brute force on random histories, with each choice of the orders that count;
// bounded staleness; counters, range reads and a cas that does not tell what it found. For as many
// seeds as one likes:
// npm run fuzz -- --only oracle-real-time --seed 1 --count 20000

import { Random } from '../../src/base/random.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { compareWithOracle } from '../small/compare.ts'
import { ORACLE_LEVELS } from '../small/oracle.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'
import { compareWays, JUDGED, judgeAt, KINDS } from '../small/spans.ts'
import { disagreementOnStaleness } from '../small/staleness.ts'
import { deciderOf, type Judge, type Property } from './property.ts'

/** Lists in a quarter of the histories, in half of those nothing else. */
const listsOf = (seed: number) => (seed % 4 === 0 ? { lists: seed % 8 === 0 ? 1 : 0.5 } : {})

function agreesWithOracle(orders: { sessionOrder: boolean; realTime: boolean } | null) {
  // With an order that is asked for there are times, and where others are named, some come after.
  return (seed: number, judge: Judge): string | null => {
    const after = orders?.sessionOrder && seed % 5 === 0 ? { after: 0.3 } : {}
    const shape = { ...listsOf(seed), ...(orders ? { times: true } : {}), ...after }
    const decide = deciderOf((history) => judge(history, orders ?? {}))
    const options = { families: [], firstSeed: seed, seeds: 1, shape, ...orders }
    return compareWithOracle(decide, ORACLE_LEVELS, options).disagreement
  }
}

function agreesOnStaleness(seed: number): string | null {
  const shape = shapeOf(seed, { ...listsOf(seed), times: true })
  return disagreementOnStaleness(randomHistory(seed, shape), seed % 3 !== 0)
}

/** Operations that are several reads and writes: a third has times, another one real time. */
function agreesOnKind([name, kind, fixed]: (typeof KINDS)[number]): Property {
  const run = (seed: number) => {
    const realTime = seed % 3 === 0
    const shape = shapeOf(seed, seed % 3 < 2 ? { ...fixed, times: true } : fixed)
    const made = kind(randomHistory(seed, shape), seed)
    if (made !== null) compareWays(made, { sessionOrder: seed % 5 !== 0, realTime })
    return null
  }
  return { name, run }
}

/** The sessions of a history are told in another order, which no level minds. */
function mindsNoOrder([name, kind, fixed]: (typeof KINDS)[number]): Property {
  const run = (seed: number) => {
    const made = kind(randomHistory(seed, shapeOf(seed, { ...fixed, times: true })), seed)
    if (made === null) return null
    const text = renderNotation(made.history)
    const [first, ...lines] = text.trim().split('\n')
    const isHeader = first!.startsWith('initial')
    const sessions = new Random(seed).shuffle(isHeader ? lines : [first!, ...lines])
    const retold = [...(isHeader ? [first!] : []), ...sessions].join('\n')
    const verdictsOf = (history: History) =>
      JUDGED.map((level) => judgeAt(history, { level }).verdict)
    const [told, other] = [verdictsOf(made.history), verdictsOf(parseNotation(retold))]
    const at = told.findIndex((verdict, i) => verdict !== other[i])
    return at < 0 ? null : `${JUDGED[at]} is ${told[at]}, not ${other[at]}\n${text}\n${retold}`
  }
  return { name: `${name}-retold`, run }
}

export const BRUTE_FORCE: readonly Property[] = [
  { name: 'oracle', run: agreesWithOracle(null) },
  { name: 'oracle-session', run: agreesWithOracle({ sessionOrder: true, realTime: false }) },
  { name: 'oracle-real-time', run: agreesWithOracle({ sessionOrder: false, realTime: true }) },
  { name: 'oracle-both-orders', run: agreesWithOracle({ sessionOrder: true, realTime: true }) },
  { name: 'oracle-no-order', run: agreesWithOracle({ sessionOrder: false, realTime: false }) },
  { name: 'oracle-stale', run: agreesOnStaleness },
  ...KINDS.map(agreesOnKind),
  ...KINDS.map(mindsNoOrder),
]
