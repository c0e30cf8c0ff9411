// Occasions for anomalies, on histories written for them, and on random ones compared with pairs
// that are looked at one by one.

import { describe, expect, it } from 'vitest'
import { profile } from '../../../src/check/check.ts'
import { APPEND, type History, WRITE } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { AnomalyName } from '../../../src/levels/anomalies.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { measureStrength } from '../../../src/pipeline/strength/measure-strength.ts'
import { OCCASIONS } from '../../../src/pipeline/strength/occasions.ts'
import { tellOccasions, tellStrength } from '../../../src/pipeline/strength/tell-strength.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'

/** The occasions that there are in one history. */
function occasionsIn(text: string): Record<string, number> {
  const { occasions } = measureStrength(parseNotation(text))
  return Object.fromEntries(Object.entries(occasions).filter(([, count]) => count > 0))
}

const together = (a: string, b: string) => occasionsIn(`s1: ${a} [0,9]\ns2: ${b} [1,8]`)

describe('measureStrength', () => {
  it('knows what each anomaly takes', () => {
    expect(together('r(x,0) w(x,1)', 'r(x,0) w(x,2)')).toEqual({ LostUpdate: 1 })
    expect(together('r(x,0) w(y,1)', 'r(y,0) w(x,1)')).toEqual({ WriteSkew: 1 })
    expect(together('r(x,0) r(y,0)', 'w(x,1) w(y,1)')).toEqual({ FracturedRead: 1 })
    expect(together('r(x,0) r(x,0)', 'w(x,1)')).toEqual({ NonRepeatableRead: 1 })
    expect(together('w(x,1) w(x,2)', 'r(x,0)')).toEqual({ IntermediateRead: 1 })
    const readers = 's1: r(x,0) r(y,0) [0,9]\ns2: r(x,0) r(y,0) [1,8]\n'
    expect(occasionsIn(readers)).toEqual({})
    expect(occasionsIn(`${readers}s3: w(x,1) [10,11] | w(y,1) [12,13]`)).toEqual({ LongFork: 1 })
    expect(occasionsIn('s1: w(x,1) [aborted 0,9]\ns2: r(x,0) [1,8]')).toEqual({ AbortedRead: 1 })
    expect(occasionsIn('s1: w(x,1) | r(x,1)')).toEqual({ SessionGuaranteeViolation: 1 })
    const again = 's1: w(x,1)\ns2: r(x,1) | r(x,0)'
    expect(occasionsIn(again)).toEqual({ SessionGuaranteeViolation: 1 })
    expect(occasionsIn('s1: r(x,0) | r(x,0)')).toEqual({})
    const causes = 's1: r(x,0) w(y,1) [0,1]\ns2: r(y,1) r(x,0) [2,3]'
    expect(occasionsIn(causes)).toEqual({ CausalityViolation: 1 })
  })

  it('takes only those that ran at the same time, where that is known', () => {
    const apart = 's1: r(x,0) w(x,1) [0,1]\ns2: r(x,1) w(x,2) [2,3]'
    expect(occasionsIn(apart)).toEqual({})
    expect(occasionsIn(apart.replace('[2,3]', '[1,3]'))).toEqual({ LostUpdate: 1 })
    expect(occasionsIn(apart.replaceAll(/ \[.*?\]/g, ''))).toEqual({ LostUpdate: 1 })
    const { isTimed, reads, racedReads } = measureStrength(parseNotation(apart))
    expect({ isTimed, reads, racedReads }).toEqual({ isTimed: true, reads: 2, racedReads: 0 })
    // Who was rolled back may have been so because of the occasion.
    expect(together('r(x,0) w(x,1)', 'r(x,0) w(x,2)')).toEqual({ LostUpdate: 1 })
    const refused = 's1: r(x,0) w(x,1) [0,9]\ns2: r(x,0) w(x,2) [aborted 1,8]'
    expect(occasionsIn(refused)).toEqual({ LostUpdate: 1, AbortedRead: 1 })
  })

  it('is soon done with one session of many transactions without times', () => {
    const one = Array.from({ length: 9000 }, (_, i) => `r(x,${i}) w(x,${i + 1})`).join(' | ')
    const { reads, racedReads, isLeast } = measureStrength(parseNotation(`s1: ${one}`))
    expect({ reads, racedReads, isLeast }).toEqual({ reads: 9000, racedReads: 0, isLeast: false })
  })

  it('counts what looking at every pair counts', () => {
    for (let seed = 1; seed <= 30; seed++) {
      for (const shape of ['general', 'mini', 'churn', 'append'] as const) {
        const workload = {
          shape,
          transactions: 60,
          sessions: 5,
          keys: 6,
          conflicts: 'abort',
        } as const
        const { history } = generate({ seed, workload, store: { level: 'si', faults: [] } })
        const { occasions, reads, racedReads } = measureStrength(history)
        expect({ occasions, reads, racedReads }, `${shape} ${seed}`).toEqual(byPairs(history))
      }
    }
  })

  it('knows searches of tables', () => {
    const { history } = generateSql({
      seed: 3,
      workload: { shape: 'sql', transactions: 80 },
      store: {},
    })
    const { occasions } = measureStrength(history)
    expect(occasions.Phantom).toBeGreaterThan(0)
    expect(occasions.PredicateWriteSkew).toBeGreaterThan(0)
    expect(occasions.Phantom).toBeGreaterThanOrEqual(occasions.PredicateWriteSkew!)
  })

  it('takes no insert that was refused for a search', () => {
    const phantoms = (statement: string) => {
      const draft = parseSql(`
        init: x=0 y=-
        s1: [ser] ${statement}
        s2: [ser] insert as w1 y=1`)
      return measureStrength(historyOfSql(draft)).occasions.Phantom ?? 0
    }
    expect(phantoms("select(id = 'x') x@0")).toBe(1)
    expect(phantoms('refused x@0')).toBe(0)
  })
})

