// Strong levels on histories of lists, where the order of versions is known.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { some } from '../../long.ts'
import { compareWithOracle } from '../../small/compare.ts'

function judge(notation: string, level: LevelId) {
  const { verdict, algorithm, anomalies, certificate } = check(parseNotation(notation), level)
  if (verdict !== 'unknown') expect(certificate?.verified).toBe(true)
  const told = anomalies.map(({ name, edges }) =>
    [name, ...edges.map((edge) => `T${edge.from + 1} ${edge.kind} T${edge.to + 1}`)].join(', '),
  )
  return { verdict, algorithm, told }
}

const WRITE_SKEW = 's0: r(x,[]) append(y,1)\ns1: r(y,[]) append(x,2)\n'

describe('ListLevels', () => {
  it('finds write skew at ser and accepts it at si', () => {
    expect(judge(WRITE_SKEW, 'ser').told).toEqual(['WriteSkew, T1 RW T2, T2 RW T1'])
    expect(judge(WRITE_SKEW, 'si')).toMatchObject({ verdict: 'satisfied', algorithm: 'lists' })
  })

  it('counts middle elements: a version order that contradicts what was seen', () => {
    const history = (list: string) =>
      `s0: append(x,1)\ns1: append(x,2) append(y,3)\ns2: r(y,[3]) append(x,4)\ns3: r(x,[${list}])`
    expect(judge(history('1,2,4'), 'ser').verdict).toBe('satisfied')
    expect(judge(history('1,4,2'), 'ser').told).toEqual(['G1c, T2 WR T3, T3 WW T2'])
  })

  it('finds a lost update among appends that nobody else saw', () => {
    const history = 's0: r(x,[]) append(x,1)\ns1: r(x,[]) append(x,2)'
    expect(judge(history, 'si').told).toEqual(['LostUpdate, T1 RW T2, T2 RW T1'])
    expect(judge(history, 'pc').verdict).toBe('satisfied')
  })

  it('takes an append after a read of the list for version order', () => {
    const history = [
      's0: append(x,1) append(y,1)',
      's1: append(x,2)',
      's2: append(y,3) r(x,[1,2]) r(y,[1,3])',
      's3: r(x,[1]) append(y,4)',
    ].join('\n')
    expect(judge(history, 'si').told).toEqual(['G-single, T4 RW T2, T2 WR T3, T3 WW T4'])
    expect(judge(history, 'ser').told).toEqual(['G-single, T4 RW T2, T2 WR T3, T3 WW T4'])
  })

  it.each([
    [
      'reads that contradict each other',
      's1: append(x,1)\ns2: append(x,2)\ns3: r(x,[1,2])\ns4: r(x,[2])',
      'IncompatibleOrder',
      ['r(x,[2])', 'r(x,[1])'],
    ],
    [
      'appends in opposite orders',
      's1: append(x,1) append(y,1)\ns2: append(x,2) append(y,2)\ns3: r(x,[1,2])\ns4: r(y,[2,1])',
      'G0',
      ['[2,1]', '[1,2]'],
    ],
    [
      'elements of each other',
      's1: append(x,1) r(y,[1])\ns2: append(y,1) r(x,[1])',
      'CircularInformationFlow',
      ['r(y,[1])', 'r(y,[])'],
    ],
    [
      'half of what another one appended',
      's1: append(x,1) append(y,1)\ns2: r(x,[1]) r(y,[])',
      'NonMonotonicRead',
      ['r(y,[])', 'r(y,[1])'],
    ],
  ] as [string, string, string, [string, string]][])(
    'finds %s at every level',
    (_, history, name, [wrong, right]) => {
      for (const level of ['pc', 'si', 'ser'] as const) {
        expect(judge(history, level).told[0]).toMatch(new RegExp(`^${name}(,|$)`))
        expect(judge(history.replace(wrong, right), level).verdict, level).toBe('satisfied')
      }
    },
  )

  it('leaves to the engine whether unseen appends can do without overlapping', () => {
    const history = `${WRITE_SKEW}s2: append(z,1) r(x,[])\ns3: append(z,2) r(y,[])`
    expect(judge(history, 'si').verdict).toBe('satisfied')
    expect(judge(history, 'pc').algorithm).toBe('lists')
  })

  it('shows a stale read by its two transactions, however many lie between', () => {
    const lines = ['s0: append(x,1) [start=0 finish=1]']
    for (let i = 0; i < 200; i++) {
      lines.push(`s${1 + (i % 7)}: r(y,[]) [start=${2 + 2 * i} finish=${3 + 2 * i}]`)
    }
    lines.push('s9: r(x,[]) [start=900 finish=901]', 's10: r(x,[1]) [start=900 finish=901]')
    expect(judge(lines.join('\n'), 'sser').told).toEqual(['StaleRead, T1 RT T202, T202 RW T1'])
    expect(judge(lines.join('\n'), 'ser').verdict).toBe('satisfied')
  })

  it('agrees with brute force', () => {
    const decide = (...[history, level]: Parameters<Parameters<typeof compareWithOracle>[0]>) =>
      check(history, level).verdict
    const options = { families: [], seeds: some(3000), firstSeed: 50_000, shape: { lists: 1 } }
    const outcome = compareWithOracle(decide, ['pc', 'si', 'ser', 'sser'], options)
    expect(outcome.disagreement).toBeNull()
  })
})
