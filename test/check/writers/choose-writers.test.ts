// Histories in which values were written twice: what is chosen, what is refused, and what a
// certificate must say so that it is believed.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { chooseWriters } from '../../../src/check/writers/choose-writers.ts'
import { judgeWriters } from '../../../src/check/writers/judge-writers.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { INITIAL } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { check, verify } from '../../../src/index.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { renderText } from '../../../src/report/text.ts'
import { certifyResult } from '../../../src/verdict/certify.ts'
import { coverChoices } from '../../../src/verdict/cover-choices.ts'
import type { LevelResult } from '../../../src/verdict/verdict.ts'
import {
  type AtomicTxn,
  buildAtomicHistory,
  isAtomic,
  randomAtomicTxns,
} from '../../small/atomic.ts'

const twice = (text: string) => parseNotation(text, undefined, true)
const verdict = (text: string, level: LevelId) => chooseWriters(twice(text), { level }).verdict

/** Whoever T4 and T6 saw, x went from 1 to 2 and back. */
const BACK = 's1: w(x,1) | w(x,2)\ns2: w(x,1) | r(x,1) | r(x,2) | r(x,1)'

describe('a read with several possible writers', () => {
  it('is satisfied by any of them that fits', () => {
    // From T1 the session would go backwards; from T3 it does not.
    const text = 's1: w(x,1) | w(x,2)\ns2: r(x,2) | r(x,1)'
    expect(verdict(`${text}\ns3: w(x,1)`, 'ser')).toBe('satisfied')
    expect(
      chooseWriters(twice(`${text}\ns3: w(y,1)\ns4: w(y,1) | r(y,1)`), { level: 'ser' }).verdict,
    ).toBe('violated')
  })

  it('is violated if none does, and each case says whom it is about', () => {
    const { verdict, anomalies, certificate } = chooseWriters(twice(BACK), { level: 'cc' })
    expect(verdict).toBe('violated')
    expect(certificate?.verified).toBe(true)
    expect(anomalies.map(({ given }) => given)).toEqual([
      [{ read: 5, write: 0 }],
      [{ read: 5, write: 2 }],
    ])
  })

  it('may have seen the initial state, where the value is the initial one', () => {
    const back = chooseWriters(twice('s1: w(x,1) | w(x,0)\ns2: r(x,1) | r(x,0)'), { level: 'ser' })
    expect(back.verdict).toBe('satisfied')
    expect(back.sources).toEqual([{ read: 3, write: 1 }])
    const first = chooseWriters(twice('s1: w(x,1) | w(x,0)\ns2: r(x,0) | r(x,1)'), { level: 'ser' })
    expect(first.sources).toEqual([{ read: 2, write: INITIAL }])
    expect(verdict('s1: w(x,1) | w(x,0)\ns2: r(x,1) | r(x,0) | r(x,1)', 'ser')).toBe('violated')
  })

  it('shows violations that have nothing to do with the choice without any case', () => {
    const { anomalies } = chooseWriters(
      twice(
        's1: r(y,0) w(y,1)\ns2: r(y,0) w(y,2)\ns3: w(x,1)\ns4: w(x,1) | r(x,1) | r(z,0)\ns5: r(x,1)',
      ),
      { level: 'si' },
    )
    expect(anomalies.map(({ name, given }) => [name, given])).toEqual([['LostUpdate', []]])
  })

  it('sees its own last write, where that is what it read', () => {
    expect(twice('s1: w(x,1)\ns2: w(x,1) r(x,1)').writers).toBeNull()
    expect(twice('s1: w(x,1)\ns2: w(x,1) | r(x,1)').writers?.reads).toEqual(Int32Array.of(2))
  })

  it('is of no matter where no transaction counts, with times or without', () => {
    const text = 's1: w(x,1) [aborted] | w(x,1) [indeterminate]\ns2: r(x,1) [indeterminate]'
    expect(twice(text).writers?.reads.length).toBe(1)
    for (const level of ['rc', 'ser'] as const) expect(verdict(text, level)).toBe('satisfied')
  })

  it('is told of with what unique values would say', () => {
    expect(twice(BACK).warnings[0]).toContain('2 reads have several possible writers')
  })

  it('is unknown when the budget is used up', () => {
    const text = Array.from({ length: 60 }, (_, i) => `s${i}: r(x,${(i * 7) % 5}) w(x,${i % 5})`)
    const [result] = judgeWriters(twice(text.join('\n')), ['ser'], { budgetMs: 300 })
    expect(result!.verdict).not.toBe('satisfied')
    if (result!.verdict === 'unknown') expect(result!.reason).toContain('budget')
  })

  it('is linearizable as brute force says', () => {
    let [satisfied, violated] = [0, 0]
    for (let seed = 1; seed <= 400; seed++) {
      const txns = randomAtomicTxns(seed).map((txn) => ({
        ...txn,
        ops: txn.ops.map(([kind, key, value]) => [kind, key, value % 2] as const),
      }))
      const history = buildAtomicHistory(txns, true)
      if (history.writers === null || history.txnIsInitial.includes(1)) continue
      const expected = isAtomic(txns) ? 'satisfied' : 'violated'
      expect(chooseWriters(history, { level: 'lin' }).verdict, `seed ${seed}`).toBe(expected)
      if (expected === 'satisfied') satisfied++
      else violated++
    }
    expect(satisfied).toBeGreaterThan(20)
    expect(violated).toBeGreaterThan(20)
  })
})

