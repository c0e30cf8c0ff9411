// Budgets of time: kept whatever the history is like, and never at the price of a wrong verdict.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { Deadline, type Stage } from '../../src/base/deadline.ts'
import { BudgetExceeded } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { check, checkModels } from '../../src/check/check.ts'
import { judge } from '../../src/check/judge.ts'
import type { CheckOptions } from '../../src/check/options.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { generate } from '../../src/pipeline/generate.ts'
import { generateSql } from '../../src/pipeline/generate-sql.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { some } from '../long.ts'
import { historyOf, randomFormula } from './general/sat-reduction.ts'

const BUDGET_MS = 1000
const TOLERANCE_MS = 500 // of processor time, which threads of the engine take as well
const LONGEST_GAP_MS = 250 // of processor time, between two looks at the clock

const original = Deadline.prototype.check
afterEach(() => {
  Deadline.prototype.check = original
})

/** Notes the longest stretch of processor time without a look at the clock. */
function watchGaps(): () => number {
  let longest = 0
  let last = process.cpuUsage()
  const look = () => {
    const { user, system } = process.cpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.cpuUsage()
  }
  Deadline.prototype.check = function (this: Deadline) {
    look()
    original.call(this)
  }
  return () => {
    look()
    return longest
  }
}

/** Sessions one after another in the file, so that nobody can tell when things happened. */
function manySessions(transactions: number, sessions: number, keys: number): History {
  const workload = { shape: 'general' as const, transactions, sessions, ops: 8, keys }
  return generate({ workload, store: { level: 'ser' }, layout: 'session', times: false }).history
}

let lazyCrowd: History | null = null
function crowd(): History {
  lazyCrowd ??= manySessions(40_000, 13_000, 7000)
  return lazyCrowd
}

function formula(variables: number, clauses: number): History {
  return historyOf(randomFormula(new Random(7), variables, clauses), variables)
}

function statements(transactions: number): History {
  return generateSql({ workload: { shape: 'sql', transactions, sessions: 20 } }).history
}

const SESSIONLESS: CheckOptions = { sessionOrder: false, algorithm: 'solve' }

const HARD: [string, () => History, LevelId | null, CheckOptions][] = [
  ['si with thousands of sessions', crowd, 'si', {}],
  ['pc with thousands of sessions', crowd, 'pc', {}],
  ['ser without session order', () => manySessions(30_000, 300, 500), 'ser', SESSIONLESS],
  ['a formula', () => formula(800, 3300), 'ser', { algorithm: 'solve' }],
  ['a search', () => manySessions(20_000, 2000, 2000), 'si', { algorithm: 'search' }],
  ['SQL statements', () => statements(1500), 'si', {}],
  ['every level', crowd, null, {}],
]

describe('a budget of time', () => {
  it.each(HARD)('is kept: %s', async (_, make, level, options) => {
    const history = make()
    const longestGap = watchGaps()
    const started = process.cpuUsage()
    const results = await judge(history, level && [level], { ...options, budgetMs: BUDGET_MS })
    const { user, system } = process.cpuUsage(started)
    expect(longestGap()).toBeLessThan(LONGEST_GAP_MS)
    expect((user + system) / 1000).toBeLessThan(1.1 * BUDGET_MS + TOLERANCE_MS)
    const unknown = results.filter(({ verdict }) => verdict === 'unknown')
    expect(unknown.length).toBeGreaterThan(0)
    for (const { reason } of unknown) expect(reason).toContain('the time budget of 1 s ran out')
  })

  it('counts from when it is told to', () => {
    const history = manySessions(2000, 100, 100)
    const budget = { budgetMs: 60_000, budgetFromMs: performance.now() - 60_000 }
    expect(check(history, 'si', { ...budget, algorithm: 'solve' }).verdict).toBe('unknown')
    expect(check(history, 'si', { budgetMs: 60_000, algorithm: 'solve' }).verdict).toBe('satisfied')
  })
})

describe('Deadline', () => {
  let now = 0
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** A deadline of a second, on a clock of ours. */
  function begin(share = 1): Deadline {
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    now = 5000
    return new Deadline(1000, null, null, { share })
  }

  it('passes when its share of the time is over, and then has some left to the end', () => {
    const deadline = begin(0.9)
    now = 5890
    deadline.check()
    now = 5910
    expect(() => deadline.check()).toThrow('the time budget of 1 s ran out')
    deadline.toTheEnd().check()
    now = 5990
    expect(() => deadline.toTheEnd().check()).toThrow(BudgetExceeded)
  })

  it('keeps half of what is left from each of several tasks but the last', () => {
    const deadline = begin()
    deadline.divide(3)
    now = 5510
    expect(() => deadline.check()).toThrow('its part of the time budget of 1 s ran out')
    deadline.divide(2)
    now = 5740
    deadline.check()
    now = 5760
    expect(() => deadline.check()).toThrow('its part')
    deadline.divide(1)
    now = 5990
    deadline.check()
    now = 6010
    expect(() => deadline.check()).toThrow('the time budget')
  })

  it('does not let what ends one task take the time of the others', () => {
    const deadline = begin()
    deadline.divide(2)
    const later = deadline.toTheEnd()
    now = 5740
    later.check()
    now = 5760
    expect(() => later.check()).toThrow('its part')
  })

  it('looks at the clock once in many steps', () => {
    const deadline = begin()
    now = 6010
    for (let i = 0; i < 1000; i++) deadline.step()
    expect(() => deadline.step(1_000_000)).toThrow(BudgetExceeded)
  })
})

