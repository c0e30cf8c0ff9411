import { describe, expect, test } from 'vitest'
import { BudgetExceeded } from '../../src/base/errors.ts'
import { check } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import { generate } from '../../src/pipeline/generate.ts'
import { FAULTS } from '../../src/sim/faults.ts'
import { shrinkHistory } from '../../src/verdict/shrink.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { some } from '../long.ts'
import { buildHistory, cuts, draftOf } from '../small/draft.ts'
import { decideDraft, ORACLE_LEVELS, type OracleLevel } from '../small/oracle.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

const ORACLE_TXNS = 7 // the most that brute force can order in time

const at = (level: LevelId) => (history: History) => check(history, level)

/** Evidence withheld: the search is on its own. */
const silentAt = (level: LevelId) => (history: History) => ({
  ...check(history, level),
  anomalies: [],
})

/** Every transaction on a line of its own, by name. */
function linesOf(history: History): Map<string, string> {
  const lines = Array.from(history.txnStatus, (_, txn): [string, string] => {
    const text = renderNotation(history, [txn], { ids: true }).trim().split('\n').at(-1)!
    return [history.txnName(txn), text]
  })
  return new Map(lines)
}

/** Leaves only a part of operations away, in their order, and keeps all else. */
function expectPart(part: History, whole: History): void {
  const lines = linesOf(whole)
  for (const [name, line] of linesOf(part)) {
    const [words, of] = [line, lines.get(name)!].map((text) => text.split(/ (?![^[(]*\]\))/))
    let from = 0
    for (const word of words!) {
      from = of!.indexOf(word, from) + 1
      expect([name, word, from]).not.toContain(0)
    }
  }
}

/** Asserts that nothing can be left out; returns whether brute force could tell. */
function expectMinimal(history: History, level: OracleLevel): boolean {
  const { draft } = draftOf(history)
  const isSmall = history.txnCount <= ORACLE_TXNS
  const decide = (smaller: typeof draft) =>
    isSmall ? decideDraft(smaller, level) : check(buildHistory(smaller), level).verdict
  expect(decide(draft)).toBe('violated')
  for (const smaller of cuts(draft)) {
    if (decide(smaller) !== 'violated') continue
    const [whole, part] = [history, buildHistory(smaller)].map((h) => renderNotation(h))
    expect.unreachable(`${level} is still violated by a part\n${whole}\n${part}`)
  }
  return isSmall
}

