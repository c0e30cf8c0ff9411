import { describe, expect, test } from 'vitest'
import { READ } from '../../src/history/history.ts'
import { findTopic } from '../../src/levels/glossary.ts'
import { AIM_NAMES, type AimName, findAim } from '../../src/workload/aims.ts'
import { workloadParameters } from '../../src/workload/parameters.ts'
import { planWorkload } from '../../src/workload/workload.ts'
import { stage, verdictsOf } from '../record/stage.ts'

describe('findAim', () => {
  test('knows anomalies as people write them, and those of the glossary only', () => {
    expect(findAim('WriteSkew')).toBe(findAim('write-skew'))
    expect(AIM_NAMES.filter((name) => findTopic(name)?.kind !== 'anomaly')).toEqual([])
  })

  test('says what was meant, and where else to look', () => {
    expect(() => findAim('writ-skew')).toThrow('no workload aims at "writ-skew"')
    const hint = expect.stringMatching(/did you mean write-skew\?.*phantoms are for --shape sql/)
    expect(refusal(() => findAim('writ-skew'))).toMatchObject({ hint })
  })
})

function refusal(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('planAimed', () => {
  test.each(AIM_NAMES)('has all roles of %s meet on few keys, and half of them rest', (aim) => {
    const plan = planWorkload({ shape: 'aimed', aim, sessions: 4, transactions: 400 })
    const groupSize = findAim(aim).roles.some((role) => role.includes('y')) ? 2 : 1
    const seen = new Map<string, number>() // role -> how often it rests
    for (let txn = 0; txn < plan.txnCount; txn++) {
      const first = plan.txnOpStart[txn]!
      const read = new Set<number>()
      const words: string[] = []
      let rests = 0
      for (let op = first; op < plan.txnOpStart[txn + 1]!; op++) {
        const key = plan.opKey[op]!
        expect(Math.floor(key / groupSize)).toBe(Math.floor(plan.opKey[first]! / groupSize))
        if (plan.opKind[op] === READ) read.add(key)
        else expect(read).toContain(key)
        rests += plan.opRests[op]!
        words.push(`${plan.opKind[op] === READ ? 'r' : 'w'} ${'xy'[key % groupSize]}`)
      }
      const role = words.join(' ')
      seen.set(role, (seen.get(role) ?? 0) + rests)
    }
    const roles = findAim(aim).roles
    expect([...seen.keys()].sort()).toEqual(roles.map((role) => role.replace(' .', '')).sort())
    for (const role of roles) {
      expect(seen.get(role.replace(' .', ''))! > 0).toBe(role.includes('.'))
    }
    expect(plan.keyCount).toBe(workloadParameters({ shape: 'aimed', aim }).keys)
  })

  test('takes sizes, and nothing that would change the roles', () => {
    const plan = planWorkload({ shape: 'aimed', aim: 'lost-update', keys: 7, transactions: 9 })
    expect(plan).toMatchObject({ keyCount: 7, txnCount: 9 })
    expect(() => planWorkload({ shape: 'aimed', ops: 9 })).toThrow('ops is not for aimed')
    expect(() => planWorkload({ shape: 'mini', aim: 'lost-update' })).toThrow('not for mini')
  })
})

describe('a run that is aimed at write skew', () => {
  test('finds in every seed what the plain one finds in few', async () => {
    const found = { churn: 0, aimed: 0 }
    for (const shape of ['churn', 'aimed'] as const) {
      for (let seed = 1; seed <= 4; seed++) {
        const aim: { aim?: AimName } = shape === 'aimed' ? { aim: 'write-skew' } : {}
        const workload = { shape, ...aim, sessions: 20, transactions: 1200, seed }
        const options = { target: 'sim:ser+write-skew:1%', workload, levels: ['ser' as const] }
        await stage(options, (outcome) => {
          if (verdictsOf(outcome)['ser'] === 'violated') found[shape]++
        })
      }
    }
    expect(found.aimed).toBe(4)
    expect(found.churn).toBeLessThanOrEqual(1)
  })
})
