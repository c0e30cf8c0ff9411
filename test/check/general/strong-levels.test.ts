import { describe, expect, it } from 'vitest'
import { Random } from '../../../src/base/random.ts'
import { check } from '../../../src/check/check.ts'
import type { CheckOptions } from '../../../src/check/options.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import type { AnomalyName } from '../../../src/levels/anomalies.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { parseFaults } from '../../../src/sim/faults.ts'
import type { LevelResult } from '../../../src/verdict/verdict.ts'
import { LONG } from '../../long.ts'
import { historyOf, randomFormula } from './sat-reduction.ts'

const SOLVE: CheckOptions = { algorithm: 'solve' }

function judge(notation: string, level: LevelId, options = SOLVE) {
  const result = check(parseNotation(notation), level, options)
  expect(result.verdict === 'unknown' || result.certificate?.verified).toBe(true)
  return result
}

interface Example {
  readonly name: AnomalyName
  readonly weakest: LevelId
  readonly wrong: string
  /** One edit away, and fine. */
  readonly right: string
  readonly txns: number
}

/** Searches with more and more time, until it shows what is looked for: machines are busy or not. */
function searchUntil(history: History, isSought: (result: LevelResult) => boolean): LevelResult {
  for (let budgetMs = 500; ; budgetMs *= 4) {
    const result = check(history, 'ser', { algorithm: 'search', budgetMs })
    if (isSought(result) || budgetMs > 30_000) return result
  }
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'LostUpdate',
    weakest: 'si',
    wrong: 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: w(x,3)\ns4: r(y,0)',
    right: 's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)\ns3: w(x,3)\ns4: r(y,0)',
    txns: 2,
  },
  {
    name: 'WriteSkew',
    weakest: 'ser',
    wrong: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)\ns3: w(z,1)',
    right: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,1) r(y,0) w(y,1)\ns3: w(z,1)',
    txns: 2,
  },
  {
    name: 'LongFork',
    weakest: 'pc',
    wrong: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)\ns5: w(y,2)',
    right: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,1) r(y,1)\ns5: w(y,2)',
    txns: 4,
  },
  {
    name: 'ReadOnlyAnomaly',
    weakest: 'ser',
    wrong: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(y,0) w(y,1)\ns3: r(x,0) r(y,1)',
    right: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(y,0) w(y,1)\ns3: r(x,0) r(y,0)',
    txns: 3,
  },
  {
    name: 'CausalityViolation',
    weakest: 'cc',
    wrong: 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)',
    right: 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,1)',
    txns: 3,
  },
  {
    name: 'SessionGuaranteeViolation',
    weakest: 'ra',
    wrong: 's1: w(x,1) | r(x,0)\ns2: w(x,2)',
    right: 's1: w(x,1) | r(x,2)\ns2: w(x,2)',
    txns: 2,
  },
]

const STRONG: readonly LevelId[] = ['pc', 'si', 'ser']
const ORDER: readonly LevelId[] = ['ra', 'cc', 'pc', 'si', 'ser']

describe('StrongLevels', () => {
  for (const { name, weakest, wrong, right, txns } of EXAMPLES) {
    it(`names ${name} on a core of ${txns} transactions where it is forbidden`, () => {
      for (const level of STRONG) {
        const result = judge(wrong, level)
        if (ORDER.indexOf(level) < ORDER.indexOf(weakest)) {
          expect(result.verdict).toBe('satisfied')
          continue
        }
        expect(result.anomalies.map((anomaly) => anomaly.name)).toEqual([name])
        expect(result.anomalies[0]!.txns.length).toBe(txns)
      }
    })

    it(`accepts the twin of ${name}`, () => {
      for (const level of STRONG) expect(judge(right, level).verdict).toBe('satisfied')
    })
  }

  it('blames real time for a stale read', () => {
    const stale = 's1: w(x,1) [0,1]\ns2: r(x,0) [2,3]'
    expect(judge(stale, 'ser').verdict).toBe('satisfied')
    expect(judge(stale, 'sser').anomalies.map((anomaly) => anomaly.name)).toEqual(['StaleRead'])
    expect(judge('s1: w(x,1) [0,2]\ns2: r(x,0) [2,3]', 'sser').verdict).toBe('satisfied')
  })

  it('lists independent anomalies one after another on request', () => {
    const two = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: r(y,0) w(y,1)\ns4: r(y,0) w(y,2)'
    expect(judge(two, 'si').anomalies.length).toBe(1)
    const all = judge(two, 'si', { ...SOLVE, all: true }).anomalies
    expect(all.map((anomaly) => anomaly.name)).toEqual(['LostUpdate', 'LostUpdate'])
    expect(all.flatMap((anomaly) => anomaly.txns).sort()).toEqual([0, 1, 2, 3])
  })

  it('never blames what snapshot isolation forbids where it holds', () => {
    const allowed = ['WriteSkew', 'ReadOnlyAnomaly', 'G2-item']
    let count = 0
    for (let seed = 1; seed <= 60; seed++) {
      const { history } = generate({
        seed,
        workload: { shape: 'general', sessions: 5, transactions: 60, ops: 4, keys: 14 },
        store: { level: 'si' },
      })
      expect(check(history, 'si').verdict).toBe('satisfied')
      for (const { name } of check(history, 'ser', { ...SOLVE, all: true }).anomalies) {
        expect(allowed, `seed ${seed}`).toContain(name)
        count++
      }
    }
    expect(count).toBeGreaterThan(60)
  })

  it('finds what search finds on histories of some size', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { history } = generate({
        seed,
        workload: { shape: 'general', sessions: 4, transactions: 40, ops: 4, keys: 12 },
        store: { level: seed % 2 === 0 ? 'si' : 'cc' },
      })
      for (const level of ['pc', 'si', 'ser', 'sser'] as const) {
        const solved = check(history, level, SOLVE)
        const searched = check(history, level, { algorithm: 'search' })
        expect(solved.verdict, `seed ${seed} at ${level}`).toBe(searched.verdict)
      }
    }
  })
})