describe('what is not counted', () => {
  it.each<[AnomalyName, string]>([
    ['LongFork', 's1: w(x,1) | r(y,0)\ns2: w(y,1) | r(x,0)'],
    ['CausalityViolation', 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) w(z,1)\ns4: r(z,1) r(x,0)'],
    ['LostUpdate', 's1: r(x,0) w(x,1) [0,1]\ns2: r(x,0) w(x,2) [2,3]'],
    ['AbortedRead', 's1: w(x,1) [aborted] | r(x,1)'],
  ])('is a %s that takes another shape than the one in the table', (name, text) => {
    const history = parseNotation(text)
    const found = profile(history).flatMap(({ anomalies }) => anomalies)
    expect(found.map((anomaly) => anomaly.name)).toContain(name)
    expect(occasionsIn(text)).not.toHaveProperty(name)
  })
})

describe('words', () => {
  it('say what could have shown, and what could not', () => {
    const strength = measureStrength(
      parseNotation('s1: r(x,0) w(x,1) [0,9]\ns2: r(x,0) w(x,2) [1,8]'),
    )
    expect(tellOccasions(strength)).toMatch(
      /^occasions for LostUpdate; no occasion for AbortedRead, /,
    )
    expect(tellStrength(strength)[0]).toBe(
      '2 of 2 reads (100 %) were of a key that another transaction wrote at the same time',
    )
    expect(tellStrength(strength)).toContain('  1  both read and then wrote one key (LostUpdate)')
    expect(tellOccasions(measureStrength(parseNotation('s1: w(x,1)')))).toBe(
      'no occasion for any anomaly',
    )
  })
})