describe('a certificate of a choice of writers', () => {
  const certify = (result: LevelResult) => certifyResult(twice(BACK), result)

  it('stands as it was made', async () => {
    for (const level of ['ra', 'cc', 'ser'] as const) {
      expect(await certify(chooseWriters(twice(BACK), { level })), level).toEqual([])
    }
  })

  it('is refused with a case left out', async () => {
    const result = chooseWriters(twice(BACK), { level: 'cc' })
    const [first] = result.anomalies
    expect(await certify({ ...result, anomalies: [first!] })).toEqual([
      'the cases leave a choice of writers open',
    ])
  })

  it('is refused with a case that takes nothing for granted, or the wrong thing', async () => {
    const result = chooseWriters(twice(BACK), { level: 'cc' })
    const change = (given: LevelResult['sources']) =>
      certify({ ...result, anomalies: [{ ...result.anomalies[0]!, given: given! }] })
    expect(await change([])).not.toEqual([])
    expect(await change([{ read: 5, write: 2 }])).not.toEqual([])
    expect(await change([{ read: 5, write: 1 }])).toEqual([
      'it chooses a writer that did not write what was read',
    ])
    expect(await change([{ read: 4, write: 1 }])).toEqual([
      'it chooses a writer for a read that has no choice',
    ])
  })

  it('is refused with another choice, or a part of one', async () => {
    const result = chooseWriters(twice(BACK), { level: 'ra' })
    expect(result.verdict).toBe('satisfied')
    const { sources, ...others } = result
    expect(await certify(others)).toEqual(['it does not say whom reads saw'])
    expect(await certify({ ...result, sources: sources!.slice(1) })).toEqual([
      'it leaves open whom some reads saw',
    ])
    const ser = chooseWriters(twice('s1: w(x,1) | w(x,0)\ns2: r(x,1) | r(x,0)'), { level: 'ser' })
    const wrong = { ...ser, sources: [{ read: 3, write: INITIAL }] }
    const history = twice('s1: w(x,1) | w(x,0)\ns2: r(x,1) | r(x,0)')
    expect(await certifyResult(history, ser)).toEqual([])
    expect(await certifyResult(history, wrong)).not.toEqual([])
  })

  it('is refused on a history in which nothing was written twice', async () => {
    const result = chooseWriters(twice(BACK), { level: 'cc' })
    const problems = await certifyResult(parseNotation('s1: w(x,1) | r(x,1)'), result)
    expect(problems).toEqual(['every read tells whom it saw, so there is no writer to choose'])
  })

  it('survives its file, word for word', async () => {
    for (const level of ['ra', 'cc'] as const) {
      const result = await check(BACK, level, { duplicateValues: true })
      expect(await verify(BACK, JSON.stringify(result.toJSON()))).toEqual([])
    }
  })
})

describe('cases that cover all choices', () => {
  const cover = (sizes: number[], cases: [number, number][][]) =>
    coverChoices(
      sizes,
      cases.map((pairs) => ({ choices: pairs.map(([c]) => c), values: pairs.map(([, v]) => v) })),
      Deadline.none(),
    )

  it('are told from cases that do not', () => {
    expect(
      cover(
        [2, 2],
        [
          [[0, 0]],
          [
            [0, 1],
            [1, 0],
          ],
        ],
      ),
    ).toBeNull()
    expect(
      cover(
        [2, 2],
        [
          [[0, 0]],
          [
            [0, 1],
            [1, 0],
          ],
          [
            [0, 1],
            [1, 1],
          ],
        ],
      ),
    ).toEqual([0, 1, 2])
    expect(cover([2], [[]])).toEqual([0])
    expect(cover([2], [])).toBeNull()
  })

  it('agree with trying every choice', () => {
    let [covered, open] = [0, 0]
    for (let seed = 0; seed < 4000; seed++) {
      let state = seed * 2654435761 + 1
      const below = (n: number) => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        return (state >>> 8) % n
      }
      const sizes = Array.from({ length: 1 + below(4) }, () => 2 + below(2))
      const cases = Array.from({ length: 1 + below(10) }, () => {
        const pairs = new Map<number, number>()
        for (let i = 0; i <= below(2); i++) {
          const choice = below(sizes.length)
          pairs.set(choice, below(sizes[choice]!))
        }
        return [...pairs]
      })
      const total = sizes.reduce((product, size) => product * size, 1)
      let isOpen = false
      for (let number = 0; number < total && !isOpen; number++) {
        let rest = number
        const values = sizes.map((size) => {
          const value = rest % size
          rest = Math.floor(rest / size)
          return value
        })
        isOpen = cases.every((pairs) => pairs.some(([c, v]) => values[c] !== v))
      }
      const found = cover(sizes, cases)
      expect(found === null, `seed ${seed}`).toBe(isOpen)
      if (found)
        expect(
          cover(
            sizes,
            found.map((at) => cases[at]!),
          ),
          `seed ${seed}`,
        ).not.toBeNull()
      if (isOpen) open++
      else covered++
    }
    expect(Math.min(covered, open)).toBeGreaterThan(300)
  })
})