/** What comes of it if the budget runs out at one look at the clock after another. */
function interrupt(history: History, level: LevelId, options: CheckOptions): LevelResult[] {
  const results: LevelResult[] = []
  for (let allowed = 0; ; allowed++) {
    let looks = 0
    const onTick = () => {
      if (looks++ >= allowed) throw new BudgetExceeded('the test ran out of patience')
    }
    const result = check(history, level, { ...options, onTick })
    results.push(result)
    if (looks <= allowed) return results
  }
}

describe('running out of budget', () => {
  it.each(['pc', 'si', 'ser', 'sser', 'cc'] as const)(
    'never changes the verdict of %s',
    (level) => {
      const verdicts = new Set<string>()
      for (let seed = 1; seed <= some(12, 2); seed++) {
        const { history } = generate({
          seed,
          workload: { shape: 'general', transactions: 120, sessions: 6, ops: 4, keys: 8 },
          store: { level: seed % 3 === 0 ? 'ser' : seed % 3 === 1 ? 'si' : 'rc' },
          layout: 'session',
        })
        for (const algorithm of ['auto', 'solve'] as const) {
          const { verdict } = check(history, level, { algorithm })
          for (const result of interrupt(history, level, { algorithm })) {
            expect(['unknown', verdict]).toContain(result.verdict)
            if (result.verdict === 'unknown') expect(result.reason).toContain('out of patience')
            expect(certifyPlain(history, result).problems).toEqual([])
          }
          verdicts.add(verdict)
        }
      }
      expect([...verdicts].sort()).toEqual(['satisfied', 'violated'])
    },
  )
})

/** What comes of it if the work's part of the time is over at one look at the clock after another. */
function stopAtEachLook(
  history: History,
  level: LevelId,
  isEnough: (result: LevelResult) => boolean = () => false,
): LevelResult[] {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const results: LevelResult[] = []
  for (let allowed = 0; ; allowed++) {
    let looks = 0
    now = 0
    const onTick = () => {
      if (looks++ >= allowed) now = 950 // of 1000, the last 100 of which are kept
    }
    const result = check(history, level, { budgetMs: 1000, onTick })
    results.push(result)
    if (looks <= allowed || isEnough(result)) return results
  }
}

describe('the last part of a time budget', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each(['rc', 'mr', 'ra', 'cc', 'psi', 'pc', 'si', 'ser'] as const)(
    'settles %s by what it can still tell',
    (level) => {
      const history = parseNotation('initial 0\ns1: w(x,1) w(y,1)\ns2: r(x,1) r(y,0)\n')
      const results = stopAtEachLook(history, level)
      expect(results.length).toBeGreaterThan(3)
      for (const result of results) {
        expect(result).toMatchObject({ verdict: 'violated', reason: null })
        expect(certifyPlain(history, result).problems).toEqual([])
      }
    },
  )

  it('settles models by weaker ones', () => {
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const onTick = ({ level }: Stage) => {
      // What is judged first, the strongest, gets all the time there is.
      if (level === 'sser' || level === 'ser') now = 2000
      else now = 0
    }
    const history = parseNotation('initial 0\ns1: w(x,1) w(y,1)\ns2: r(x,1) r(y,0)\n')
    const results = checkModels(history, { budgetMs: 1000, onTick })
    for (const result of results) expect(certifyPlain(history, result).problems).toEqual([])
    const told = results.filter(({ verdict }) => verdict === 'violated')
    expect(told.map(({ level }) => level)).toContain('ser')
    const open = results.filter(({ verdict }) => verdict === 'unknown')
    for (const { reason } of open) expect(reason).toBe('the history has no times')
  })

  it('shows a long cycle where there is no time for a short one', () => {
    // A ring: each reads what the next one and two further ones overwrite.
    const size = 700
    const lines = Array.from({ length: size }, (_, i) => {
      const others = [1, 2, 3].map((step) => `r(k${(i + step) % size},0)`)
      return `s${i}: r(k${i},0) w(k${i},1) ${others.join(' ')}`
    })
    const history = parseNotation(`initial 0\n${lines.join('\n')}\n`)
    const lengthOf = ({ anomalies }: LevelResult) => anomalies[0]?.edges.length
    const shortest = lengthOf(check(history, 'ser'))
    const results = stopAtEachLook(history, 'ser', (result) => lengthOf(result) === shortest)
    const first = results.findIndex(({ verdict }) => verdict === 'violated')
    const after = results.slice(first)
    expect(after.filter(({ verdict }) => verdict !== 'violated')).toEqual([])
    expect(new Set(after.map(lengthOf)).size).toBeGreaterThan(1)
    for (const result of after) expect(certifyPlain(history, result).problems).toEqual([])
  })
})
