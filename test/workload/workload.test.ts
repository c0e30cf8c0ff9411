import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { APPEND, READ, READ_LIST, WRITE } from '../../src/history/history.ts'
import { chooserOf, DISTRIBUTIONS } from '../../src/workload/distributions.ts'
import { MINI_SHAPES } from '../../src/workload/mini.ts'
import { isApplicationShape, SHAPES, type WorkloadRequest } from '../../src/workload/parameters.ts'
import { type Plan, PUT, REPLACE, UPSERT } from '../../src/workload/plan.ts'
import { planWorkload } from '../../src/workload/workload.ts'

function opsOf(plan: Plan, txn: number): { kind: number; key: number }[] {
  const ops = []
  for (let op = plan.txnOpStart[txn]!; op < plan.txnOpStart[txn + 1]!; op++) {
    ops.push({ kind: plan.opKind[op]!, key: plan.opKey[op]! })
  }
  return ops
}

const txnsOf = (plan: Plan) => Array.from({ length: plan.txnCount }, (_, txn) => opsOf(plan, txn))

function countsOf(distribution: (typeof DISTRIBUTIONS)[number], keyCount: number, draws: number) {
  const random = new Random(7)
  const chooser = chooserOf(distribution, keyCount)
  const counts = new Array<number>(keyCount).fill(0)
  for (let i = 0; i < draws; i++) counts[chooser.next(random)]!++
  return counts
}

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0)

describe('chooserOf', () => {
  const draws = 200_000

  test('draws every key about equally often when uniform', () => {
    for (const count of countsOf('uniform', 100, draws)) {
      expect(count).toBeGreaterThan(1700)
      expect(count).toBeLessThan(2300)
    }
  })

  test('draws a key in inverse proportion to its rank when zipfian', () => {
    const counts = countsOf('zipfian', 1000, draws)
    for (const rank of [2, 4, 10]) {
      expect(counts[0]! / counts[rank - 1]!).toBeCloseTo(rank ** 0.99, rank === 10 ? -1 : 0)
    }
    expect(counts.every((count) => count > 0)).toBe(true)
  })

  test('sends four fifths of the operations to one fifth of the keys when hotspot', () => {
    const counts = countsOf('hotspot', 100, draws)
    expect(sum(counts.slice(0, 20)) / draws).toBeCloseTo(0.8, 2)
  })

  test('halves again and again when exponential', () => {
    const counts = countsOf('exponential', 100, draws)
    expect(sum(counts.slice(0, 86)) / draws).toBeGreaterThan(0.94)
    expect(sum(counts.slice(0, 20)) / sum(counts.slice(20, 40))).toBeCloseTo(2, 0)
  })

  test('manages with a single key', () => {
    for (const distribution of DISTRIBUTIONS) {
      expect(countsOf(distribution, 1, 100)).toEqual([100])
    }
  })
})

