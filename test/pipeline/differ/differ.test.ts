// The smallest histories on which two levels differ, compared with the oracle of test/small on
// every history that its enumerator, which shares nothing with the one tested, makes.

import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../src/base/errors.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { CHAIN } from '../../../src/levels/levels.ts'
import { readLevel } from '../../../src/levels/words.ts'
import { type Difference, differ } from '../../../src/pipeline/differ/differ.ts'
import { type DifferShape, SHAPES } from '../../../src/pipeline/differ/shapes.ts'
import { skeletons } from '../../../src/pipeline/differ/skeletons.ts'
import { timings } from '../../../src/pipeline/differ/times.ts'
import { type Draft, draftOf } from '../../small/draft.ts'
import { smallHistories } from '../../small/enumerate.ts'
import { decideHistory, type OracleLevel, profileOf } from '../../small/oracle.ts'

const find = (a: string, b: string, shape: DifferShape = 'general', maxOps = 6) =>
  differ(readLevel(a), readLevel(b), { shape, maxOps })

/** Found once for all tests. */
const steps = new Map<string, Promise<Difference[]>>()
function stepOf(weak: string, strong: string): Promise<Difference[]> {
  const name = `${weak} ${strong}`
  const step = steps.get(name) ?? find(weak, strong)
  steps.set(name, step)
  return step
}

const textOf = ({ history }: Difference) => history && renderNotation(history).trimEnd()