describe('shrinkHistory', () => {
  for (const fault of FAULTS) {
    test(`leaves of ${fault.name} what it takes, at every level that forbids it`, async () => {
      let judged = 0
      for (const shape of ['general', 'mini', 'append'] as const) {
        const workload = { shape, sessions: 5, transactions: 60, ops: 4, keys: 12 }
        const store = { level: 'sser' as const, faults: [{ fault, count: 1 }] }
        const { history } = generate({ seed: 3, workload, store })
        const { forbiddenFrom } = (shape === 'append' && fault.onLists) || fault
        for (const level of CHAIN.slice(CHAIN.indexOf(forbiddenFrom))) {
          const shrunk = await shrinkHistory(history, at(level))
          expect(shrunk.result.verdict).toBe('violated')
          expectPart(shrunk.history, history)
          if (expectMinimal(shrunk.history, level as OracleLevel)) judged++
        }
      }
      expect(judged).toBeGreaterThan(0)
    })
  }

  test('leaves nothing that could go of random histories, with evidence or without', async () => {
    const found = new Map<OracleLevel, number>()
    for (let seed = 1; seed <= some(400); seed++) {
      const shape = shapeOf(seed, seed % 4 === 0 ? { lists: 0.7 } : {})
      const history = buildHistory(randomHistory(seed, shape))
      for (const level of ORACLE_LEVELS) {
        if (check(history, level).verdict !== 'violated') continue
        const decide = seed % 2 === 0 ? at(level) : silentAt(level)
        const shrunk = await shrinkHistory(history, decide)
        expectPart(shrunk.history, history)
        expectMinimal(shrunk.history, level)
        found.set(level, (found.get(level) ?? 0) + 1)
      }
    }
    for (const level of ORACLE_LEVELS) expect(found.get(level)).toBeGreaterThan(some(30))
  })

  test('finds its way in a large history without any evidence', async () => {
    const workload = { shape: 'general' as const, sessions: 5, transactions: 400, ops: 4, keys: 60 }
    const faults = [{ fault: FAULTS.find(({ name }) => name === 'write-skew')!, count: 2 }]
    const { history } = generate({ seed: 5, workload, store: { level: 'sser', faults } })
    const shrunk = await shrinkHistory(history, silentAt('ser'))
    expect(shrunk.verdicts).toBeLessThan(200)
    expectPart(shrunk.history, history)
    expect(expectMinimal(shrunk.history, 'ser')).toBe(true)
  })

  test('keeps names, sessions, status, times and levels', async () => {
    const history = parseNotation(`
      s7: w(x,1) w(z,9) [id=first indeterminate start=1 level=si] | r(z,9) [id=gone 4,5]
      reader: r(x,1) r(x,0) [2,3]
      s8: [committed]`)
    const shrunk = await shrinkHistory(history, at('ci'))
    const kept = linesOf(shrunk.history)
    expect([...kept.values()]).toEqual([
      's7: w(x,1) [id=first indeterminate start=1 level=si]',
      'reader: r(x,1) r(x,0) [id="#3" start=2 finish=3]',
    ])
    expect(shrunk.result.anomalies.map(({ name }) => name)).toEqual(['NonRepeatableRead'])
  })

  test('keeps numbers as names where the history has none', async () => {
    const history = parseNotation('s1: w(x,1) | r(y,0)\ns2: r(x,5)')
    const { history: left } = await shrinkHistory(history, at('rc'))
    expect([left.txnName(0), left.txnLabel(0)]).toEqual(['T3', 3])
  })

  test('keeps lightweight operations whole, with the versions they rest on', async () => {
    const history = parseNotation(`
      initial null
      s1: insert(x,1) [1,2] | cas(x,1,2) [3,4] | cas(x,2,3) [5,6] | cas(x,1,9,3) [7,8]
      s2: insert(y,5) [1,6] | r(x,1) [7,8]`)
    for (const level of ['lin', 'sser'] as const) {
      const shrunk = await shrinkHistory(history, at(level), { whole: level === 'lin' })
      expect([...linesOf(shrunk.history).values()]).toEqual([
        's1: insert(x,1) [id=T1 start=1 finish=2]',
        's1: cas(x,1,2) [id=T2 start=3 finish=4]',
        's2: r(x,1) [id=T6 start=7 finish=8]',
      ])
    }
  })

  test('drops transactions that did nothing, even if all others must stay', async () => {
    const text = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: [committed]'
    const { history } = await shrinkHistory(parseNotation(text), at('si'))
    expect(history.txnCount).toBe(2)
    expect(expectMinimal(history, 'si')).toBe(true)
  })

  test('leaves a history alone that does not violate the level', async () => {
    const history = parseNotation('s1: w(x,1) | r(x,1)')
    const shrunk = await shrinkHistory(history, at('ser'))
    expect(shrunk.history).toBe(history)
    expect([shrunk.result.verdict, shrunk.verdicts]).toEqual(['satisfied', 1])
    const unsure = (whole: History): LevelResult => ({ ...check(whole, 'ser'), verdict: 'unknown' })
    expect((await shrinkHistory(history, unsure)).verdicts).toBe(1)
  })
})

describe('shrinkHistory with a budget', () => {
  const whole = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: w(y,1) | w(z,1)\n')

  test('ends with what violates the level when the budget runs out', async () => {
    let steps = 0
    const shrunk = await shrinkHistory(whole, silentAt('si'), {
      onStep: () => {
        if (++steps === 2) throw new BudgetExceeded('time')
      },
    })
    expect([shrunk.isLeast, shrunk.verdicts]).toEqual([false, 3])
    expect(check(shrunk.history, 'si').verdict).toBe('violated')
  })

  test('says that nothing can be left out when it does not', async () => {
    expect((await shrinkHistory(whole, silentAt('si'))).isLeast).toBe(true)
  })
})
