// Linearizability of any transactions that take effect at one instant, against brute force: three
// ways to decide it agree, and every verdict is certified. ISOBAR_ATOMIC_SEEDS: how many; from
// 20,000 on every small history of one key, too.

import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import type { CheckOptions } from '../../src/check/options.ts'
import { judgeWriters } from '../../src/check/writers/judge-writers.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import {
  type AtomicTxn,
  buildAtomicHistory,
  everyOneKeyHistory,
  isAtomic,
  randomAtomicTxns,
} from './atomic.ts'
import { Confirmed, isDrawn } from './confirmed.ts'

const SEEDS = Number(process.env.ISOBAR_ATOMIC_SEEDS ?? 2000)
const EACH = SEEDS >= 20_000 ? 1 : 13 // of all small histories

class Tally {
  readonly counts: Record<string, number> = {}
  readonly confirmed = new Confirmed('registers')

  compare(txns: readonly AtomicTxn[], options: CheckOptions, what: string): void {
    const history = buildAtomicHistory(txns)
    const { verdict, certificate, algorithm } = check(history, 'lin', options)
    const truth = isAtomic(txns) ? 'satisfied' : 'violated'
    if (verdict !== truth || certificate?.verified !== true) {
      throw new Error(`${what}: ${verdict}, but ${truth}\n${renderNotation(history)}`)
    }
    const known = `${algorithm} ${verdict}`
    this.counts[known] = (this.counts[known] ?? 0) + 1
    this.confirmed.add('lin', isDrawn(what), truth)
  }
}