describe('differ', () => {
  it('finds what each level of the chain allows and the next one forbids', async () => {
    const found: Record<string, string | null> = {}
    for (const [i, weak] of CHAIN.slice(0, -1).entries()) {
      const strong = CHAIN[i + 1]!
      const [there, back] = await stepOf(weak, strong)
      expect(back!.isImplied, strong).toBe(true)
      expect(there!.results!.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
      expect(there!.results!.every(({ certificate }) => certificate?.verified)).toBe(true)
      expect(decideHistory(there!.history!, weak as OracleLevel)).toBe('satisfied')
      expect(decideHistory(there!.history!, strong as OracleLevel)).toBe('violated')
      found[`${weak} ${strong}`] = textOf(there!)
    }
    expect(found).toEqual({
      'rc ra': 's1: w(x,1) | r(x,0)',
      'ra cc': 's1: r(x,1) | r(x,0)\ns2: w(x,1)',
      'cc pc': 's1: w(x,1) | r(y,0)\ns2: w(y,1) | r(x,0)',
      'pc si': 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)',
      'si ser': 's1: r(x,0) w(y,1)\ns2: w(x,1) r(y,0)',
      'ser sser': 's1: r(x,0) [start=2 finish=3]\ns2: w(x,1) [start=0 finish=1]',
    })
  })

  it('finds nothing larger than the oracle finds among all small histories', async () => {
    const levels = CHAIN.slice(0, -1) as OracleLevel[]
    const least = new Map<string, number>() // two levels -> operations
    for (let txns = 1; txns <= 4; txns++) {
      const bounds = { txns, maxOps: 2, maxTotalOps: 4, keys: 2 }
      for (const draft of smallHistories(bounds)) {
        const size = draft.sessions.flat().reduce((sum, { ops }) => sum + ops.length, 0)
        const profile = profileOf(draft)
        for (const [i, weak] of levels.slice(0, -1).entries()) {
          const pair = `${weak} ${levels[i + 1]}`
          if (profile[weak] !== 'satisfied' || profile[levels[i + 1]!] !== 'violated') continue
          least.set(pair, Math.min(size, least.get(pair) ?? Number.POSITIVE_INFINITY))
        }
      }
    }
    expect(least.size).toBe(levels.length - 1)
    for (const [pair, size] of least) {
      const [weak, strong] = pair.split(' ')
      const [there] = await stepOf(weak!, strong!)
      expect(there!.history!.opCount, pair).toBe(size)
    }
  })

  it('tells both directions, and levels with session order from those without', async () => {
    const [ci, rc] = await find('ci', 'rc')
    expect(textOf(ci!)).toBe('s1: r(x,1) | w(x,1)')
    expect(textOf(rc!)).toBe('s1: r(x,0) r(x,1)\ns2: w(x,1)')
    const [plain, back] = await find('serializable', 'ser')
    expect(textOf(plain!)).toBe('s1: r(x,1) | w(x,1)')
    expect(back!.isImplied).toBe(true)
  })

  it('makes read-modify-writes, lists and statements', async () => {
    expect(textOf((await find('pc', 'si', 'mini'))[0]!)).toBe(
      's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)',
    )
    expect(textOf((await find('si', 'ser', 'append'))[0]!)).toBe(
      'initial null\ns1: r(x,[]) append(y,1)\ns2: append(x,1) r(y,[])',
    )
    const [skew] = await find('si', 'ser', 'sql')
    expect(textOf(skew!)).toContain('select t -> no rows; insert t -> t(1)@w1')
    expect(skew!.results![1].anomalies[0]!.name).toBe('PredicateWriteSkew')
  })

  it('knows of bounds of staleness which implies which', async () => {
    const told: Difference[] = []
    const onTold = (difference: Difference) => told.push(difference)
    const settings = { shape: 'general', maxOps: 6, onTold } as const
    for (const [tight, loose] of [
      ['stale:1', 'stale:2'],
      ['sser', 'stale:0'],
      ['stale:1', 'stale'],
    ] as const) {
      told.length = 0
      const [there, back] = await differ(readLevel(loose), readLevel(tight), settings)
      expect(there!.results!.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
      expect(back!.isImplied, `${tight} implies ${loose}`).toBe(true)
      // What needs no search is told first.
      expect(told).toEqual([back, there])
    }
  })

  it('says how far it looked', async () => {
    const [there] = await find('si', 'ser', 'mini', 4)
    expect(there).toMatchObject({ history: null, isImplied: false, searched: 4 })
    const hasty = await differ(readLevel('si'), readLevel('ser'), {
      shape: 'mini',
      maxOps: 9,
      budgetMs: 1,
    })
    expect(hasty[0]!.history).toBeNull()
    expect(hasty[0]!.searched).toBeLessThan(5)
  })

  it('takes lin for sser: a stale read tells it from ser, and it implies all that sser does', async () => {
    const [there, back] = await find('lin', 'ser', 'general', 3)
    expect(there).toMatchObject({ history: null, isImplied: true })
    expect(back!.history?.opCount).toBe(2)
    expect(back!.results!.map(({ level, verdict }) => [level, verdict])).toEqual([
      ['ser', 'satisfied'],
      ['lin', 'violated'],
    ])
    const [without] = await find('lin', 'ser+lin', 'general', 1)
    expect(without!.isImplied).toBe(true)
  })

  it('refuses what has no answer', async () => {
    await expect(find('si', 'si')).rejects.toThrow('both are the same level')
    await expect(find('lin', 'sser')).rejects.toThrow(/both are the same level where a client/)
    await expect(find('mixed', 'ser')).rejects.toThrow(UsageError)
    await expect(find('sser', 'si', 'sql')).rejects.toThrow('SQL statements are not judged at sser')
  })
})

describe('the histories tried', () => {
  it('are all there are, but for names', () => {
    const made = new Set<string>()
    for (let ops = 1; ops <= 3; ops++) {
      for (const skeleton of skeletons({ ...SHAPES.general.bounds, ops, hasSessions: true })) {
        for (const history of SHAPES.general.histories(skeleton, null)) {
          made.add(canonical(draftOf(history).draft))
        }
      }
    }
    let count = 0
    for (let txns = 1; txns <= 3; txns++) {
      for (const draft of smallHistories({ txns, maxOps: 3, maxTotalOps: 3, keys: 2 })) {
        count++
        expect(made.has(canonical(draft)), JSON.stringify(draft)).toBe(true)
      }
    }
    expect(count).toBe(409)
  })

  it('have every way to follow one another or to overlap', () => {
    // Intervals of n labelled transactions stand in 3, 19, 207, 3451 relations.
    const counts = [2, 3, 4, 5].map((count) => timings(new Array(count).fill(1)).length)
    expect(counts).toEqual([3, 19, 207, 3451])
    expect(timings([2])).toHaveLength(1)
  })
})

/** The same for histories that differ only in names of keys and in the order of sessions. */
function canonical(draft: Draft): string {
  const keys = [...new Set(draft.sessions.flat().flatMap(({ ops }) => ops.map(({ key }) => key)))]
  const texts = permutations(keys).map(
    (order) =>
      permutations(draft.sessions)
        .map((sessions) => tell(sessions, order))
        .sort()
        .at(0)!,
  )
  return texts.sort()[0]!
}

function tell(sessions: Draft['sessions'], keys: readonly unknown[]): string {
  const numbers = new Map<string, number>() // written values are numbered as they come
  const nameOf = (key: unknown, value: unknown) => `${keys.indexOf(key)}=${value}`
  for (const op of sessions.flat().flatMap(({ ops }) => ops)) {
    if (op.kind !== 'w') continue
    const of = [...numbers.keys()].filter((name) => name.startsWith(`${keys.indexOf(op.key)}=`))
    numbers.set(nameOf(op.key, op.value), of.length + 1)
  }
  return sessions
    .map((txns) =>
      txns
        .map(({ status, ops }) => {
          const told = ops.map((op) => {
            const name = nameOf(op.key, 'value' in op ? op.value : null)
            return `${op.kind}${keys.indexOf(op.key)}:${numbers.get(name) ?? 0}`
          })
          return `${status} ${told.join(' ')}`
        })
        .join('|'),
    )
    .join('/')
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, i) =>
    permutations(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]),
  )
}
