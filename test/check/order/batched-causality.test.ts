import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Random } from '../../../src/base/random.ts'
import { buildBaseOrder } from '../../../src/check/order/base-order.ts'
import { BatchedQuestions } from '../../../src/check/order/batched-causality.ts'
import { CausalClocks } from '../../../src/check/order/causal-clocks.ts'
import { Causality } from '../../../src/check/order/causality.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { generate } from '../../../src/pipeline/generate.ts'

const TXNS = 3000

function setUp(seed: number) {
  const { history } = generate({
    seed,
    workload: { shape: 'general', sessions: 30, transactions: TXNS, ops: 4, keys: 600 },
    layout: 'session',
  })
  const reads = checkReads(history)
  const base = buildBaseOrder(history, reads, Deadline.none())
  const clocks = new CausalClocks(history, reads, base.order, Deadline.none())
  return { history, reads, base, clocks }
}

/** Pairs of which the later one stands at most so far behind the earlier one. */
function questions(order: Int32Array, count: number, reach: number, seed: number) {
  const random = new Random(seed)
  const from = new Int32Array(count)
  const to = new Int32Array(count)
  for (let i = 0; i < count; i++) {
    const start = random.below(order.length - 1)
    from[i] = order[start]!
    to[i] = order[Math.min(order.length - 1, start + random.below(reach + 1))]!
  }
  return { from, to }
}

// Few questions that lie apart go into narrow batches, many that lie close together into wide ones.
const SHAPES = [
  { count: 1, reach: 50 },
  { count: 40, reach: 20 },
  { count: 300, reach: 2500 },
  { count: 20_000, reach: 900 },
  { count: 20_000, reach: 2500 },
]

describe('BatchedQuestions', () => {
  for (const { count, reach } of SHAPES) {
    it(`says what clocks say: ${count} questions that reach ${reach} far`, () => {
      for (const seed of [1, 2]) {
        const { history, reads, base, clocks } = setUp(seed)
        const { from, to } = questions(base.order, count, reach, seed)
        const answers = new BatchedQuestions(history, reads, base, from, to).answer(Deadline.none())
        const expected = Uint8Array.from(from, (a, i) => (clocks.before(a, to[i]!) ? 1 : 0))
        expect(answers).toEqual(expected)
        if (count > 40) expect(new Set(expected)).toEqual(new Set([0, 1]))
      }
    })
  }

  it('makes batches of either width', () => {
    const { history, reads, base } = setUp(3)
    const widths = SHAPES.map(({ count, reach }) => {
      const { from, to } = questions(base.order, count, reach, 3)
      const made = new BatchedQuestions(history, reads, base, from, to)
      return new Set(made.batches.map(({ isWide }) => isWide))
    })
    expect(widths.some((kinds) => kinds.has(false))).toBe(true)
    expect(widths.some((kinds) => kinds.has(true))).toBe(true)
  })
})

describe('Causality', () => {
  it('says what clocks say, of questions asked together', () => {
    for (const { count, reach } of SHAPES) {
      const { history, reads, base, clocks } = setUp(count)
      const { from, to } = questions(base.order, count, reach, 5)
      const answers = new Causality(history, reads, base, Deadline.none()).beforeAll(from, to)
      expect(answers).toEqual(Uint8Array.from(from, (a, i) => (clocks.before(a, to[i]!) ? 1 : 0)))
    }
  })

  it('says no of what stands the other way round', () => {
    const { history, reads, base } = setUp(4)
    const causality = new Causality(history, reads, base, Deadline.none())
    const { from, to } = questions(base.order, 500, 100, 6)
    expect(causality.beforeAll(to, from).includes(1)).toBe(false)
  })
})
