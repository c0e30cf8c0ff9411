import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Random } from '../../../src/base/random.ts'
import { buildBaseOrder } from '../../../src/check/order/base-order.ts'
import type { ForcedEdge } from '../../../src/check/order/components.ts'
import { mendOrder } from '../../../src/check/order/mend-order.ts'
import { Moves } from '../../../src/check/order/moves.ts'
import { repairOrder } from '../../../src/check/order/repair-order.ts'
import {
  type BaseOrder,
  findStaleAgain,
  findStaleReads,
} from '../../../src/check/order/stale-reads.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import type { History } from '../../../src/history/history.ts'
import { generate } from '../../../src/pipeline/generate.ts'

const NO_LIMIT = Deadline.none()

function setUp(seed: number, sessions = 12, keys = 500, transactions = 1200) {
  const { history } = generate({
    seed,
    workload: { shape: 'general', sessions, transactions, ops: 5, keys },
    layout: 'session',
  })
  const reads = checkReads(history)
  return { history, reads, base: buildBaseOrder(history, reads, NO_LIMIT) }
}

/** What comes before what by sessions and reads, but the order has it the other way round. */
function findBroken(history: History, opSource: Int32Array, { order, position }: BaseOrder) {
  const broken: number[] = []
  const last = new Int32Array(history.sessionCount).fill(-1)
  for (const [p, txn] of order.entries()) {
    const session = history.txnSession[txn]!
    if (position[txn] !== p || history.txnIndex[txn]! < last[session]!) broken.push(txn)
    last[session] = history.txnIndex[txn]!
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      if (opSource[op]! >= 0 && position[opSource[op]!]! >= p) broken.push(txn)
    }
  }
  return broken
}

describe('Moves', () => {
  it('moves one to right before another, with all that must come before it', () => {
    let tried = 0
    let done = 0
    for (let seed = 1; seed <= 10; seed++) {
      const { history, reads, base } = setUp(seed)
      const random = new Random(seed)
      const moves = new Moves(history, reads, base)
      for (let i = 0; i < 400; i++) {
        const at = random.below(base.order.length - 40)
        const target = base.order[at]!
        const mover = base.order[at + 1 + random.below(39)]!
        if (moves.label[mover]! < moves.label[target]!) continue
        tried++
        if (!moves.tryMove(mover, target)) continue
        done++
        expect(moves.label[mover]).toBeLessThan(moves.label[target]!)
      }
      const sorted = moves.sorted()
      expect([...sorted.order].sort((a, b) => a - b)).toEqual([...base.order].sort((a, b) => a - b))
      expect(findBroken(history, reads.opSource, sorted)).toEqual([])
      const labels = [...sorted.order].map((txn) => moves.label[txn]!)
      expect(labels).toEqual(labels.toSorted((a, b) => a - b))
    }
    // Neither is all possible nor nothing.
    expect(done).toBeGreaterThan(tried / 4)
    expect(done).toBeLessThan(tried)
  })

  it('keeps what else must come before', () => {
    const { history, reads, base } = setUp(3)
    const [first, second, third] = [base.order[100]!, base.order[101]!, base.order[102]!]
    const edge = { from: first, to: third, read: 0 }
    const isFree = new Moves(history, reads, base).tryMove(third, first)
    expect(new Moves(history, reads, base, [edge]).tryMove(third, first)).toBe(false)
    expect(isFree).toBe(true)
    expect(new Moves(history, reads, base, [edge]).tryMove(third, second)).toBe(true)
  })

  it('leaves stale reads that are those of a replay of everything', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { history, reads, base } = setUp(seed, 12, 4000)
      const random = new Random(seed)
      const moves = new Moves(history, reads, base)
      for (let i = 0; i < 20 * seed; i++) {
        const at = random.below(base.order.length - 40)
        const [target, mover] = [base.order[at]!, base.order[at + 1 + random.below(39)]!]
        if (moves.label[mover]! > moves.label[target]!) moves.tryMove(mover, target)
      }
      const sorted = moves.sorted()
      const again = findStaleAgain(history, reads, sorted, base.stale, moves.moved, NO_LIMIT)
      const all = findStaleReads(history, reads, sorted)
      expect(all.read.length).toBeGreaterThan(0)
      expect(again).toEqual(all)
    }
  })
})

describe('repairOrder', () => {
  it('leaves a valid order with far fewer stale reads', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { history, reads, base } = setUp(seed, 12, 500, 5000)
      const repaired = repairOrder(history, reads, base, NO_LIMIT)
      expect(findBroken(history, reads.opSource, repaired)).toEqual([])
      expect(repaired.stale).toEqual(findStaleReads(history, reads, repaired))
      expect(repaired.stale.read.length).toBeLessThan(base.stale.read.length / 4)
    }
  })
})

describe('mendOrder', () => {
  it('respects all edges, by moves or anew', () => {
    let cyclic = 0
    for (let seed = 1; seed <= 30; seed++) {
      const { history, reads, base } = setUp(seed)
      const random = new Random(seed)
      const extra: ForcedEdge[] = []
      for (let i = 0; i < 3 + seed; i++) {
        const at = random.below(base.order.length - 30)
        const [to, from] = [base.order[at]!, base.order[at + 1 + random.below(29)]!]
        extra.push({ from, to, read: 0 })
      }
      const mended = mendOrder(history, reads, base, extra, NO_LIMIT)
      const { position, component } = mended
      const isOne = (a: number, b: number) => component !== null && component[a] === component[b]
      for (const { from, to } of extra) {
        expect(position[from]! < position[to]! || isOne(from, to)).toBe(true)
      }
      if (component !== null) cyclic++
      else expect(findBroken(history, reads.opSource, mended)).toEqual([])
      // What became stale is told.
      const told = new Set(mended.stale.read)
      const before = new Set(base.stale.read)
      for (const read of findStaleReads(history, reads, mended).read) {
        expect(told.has(read) || before.has(read)).toBe(true)
      }
    }
    expect(cyclic).toBeGreaterThan(0)
    expect(cyclic).toBeLessThan(30)
  })
})
