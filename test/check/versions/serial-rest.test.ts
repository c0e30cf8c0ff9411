// What is left after faults of single reads is known to be serial, and not searched; anything else
// beside them is still found.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { checkLevels } from '../../../src/check/check.ts'
import { buildBaseOrder } from '../../../src/check/order/base-order.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { isSerialRest, runsWithout } from '../../../src/check/versions/serial-rest.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { findFault } from '../../../src/sim/faults.ts'

const isSerial = (text: string, blamed: readonly number[] = []) => {
  const history = parseNotation(`initial 0\n${text}`)
  const reads = checkReads(history)
  const base = buildBaseOrder(history, reads, Deadline.none())
  return isSerialRest(history, reads, base, new Set(blamed))
}

describe('isSerialRest', () => {
  it('does without reads that offend or were not repeated', () => {
    expect(isSerial('s1: r(x,9) w(x,1)\ns2: r(x,1)')).toBe(true)
    expect(isSerial('s1: w(x,1)\ns2: r(x,0) r(x,1)')).toBe(true)
    expect(isSerial('s1: w(x,1) w(y,1)\ns2: r(x,0) r(y,1)')).toBe(false)
  })

  it('does without whoever is to blame', () => {
    const fractured = 's1: w(x,1) w(y,1)\ns2: r(x,0) r(y,1)'
    expect(isSerial(fractured, [1])).toBe(true)
    expect(isSerial(`${fractured}\ns3: r(x,0) r(y,1)`, [1])).toBe(false)
  })

  it('knows nothing of circles', () => {
    expect(isSerial('s1: w(x,1) r(y,1)\ns2: r(x,1) w(y,1)')).toBe(false)
  })
})

describe('runsWithout', () => {
  const runs = (text: string, ...blamed: number[]) => {
    const history = parseNotation(`initial 0\n${text}`)
    return runsWithout(history, checkReads(history), new Set(blamed), Deadline.none())
  }

  it('finds an order that is not the one at hand', () => {
    const later = 's1: r(z,9)\ns2: w(x,1)\ns3: r(x,0)'
    expect(isSerial(later)).toBe(false)
    expect(runs(later)).toBe(true)
    expect(runs(`${later}\ns4: r(x,0) r(y,0)\ns5: r(x,1) w(y,1)`)).toBe(true)
    expect(runs(`${later}\ns4: r(x,0) r(y,1)\ns5: r(x,1) w(y,1)`)).toBe(false)
  })

  it('does without whoever is to blame and what was not repeated', () => {
    const skew = 's1: r(x,0) w(y,1)\ns2: r(y,0) w(x,1)'
    expect(runs(skew)).toBe(false)
    expect(runs(skew, 1)).toBe(true)
    expect(runs('s1: w(x,1)\ns2: r(x,0) r(x,1)')).toBe(true)
    const list = 's1: append(l,1)\ns2: append(l,2) r(m,[])\ns3: r(l,[1,2]) append(m,1)'
    expect(runs(`${list}\ns4: r(m,[1]) r(l,[1])`)).toBe(false)
    expect(runs(`${list}\ns4: r(m,[1]) r(l,[1])`, 3)).toBe(true)
  })
})

describe('checkLevels', () => {
  const STRONG = ['pc', 'psi', 'si', 'strong-si', 'ser', 'sser'] as const
  const judge = (shape: 'general' | 'mini' | 'append', ...names: string[]) => {
    const faults = names.map((name) => ({ fault: findFault(name), count: 2 }))
    const workload = { shape, transactions: 600, keys: 40 }
    const { history } = generate({ seed: 5, workload, store: { level: 'sser', faults } })
    return checkLevels(history, STRONG).map(({ level, algorithm, anomalies }) => ({
      level,
      algorithm,
      told: anomalies.map(({ name, count }) => `${name} ${count}`),
    }))
  }

  it('takes the order at hand where only single reads are at fault', () => {
    for (const { level, algorithm, told } of judge('general', 'thin-air-read')) {
      expect([level, told]).toEqual([level, ['ThinAirRead 2']])
      if (level !== 'psi') expect([level, algorithm]).toEqual([level, 'order'])
    }
  })

  it.each(['general', 'mini', 'append'] as const)(
    'finds what is beside them, in %s histories',
    (shape) => {
      const beside = { 'lost-update': 'LostUpdate 2', 'stale-read': 'StaleRead 2' }
      for (const { level, told } of judge(shape, 'thin-air-read', ...Object.keys(beside))) {
        const isTimed = level === 'sser' || level === 'strong-si'
        expect(told).toContain('ThinAirRead 2')
        expect([level, told.includes(beside['lost-update'])]).toEqual([level, level !== 'pc'])
        expect([level, told.includes(beside['stale-read'])]).toEqual([level, isTimed])
      }
    },
  )
})