describe('check at lin, on transactions of any kind', () => {
  it('agrees with brute force on histories of three operations of one key', () => {
    const tally = new Tally()
    let count = 0
    for (const txns of everyOneKeyHistory()) {
      if (count++ % EACH === 0) tally.compare(txns, {}, 'one key')
    }
    tally.confirmed.tell()
    expect(count).toBeGreaterThan(20_000)
    expect(tally.counts['zones satisfied']).toBeGreaterThan(300)
    expect(tally.counts['zones violated']).toBeGreaterThan(300)
  })

  it('agrees with brute force on random histories', () => {
    const tally = new Tally()
    for (let seed = 1; seed <= SEEDS; seed++) {
      tally.compare(randomAtomicTxns(seed), {}, `seed ${seed}`)
    }
    tally.confirmed.tell()
    for (const algorithm of ['zones', 'solve', 'mini']) {
      for (const verdict of ['satisfied', 'violated']) {
        const known = `${algorithm} ${verdict}`
        expect([known, tally.counts[known]]).toEqual([known, expect.any(Number)])
      }
    }
  })

  it('agrees with brute force by the engine and by search alone, and when all is asked for', () => {
    const tally = new Tally()
    for (let seed = 1; seed <= SEEDS / 5; seed++) {
      const txns = randomAtomicTxns(100_000 + seed)
      for (const algorithm of ['solve', 'search'] as const) {
        tally.compare(txns, { algorithm }, `seed ${seed} by ${algorithm}`)
      }
      tally.compare(txns, { all: true }, `seed ${seed}, all`)
    }
    tally.confirmed.tell()
    expect(tally.counts['search satisfied']).toBeGreaterThan(SEEDS / 50)
    expect(tally.counts['search violated']).toBeGreaterThan(SEEDS / 50)
  })

  const verdict = (notation: string) => check(parseNotation(`initial 0\n${notation}`), 'lin')
  const names = (notation: string) => verdict(notation).anomalies.map(({ name }) => name)

  it('lets concurrent gets see a put or not, but not go back', () => {
    const put = 'a: w(x,100) [0,100]\n'
    expect(verdict(`${put}b: r(x,100) [25,75]\nc: r(x,0) [30,60]`).verdict).toBe('satisfied')
    expect(verdict(`${put}b: r(x,100) [25,35]\nc: r(x,0) [30,60]`).verdict).toBe('satisfied')
    const back = verdict(`${put}b: r(x,100) [10,30]\nc: r(x,0) [40,80]`)
    expect(back).toMatchObject({ verdict: 'violated', certificate: { verified: true } })
    expect(back.anomalies[0]!.txns).toEqual([0, 1, 2])
  })

  it('reports a stale read, and one before its write began', () => {
    expect(names('a: w(x,1) [0,1]\nb: w(x,2) [2,3]\nc: r(x,1) [4,5]')).toEqual(['StaleRead'])
    expect(names('a: w(x,1) [0,1]\nb: w(x,2) [2,5]\nc: r(x,1) [4,6]')).toEqual([])
    expect(names('a: r(x,1) [0,1]\nb: w(x,1) [2,3]')).toEqual(['G1c'])
  })

  it('lets a put of unknown outcome take effect later, or never', () => {
    const lost = 'a: w(x,1) [0,1]\nb: w(x,2) [indeterminate start=2]\nc: r(x,1) [8,9]'
    expect(verdict(lost).verdict).toBe('satisfied')
    expect(verdict(`${lost}\nd: r(x,2) [10,11]`).verdict).toBe('satisfied')
    expect(verdict(`${lost}\nd: r(x,2) [4,5]`).verdict).toBe('violated')
    expect(verdict(`${lost}\nd: r(x,2) [10,11]\ne: r(x,1) [12,13]`).verdict).toBe('violated')
  })

  it('reads registers of Jepsen, with operations of unknown outcome', () => {
    const told = (events: readonly string[]) => {
      const lines = events.map((event, index) => {
        const [type, process, value] = event.split(' ')
        const [kind, seen] = value!.split('=')
        return `{:type :${type}, :process ${process}, :f :txn, :value [[:${kind} :x ${seen}]], :index ${index}}`
      })
      return check(parseHistory(lines.join('\n')), 'lin').verdict
    }
    const late = [
      'invoke 0 w=1',
      'info 0 w=1',
      'invoke 1 r=nil',
      'ok 1 r=nil',
      'invoke 1 r=nil',
      'ok 1 r=1',
    ]
    expect(told(late)).toBe('satisfied')
    expect(told([...late, 'invoke 2 r=nil', 'ok 2 r=nil'])).toBe('violated')
  })

  it('decides many operations of one key, and finds the few that contradict one another', () => {
    const random = new Random(1)
    const txns = Array.from({ length: 5000 }, (_, i): AtomicTxn => {
      const [start, finish] = [10 * i - random.below(200), 10 * i + random.below(200)]
      return { ops: [['w', 'x', i + 1]], status: 'committed', start, finish }
    })
    // A read at the moment of a write, or some time later.
    const withRead = (late: number) => {
      const at = 10 * 2500 + late
      const read: AtomicTxn = {
        ops: [['r', 'x', 2500]],
        status: 'committed',
        start: at,
        finish: at,
      }
      return check(buildAtomicHistory([...txns, read]), 'lin')
    }
    expect(withRead(0)).toMatchObject({ verdict: 'satisfied', algorithm: 'zones' })
    const stale = withRead(1000)
    expect(stale).toMatchObject({ verdict: 'violated', algorithm: 'zones' })
    expect(stale.anomalies[0]!.txns.length).toBeLessThan(4)
  })

  it('takes all that a transaction does to take effect at once', () => {
    const both = 'a: w(x,1) w(y,1) [0,9]\n'
    expect(verdict(`${both}b: r(x,1) r(y,1) [1,2]\nc: r(x,1) r(y,1) [3,4]`).verdict).toBe(
      'satisfied',
    )
    expect(verdict(`${both}b: r(x,1) r(y,0) [1,2]`).verdict).toBe('violated')
    // Each key by itself is linearizable; together they are not.
    expect(verdict(`${both}b: r(x,1) [1,2]\nc: r(y,0) [3,4]`).verdict).toBe('violated')
  })

  it('knows no session order', () => {
    const history = parseNotation('initial 0\ns1: r(x,1) [0,3] | w(x,1) [3,5]')
    expect(check(history, 'lin').verdict).toBe('satisfied')
    expect(check(history, 'sser').verdict).toBe('violated')
  })

  it('needs times, and refuses transactions that say they are not atomic', () => {
    expect(verdict('a: w(x,1)\nb: r(x,1)')).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times',
    })
    expect(verdict('a: w(x,1)\nb: r(x,1) r(x,0)').verdict).toBe('violated')
    const twice = parseNotation('a: w(x,1) | w(x,1)\nb: r(x,1)', undefined, true)
    expect(judgeWriters(twice, ['lin'])[0]).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times, and nothing else orders what lin asks for',
    })
    const says = (level: string) => `a: w(x,1) w(y,1) [level=${level} 0,1]`
    expect(verdict(says('ser')).verdict).toBe('satisfied')
    expect(() => verdict(says('si'))).toThrow(/T1 says that it ran at si/)
    expect(verdict('a: w(x,1) [level=si 0,1]').verdict).toBe('satisfied')
    // A read and a write of one key are one step, whatever stands beside them.
    const light = 'a: r(x,0) w(x,1) [level=si 0,1]'
    expect(verdict(light).verdict).toBe('satisfied')
    expect(verdict(`${light}\nb: w(y,1) [0,1]`).verdict).toBe('satisfied')
  })

  it('names few of a long chain that one write has come between', () => {
    const lines = ['p: w(x,1) [0,1]']
    for (let i = 1; i < 2000; i++) {
      lines.push(`c${i % 10}: r(x,${i}) w(x,${i + 1}) [${2 * i},${2 * i + 1}]`)
    }
    const [anomaly] = verdict([...lines, 'q: w(x,-5) [2001.2,2001.3]'].join('\n')).anomalies
    expect(anomaly!.txns.length).toBe(3)
    // After all of it there is nothing wrong.
    expect(verdict([...lines, 'q: w(x,-5) [5000,5001]'].join('\n')).verdict).toBe('satisfied')
  })

  it('finds long circles, too', () => {
    const circle = Array.from(
      { length: 400 },
      (_, i) => `c: r(x,${i || 400}) w(x,${i + 1}) [${i},${i + 0.5}]`,
    )
    const found = verdict([...circle, 'q: w(x,-5) [1000,1001]'].join('\n'))
    expect([found.verdict, found.anomalies[0]!.txns.length]).toEqual(['violated', 400])
  })
})