describe('a search for an order of what uses one key', () => {
  /** Writes of five values one after another, each read once, all of them overlapping a few. */
  const register = (count: number, wrong: number): AtomicTxn[] =>
    Array.from({ length: count }, (_, i) => {
      const value = 1 + (((i >> 1) + (i === wrong ? 2 : 0)) % 5)
      const start = 4 * i
      const status = i % 38 === 4 ? ('indeterminate' as const) : ('committed' as const)
      return { ops: [[i % 2 ? 'r' : 'w', 'x', value]], status, start, finish: start + 10 }
    })

  it('finds the writers where there is one', () => {
    const { verdict, certificate } = chooseWriters(buildAtomicHistory(register(2000, -1), true), {
      level: 'lin',
    })
    expect([verdict, certificate?.verified]).toEqual(['satisfied', true])
  })

  it.each(['lin', 'sser'] as const)('tells at %s the reads that leave none', (level) => {
    const history = buildAtomicHistory(register(400, 301), true)
    const { verdict, certificate, anomalies } = chooseWriters(history, { level })
    expect([verdict, certificate?.verified]).toEqual(['violated', true])
    // The first two show that writes of unknown outcome were seen earlier, so that none is left.
    const reads = new Set(anomalies.flatMap(({ given }) => given!.map(({ read }) => read)))
    expect(reads).toEqual(new Set([5, 195, 301]))
  })
})

describe('values written twice', () => {
  it('are an error that names the way out, unless they are asked for', () => {
    const parse = () => parseHistory(BACK)
    expect(parse).toThrow('value 1 of key "x" is written twice')
    try {
      parse()
    } catch (error) {
      expect((error as { hint: string }).hint).toContain('--duplicate-values')
    }
  })

  it('are read from every format', () => {
    const texts: [string, string][] = [
      [
        'native',
        '{"session":1,"ops":[["w","x",1]]}\n{"session":2,"ops":[["w","x",1]]}\n{"session":3,"ops":[["r","x",1]]}\n',
      ],
      ['plume', 'w(1,1,1,1)\nw(1,1,2,2)\nr(1,1,3,3)\n'],
      ['awdit', 'w 1 1\n=\nw 1 1\n=\nr 1 1\n'],
      ['hist', '[x:=1]\n---\n[x:=1]\n---\n[x==1]\n'],
      [
        'jepsen',
        [
          '{:type :ok :f :txn :process 0 :value [[:w :x 1]] :index 0}',
          '{:type :ok :f :txn :process 1 :value [[:w :x 1]] :index 1}',
          '{:type :ok :f :txn :process 2 :value [[:r :x 1]] :index 2}',
        ].join('\n'),
      ],
    ]
    for (const [format, text] of texts) {
      expect(() => parseHistory(text, { format }), format).toThrow('written twice')
      const { writers } = parseHistory(text, { format, duplicateValues: true })
      expect(writers?.writes.length, format).toBe(2)
    }
  })

  it('stay an error in lists and where a transaction is one of a mix', () => {
    expect(() => twice('s1: append(l,1)\ns2: append(l,1)')).toThrow('written twice')
    expect(() => judgeWriters(twice(BACK), ['mixed'])).toThrow('level mixed needs unique values')
  })

  it('tell the whole profile, where levels settle one another', () => {
    const results = judgeWriters(twice(BACK), null)
    expect(Object.fromEntries(results.map((each) => [each.level, each.verdict]))).toEqual({
      ci: 'satisfied',
      rc: 'satisfied',
      ra: 'satisfied',
      cc: 'violated',
      pc: 'violated',
      psi: 'violated',
      si: 'violated',
      ser: 'violated',
    })
    expect(renderText(twice(BACK), results)).toContain('If T6 read x=1 from T3:')
  })

  it('written by who leads the input after others had finished are no initial state', () => {
    const history = twice('s1: w(x,0) [5,6]\ns2: w(x,1) [1,2] | r(x,0) [7,8]')
    expect(history.txnIsInitial).not.toContain(1)
    expect(chooseWriters(history, { level: 'sser' }).verdict).toBe('satisfied')
  })
})