describe('planWorkload', () => {
  test('gives the same plan for the same seed, and another for another', () => {
    for (const shape of SHAPES) {
      const small = { shape, sessions: 3, transactions: 40, keys: 20 }
      expect(planWorkload({ ...small, seed: 5 })).toEqual(planWorkload({ ...small, seed: 5 }))
      const other = planWorkload({ ...small, seed: 6 })
      expect(planWorkload({ ...small, seed: 5 }).opKey).not.toEqual(other.opKey)
    }
  })

  test('deals transactions in turn and keeps to their size and share of reads', () => {
    const plan = planWorkload({
      shape: 'general',
      sessions: 4,
      transactions: 2000,
      ops: 10,
      reads: 0.3,
      keys: 50,
    })
    expect(plan.txnCount).toBe(2000)
    expect(txnsOf(plan).every((ops) => ops.length === 10)).toBe(true)
    expect(Array.from(plan.txnSession.subarray(0, 6))).toEqual([0, 1, 2, 3, 0, 1])
    const reads = plan.opKind.filter((kind) => kind === READ).length
    expect(reads / plan.opCount).toBeCloseTo(0.3, 1)
  })

  test('makes read-only, write-only and read-modify-write transactions in a mix', () => {
    const plan = planWorkload({ shape: 'general', transactions: 5000, ops: 8, mix: [20, 40, 40] })
    const kinds = { readOnly: 0, writeOnly: 0, readModifyWrite: 0 }
    for (const ops of txnsOf(plan)) {
      const text = ops.map((op) => (op.kind === READ ? 'r' : 'w')).join('')
      if (text === 'rrrrrrrr') kinds.readOnly++
      else if (text === 'wwwwwwww') kinds.writeOnly++
      else if (text === 'rwrwrwrw') kinds.readModifyWrite++
      for (let i = 0; text === 'rwrwrwrw' && i < 8; i += 2) {
        expect(ops[i + 1]!.key).toBe(ops[i]!.key)
      }
    }
    expect(sum(Object.values(kinds))).toBe(5000)
    expect(kinds.readOnly / 5000).toBeCloseTo(0.2, 1)
    expect(kinds.writeOnly / 5000).toBeCloseTo(0.4, 1)
  })

  test('lets only one session write a key when writes are disjoint', () => {
    for (const shape of SHAPES) {
      if (isApplicationShape(shape) || shape === 'aimed') continue // refused
      const plan = planWorkload({
        shape,
        sessions: 7,
        transactions: 500,
        keys: 30,
        disjointWrites: true,
      })
      for (let txn = 0; txn < plan.txnCount; txn++) {
        for (const { kind, key } of opsOf(plan, txn)) {
          if (kind !== WRITE && kind !== APPEND) continue
          expect(key % 7).toBe(plan.txnSession[txn])
          expect(key).toBeLessThan(plan.keyCount)
        }
      }
    }
  })

  test('draws every shape of mini-transaction, and nothing else', () => {
    const plan = planWorkload({ shape: 'mini', transactions: 3000, keys: 10 })
    const seen = new Set<string>()
    for (const ops of txnsOf(plan)) {
      const reads = ops.filter((op) => op.kind === READ)
      expect(reads.length === 1 || reads.length === 2).toBe(true)
      expect(ops.length - reads.length).toBeLessThanOrEqual(2)
      ops.forEach(({ kind, key }, i) => {
        const earlier = ops.slice(0, i)
        if (kind === WRITE)
          expect(earlier.some((op) => op.kind === READ && op.key === key)).toBe(true)
      })
      const first = ops[0]!.key
      seen.add(ops.map((op) => `${op.kind}${op.key === first ? 'x' : 'y'}`).join(' '))
    }
    expect(seen.size).toBe(MINI_SHAPES.length)
  })

  test('churns: 2 to 8 operations, writes only what it has read, in every way, on keys that retire', () => {
    const plan = planWorkload({ shape: 'churn', transactions: 5000, sessions: 5 })
    const lengths = new Set<number>()
    const ways = new Set<number>()
    for (let txn = 0; txn < plan.txnCount; txn++) {
      const read = new Set<number>()
      lengths.add(plan.txnOpStart[txn + 1]! - plan.txnOpStart[txn]!)
      for (let op = plan.txnOpStart[txn]!; op < plan.txnOpStart[txn + 1]!; op++) {
        if (plan.opKind[op] === READ) read.add(plan.opKey[op]!)
        else {
          expect(read).toContain(plan.opKey[op]!)
          ways.add(plan.opWay[op]!)
        }
      }
    }
    expect([...lengths].sort()).toEqual([2, 3, 4, 5, 6, 7, 8])
    expect([...ways].sort()).toEqual([PUT, UPSERT, REPLACE])
    expect(plan.keyCount).toBeGreaterThan(50)
    expect(plan.rowCount).toBe(0)
  })

  test('churns: some read two keys and write one of them, some look again at what they wrote', () => {
    const told = new Map<string, number>()
    const plan = planWorkload({ shape: 'churn', transactions: 5000, sessions: 5 })
    for (const ops of txnsOf(plan)) {
      const first = ops[0]!.key
      const name = ops.map(
        ({ kind, key }) => `${kind === READ ? 'r' : 'w'}${key === first ? 'x' : 'y'}`,
      )
      told.set(name.join(' '), (told.get(name.join(' ')) ?? 0) + 1)
    }
    for (const often of ['rx ry', 'rx ry wx', 'rx ry wy', 'rx wx ry', 'rx wx wx rx']) {
      expect(told.get(often)).toBeGreaterThan(300)
    }
    for (const seldom of ['rx wx', 'rx wx rx']) expect(told.get(seldom)).toBeGreaterThan(100)
  })

  test('churns no longer than it is told, and writes nothing where all is to be read', () => {
    for (const ops of [1, 2, 3]) {
      const lengths = txnsOf(planWorkload({ shape: 'churn', transactions: 500, ops })).map(
        (txn) => txn.length,
      )
      expect(Math.max(...lengths)).toBe(ops)
    }
    const kinds = (reads: number) =>
      planWorkload({ shape: 'churn', transactions: 500, reads }).opKind
    expect(kinds(1)).not.toContain(WRITE)
    const shareOfWrites = (reads: number) =>
      kinds(reads).filter((kind) => kind === WRITE).length / kinds(reads).length
    expect(shareOfWrites(0.2)).toBeGreaterThan(shareOfWrites(0.8) + 0.2)
  })

  test('reads every list once more after everything else', () => {
    const plan = planWorkload({ shape: 'append', transactions: 300, sessions: 5, keys: 4 })
    const appended = new Set<number>()
    const finals: number[] = []
    for (let txn = 0; txn < plan.txnCount; txn++) {
      for (const { kind, key } of opsOf(plan, txn)) {
        if (txn < plan.finalTxn && kind === APPEND) appended.add(key)
        if (txn < plan.finalTxn) continue
        expect(kind).toBe(READ_LIST)
        finals.push(key)
      }
    }
    expect(appended.size).toBeGreaterThan(4)
    expect(new Set(finals).size).toBe(finals.length)
    for (const key of appended) expect(finals).toContain(key)
  })

  test('refuses parameters that make no sense, and says what there is', () => {
    const bad: [Partial<WorkloadRequest>, RegExp][] = [
      [{ shape: 'wide' as 'mini' }, /unknown shape "wide"/],
      [{ distribution: 'normal' as 'uniform' }, /unknown distribution "normal"/],
      [{ sessions: 0 }, /sessions must be a whole number/],
      [{ ops: 1.5 }, /ops must be a whole number/],
      [{ reads: 1.1 }, /between 0 and 1/],
      [{ mix: [0, 0, 0] }, /bad mix/],
      [{ shape: 'mini', mix: [1, 1, 1] }, /general shape/],
      [{ disjointWrites: true, keys: 3 }, /a key for each of the 25 sessions/],
    ]
    for (const [parameters, message] of bad) {
      expect(() => planWorkload({ shape: 'general', ...parameters })).toThrow(message)
    }
  })
})