/** The same by definition: every transaction with every other one. */
function byPairs(history: History) {
  const { txnCount, txnStartTime, txnFinishTime, txnSession, txnCounts, txnStatus } = history
  const occasions = Object.fromEntries(
    OCCASIONS.filter(({ of }) => of === 'any').map(({ anomaly }) => [anomaly, 0]),
  )
  const txns = Array.from({ length: txnCount }, (_, txn) => usesOf(history, txn))
  const written = new Set(txns.flatMap(({ writes }) => [...writes.keys()]))
  const raced = new Set<string>()
  const end = (txn: number) => {
    const finish = txnFinishTime![txn]!
    return Number.isNaN(finish) ? Number.POSITIVE_INFINITY : finish
  }
  for (let a = 0; a < txnCount; a++) {
    for (let b = 0; b < txnCount; b++) {
      if (txnSession[a] === txnSession[b]) continue
      const overlap = txnStartTime![a]! <= end(b) && txnStartTime![b]! <= end(a)
      if (!overlap) continue
      for (const key of txns[a]!.reads.keys()) {
        if (txnCounts[a] && txns[b]!.writes.has(key)) raced.add(`${a} ${key}`)
      }
      if (a > b) continue
      const ways = [
        [txns[a]!, txns[b]!, b],
        [txns[b]!, txns[a]!, a],
      ] as const
      const some = (holds: (reader: Uses, writer: Uses, txn: number) => boolean) =>
        ways.some((way) => holds(...way))
      const seen = (reader: Uses, writer: Uses) =>
        [...reader.reads.keys()].filter((key) => writer.writes.has(key))
      const add = (name: string, holds: boolean) => {
        if (holds) occasions[name]!++
      }
      add(
        'AbortedRead',
        some((r, w, by) => txnStatus[by] === 1 && seen(r, w).length > 0),
      )
      add(
        'IntermediateRead',
        some((r, w) => seen(r, w).some((key) => w.writes.get(key)! > 1)),
      )
      add(
        'NonRepeatableRead',
        some((r, w) => seen(r, w).some((key) => r.reads.get(key)! > 1)),
      )
      add(
        'FracturedRead',
        some((r, w) => seen(r, w).length > 1),
      )
      const updates = ({ reads, writes }: Uses) => [...reads.keys()].filter((k) => writes.has(k))
      add(
        'LostUpdate',
        updates(txns[a]!).some((key) => updates(txns[b]!).includes(key)),
      )
      add(
        'WriteSkew',
        ways.every(([r, w]) => seen(r, w).some((key) => !r.writes.has(key))),
      )
      const both = [...txns[a]!.reads.keys()].filter(
        (key) =>
          txns[b]!.reads.has(key) &&
          !txns[a]!.writes.has(key) &&
          !txns[b]!.writes.has(key) &&
          written.has(key),
      )
      add('LongFork', both.length > 1)
    }
  }
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue
    const keys = txns[txn]!
    const earlier = history.sessionTxns
      .subarray(history.sessionTxnStart[txnSession[txn]!]!)
      .slice(0, history.txnIndex[txn]!)
      .filter((other) => txnCounts[other])
    const all = new Set([...keys.reads.keys(), ...keys.own])
    const usedBy = (other: number, key: number) =>
      txns[other]!.writes.has(key) || txns[other]!.reads.has(key)
    if (earlier.some((other) => [...all].some((key) => written.has(key) && usedBy(other, key)))) {
      occasions['SessionGuaranteeViolation']!++
    }
    if (
      keys.sources.some(({ txn: source, key }) => {
        const causes = new Set([...txns[source]!.reads.keys(), ...txns[source]!.own])
        return [...causes].some((cause) => cause !== key && keys.reads.has(cause))
      })
    ) {
      occasions['CausalityViolation']!++
    }
  }
  const reads = txns.reduce((sum, { reads }, txn) => sum + (txnCounts[txn] ? reads.size : 0), 0)
  return { occasions, reads, racedReads: raced.size }
}

interface Uses {
  readonly reads: ReadonlyMap<number, number> // key -> how often, before it was written
  readonly writes: ReadonlyMap<number, number>
  readonly own: ReadonlySet<number> // keys read after they were written
  readonly sources: readonly { txn: number; key: number }[]
}

function usesOf(history: History, txn: number): Uses {
  const reads = new Map<number, number>()
  const writes = new Map<number, number>()
  const own = new Set<number>()
  const sources: { txn: number; key: number }[] = []
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    const key = history.opKey[op]!
    const isWrite = history.opKind[op] === WRITE || history.opKind[op] === APPEND
    const to = isWrite ? writes : reads
    const from = history.readTxn[op]!
    if (!isWrite && from >= 0 && from !== txn) sources.push({ txn: from, key })
    if (!isWrite && writes.has(key)) own.add(key)
    else to.set(key, (to.get(key) ?? 0) + 1)
  }
  return { reads, writes, own, sources }
}