describe('StrongLevels with a budget', () => {
  const { history } = generate({
    workload: { shape: 'general', sessions: 10, transactions: 2000, ops: 8, keys: 300 },
    store: { level: 'si' },
  })

  it('gives up with a reason when the time is used up', () => {
    const result = check(history, 'si', { ...SOLVE, budgetMs: 0 })
    expect(result.verdict).toBe('unknown')
    expect(result.reason).toContain('time budget')
  })

  it('gives up with a reason when the memory is used up', () => {
    const result = check(history, 'si', { ...SOLVE, memoryBytes: 1 << 20 })
    expect(result.verdict).toBe('unknown')
    expect(result.reason).toContain('memory budget')
  })

  it('keeps the time budget in a search that would take for ever', () => {
    const formula = randomFormula(new Random(1), 4, 30)
    const result = check(historyOf(formula, 4), 'ser', { algorithm: 'search', budgetMs: 200 })
    expect(result.verdict).toBe('unknown')
  })

  it('tells how far it came, and what it found of a weaker level', () => {
    const formula = randomFormula(new Random(1), 4, 30)
    const history = historyOf(formula, 4)
    const told = /longest valid order found has \d+ of \d+ steps; cc is satisfied/
    const result = searchUntil(history, ({ reason }) => told.test(reason ?? ''))
    expect(result.reason).toMatch(told)
  })

  it('takes the violation of a weaker level where the time does not do', () => {
    const hard = renderNotation(historyOf(randomFormula(new Random(1), 4, 30), 4))
    // Both sessions read from the hard part, so that they are no part of their own.
    const [first, last] = [hard.match(/w(\(.*?\))/)![1], hard.match(/.*w(\(.*?\))/s)![1]]
    const stale = `other1: r${first} w(p,1) w(q,1)\nother2: r${last} r(q,1) | r(p,0)`
    const history = parseNotation(`${hard}${stale}`)
    const result = searchUntil(history, ({ verdict }) => verdict === 'violated')
    expect(result).toMatchObject({ verdict: 'violated', impliedBy: 'cc' })
  })

  it('tells how many independent parts satisfy the level', () => {
    const formula = randomFormula(new Random(1), 4, 30)
    const hard = renderNotation(historyOf(formula, 4))
    const text = `initial 0\nother1: w(p,1)\nother2: r(p,1) r(q,0) | w(q,1)\n${hard}`
    const history = parseNotation(text)
    const result = check(history, 'ser', { algorithm: 'search', budgetMs: 200 })
    expect(result.reason).toContain('1 of 2 independent parts satisfy it')
  })
})

describe('StrongLevels on very many sessions', () => {
  const workload = {
    shape: 'general' as const,
    sessions: 3000,
    transactions: 6000,
    ops: 4,
    keys: 1000,
  }
  const judgeSi = (faults: string) => {
    const store = { level: 'si', faults: faults === '' ? [] : parseFaults(faults) } as const
    return check(generate({ workload, store, layout: 'session' }).history, 'si')
  }

  it('takes the order of the record as the proof', () => {
    const result = judgeSi('')
    expect(result.verdict).toBe('satisfied')
    expect(result.certificate).toEqual({ kind: 'snapshots', verified: true })
  })

  it('goes back to the record where session order does not count and it is nearly right', () => {
    for (const seed of LONG ? [1, 2] : [1]) {
      const { history } = generate({
        seed,
        workload: { shape: 'general', sessions: 20, transactions: 3000, ops: 4, keys: 300 },
        store: { level: 'ra' },
      })
      const result = check(history, 'si', { sessionOrder: false, budgetMs: 60_000 })
      expect(result.verdict, `seed ${seed}: ${result.reason}`).toBe('satisfied')
      expect(result.certificate?.verified).toBe(true)
    }
  })

  it('climbs to an order where neither record nor sessions say anything', () => {
    const alone = {
      shape: 'general' as const,
      sessions: 3000,
      transactions: 3000,
      ops: 8,
      keys: 1000,
    }
    const store = { level: 'ser' } as const
    const options = { workload: alone, store, layout: 'session', times: false } as const
    const result = check(generate(options).history, 'si', { budgetMs: 60_000 })
    expect(result.verdict, `${result.reason}`).toBe('satisfied')
    expect(result.certificate?.verified).toBe(true)
  })

  it('starts from the record to find what is wrong', () => {
    const result = judgeSi('lost-update:1')
    expect(result.anomalies.map((anomaly) => anomaly.name)).toEqual(['LostUpdate'])
  })
})
