// Evidence of violated strong levels: true arguments are accepted at exactly the levels they speak
// of, and whatever is changed in one of them, it is refused.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { certifyCycle, certifyOrders } from '../../src/verdict/certify-cycles.ts'
import { certifyAnomaly } from '../../src/verdict/certify-plain.ts'
import type { Anomaly, Case, Edge } from '../../src/verdict/verdict.ts'
import { some } from '../long.ts'
import { draftsFor } from '../small/compare.ts'
import { buildHistory, renderDraft } from '../small/draft.ts'
import { profileOf } from '../small/oracle.ts'
import { afterInitial, assumed, op, replaced, rt, rw, simpleEdges, so, wr, ww } from './edges.ts'

const STRONG = ['pc', 'si', 'ser', 'sser'] as const

interface Example {
  readonly name: string
  readonly notation: string
  /** The levels that forbid it. */
  readonly levels: readonly LevelId[]
  readonly argue: (history: History) => Edge[]
}

const EXAMPLES: Example[] = [
  {
    name: 'a lost update',
    notation: 's1: w(x,1)\ns2: r(x,1) w(x,2)\ns3: r(x,1) w(x,3)',
    levels: ['si', 'ser', 'sser'],
    argue: (h) => [
      rw(h, op(h, 'r(x,1)'), replaced(h, op(h, 'r(x,1)', 1), op(h, 'w(x,3)'))),
      rw(h, op(h, 'r(x,1)', 1), replaced(h, op(h, 'r(x,1)'), op(h, 'w(x,2)'))),
    ],
  },
  {
    name: 'a write skew',
    notation: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)',
    levels: ['ser', 'sser'],
    argue: (h) => [
      rw(h, op(h, 'r(y,0)'), replaced(h, op(h, 'r(y,0)', 1), op(h, 'w(y,1)'))),
      rw(h, op(h, 'r(x,0)', 1), replaced(h, op(h, 'r(x,0)'), op(h, 'w(x,1)'))),
    ],
  },
  {
    name: 'a long fork',
    notation: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
    levels: STRONG,
    argue: (h) => [
      wr(h, op(h, 'r(x,1)')),
      rw(h, op(h, 'r(y,0)'), afterInitial(h, op(h, 'w(y,1)'))),
      wr(h, op(h, 'r(y,1)')),
      rw(h, op(h, 'r(x,0)'), afterInitial(h, op(h, 'w(x,1)'))),
    ],
  },
  {
    name: 'a stale read in real time',
    notation: 's1: r(x,0) w(x,1) [0,1]\ns2: r(x,0) [2,3]',
    levels: ['sser'],
    argue: (h) => [
      rt(0, 1),
      rw(h, op(h, 'r(x,0)', 1), replaced(h, op(h, 'r(x,0)'), op(h, 'w(x,1)'))),
    ],
  },
  {
    name: 'a stale read in a session, the version order derived from it',
    notation: 's1: w(x,1) | w(x,2) | r(x,1)',
    levels: STRONG,
    argue: (h) => [
      so(1, 2),
      rw(h, op(h, 'r(x,1)'), ww(h, op(h, 'w(x,1)'), op(h, 'w(x,2)'), { premises: [so(0, 1)] })),
    ],
  },
  {
    name: 'a version order whose opposite is refuted',
    notation: 's1: w(y,1) | r(y,2)\ns2: w(y,2)\ns3: r(y,2) | r(y,1)',
    levels: STRONG,
    argue: (h) => {
      const [first, second] = [op(h, 'w(y,1)'), op(h, 'w(y,2)')]
      const premises = [so(0, 1), rw(h, op(h, 'r(y,2)'), assumed(h, second, first))]
      const order = ww(h, first, second, { refutes: true, premises })
      return [wr(h, op(h, 'r(y,2)', 1)), so(3, 4), rw(h, op(h, 'r(y,1)'), order)]
    },
  },
]

/** Whoever saw 1 saw it before 2, whoever saw 2 saw it before 1: no order of the writes will do. */
const SPLIT =
  's1: w(x,1)\ns2: w(x,2)\ns3: r(x,1) | r(x,2)\ns4: r(x,2) | r(x,1)\ns5: w(z,1)\ns6: w(z,2)'

function splitCases(h: History): Case[] {
  const [one, two] = [op(h, 'w(x,1)'), op(h, 'w(x,2)')]
  const oneFirst = rw(h, op(h, 'r(x,1)', 1), assumed(h, one, two))
  const twoFirst = rw(h, op(h, 'r(x,2)'), assumed(h, two, one))
  return [
    {
      assumptions: [assumed(h, one, two)],
      cycle: [wr(h, op(h, 'r(x,2)', 1)), so(4, 5), oneFirst],
    },
    {
      assumptions: [assumed(h, two, one)],
      cycle: [wr(h, op(h, 'r(x,1)')), so(2, 3), twoFirst],
    },
  ]
}

/** Every way to change one thing about an edge or what it rests on. */
function* edgeMutations(edge: Edge, history: History): Generator<Edge> {
  const txns = Array.from({ length: history.txnCount }, (_, txn) => txn)
  for (const txn of [-2, -1, ...txns, history.txnCount]) {
    if (txn !== edge.from) yield { ...edge, from: txn }
    if (txn !== edge.to) yield { ...edge, to: txn }
  }
  for (const kind of ['SO', 'WR', 'WW', 'RW', 'RT', 'CO'] as const) {
    if (kind !== edge.kind) yield { ...edge, kind }
  }
  for (let key = -1; key <= history.keyCount; key++) if (key !== edge.key) yield { ...edge, key }
  yield* listMutations(edge.ops, function* (mine) {
    for (let other = -2; other <= history.opCount; other++) if (other !== mine) yield other
  }).map((ops) => ({ ...edge, ops }))
  yield* listMutations(edge.premises, (premise) => edgeMutations(premise, history)).map(
    (premises) => ({ ...edge, premises }),
  )
  yield { ...edge, assumed: !edge.assumed }
  yield { ...edge, refutes: !edge.refutes }
}

/** One element left out, repeated, or changed. */
function listMutations<T>(list: readonly T[], change: (item: T) => Iterable<T>): T[][] {
  return list.flatMap((item, i) => [
    list.filter((_, j) => j !== i),
    [...list.slice(0, i), item, ...list.slice(i)],
    ...[...change(item)].map((other) => list.map((same, j) => (j === i ? other : same))),
  ])
}

describe('certifyCycle', () => {
  for (const { name, notation, levels, argue } of EXAMPLES) {
    it(`accepts ${name} at ${levels.join(', ')} only`, () => {
      const history = parseNotation(notation)
      for (const level of [...STRONG, 'rc', 'ra', 'cc'] as const) {
        const problems = certifyCycle(history, level, argue(history))
        expect(problems.length === 0, level).toBe(levels.includes(level))
      }
    })

    it(`rejects ${name} with anything changed`, () => {
      const history = parseNotation(notation)
      const edges = argue(history)
      for (const level of levels) {
        let count = 0
        for (const wrong of listMutations(edges, (edge) => edgeMutations(edge, history))) {
          const problems = certifyCycle(history, level, wrong)
          expect(problems, `${level}: ${JSON.stringify(wrong)}`).not.toEqual([])
          count++
        }
        expect(count).toBeGreaterThan(50)
      }
    })
  }

  it('rejects an edge that rests on itself', () => {
    const history = parseNotation('s1: w(x,1)\ns2: w(x,2)')
    const one = ww(history, 0, 1, { premises: [] })
    one.premises.push(one)
    const two = ww(history, 1, 0, { premises: [] })
    two.premises.push(two)
    for (const level of STRONG) {
      const problems = certifyCycle(history, level, [one, two])
      expect(new Set(problems)).toEqual(new Set(['an edge rests on itself']))
    }
  })

  it('accepts no cycle on a history that satisfies the level', () => {
    const shape = { keys: 2, maxOps: 3, thinAir: 0, wild: 0, rewrites: false }
    let accepted = 0
    for (const { draft, source } of draftsFor({ families: [], seeds: some(150), shape })) {
      const history = buildHistory(draft)
      const truth = profileOf(draft)
      const edges = simpleEdges(history)
      for (const level of STRONG) {
        const sound = edges.filter((edge) => holds(history, edge))
        for (const a of sound) {
          for (const b of sound) {
            if (a.to !== b.from || b.to !== a.from) continue
            if (certifyCycle(history, level, [a, b]).length > 0) continue
            accepted++
            expect(truth[level], `${level} ${source}\n${renderDraft(draft)}`).toBe('violated')
          }
        }
      }
    }
    expect(accepted).toBeGreaterThan(some(200))
  })
})

describe('certifyAnomaly', () => {
  const history = parseNotation(EXAMPLES[0]!.notation)
  const edges = EXAMPLES[0]!.argue(history)
  const anomaly: Anomaly = {
    name: 'LostUpdate',
    count: 1,
    txns: [2, 1],
    earlier: [0],
    ops: [],
    edges,
    cases: [],
  }

  it('holds the name and the transactions to the evidence', () => {
    expect(certifyAnomaly(history, 'si', anomaly)).toEqual([])
    const wrong: Partial<Anomaly>[] = [
      { name: 'WriteSkew' },
      { name: 'G-single' },
      { txns: [0, 1, 2] },
      { txns: [0, 1, 2], earlier: [] },
      { txns: [1, 2, 2] },
      { earlier: [] },
      { earlier: [0, 0] },
      { edges: [] },
      { edges: edges.slice(1) },
      { cases: [{ assumptions: [edges[0]!], cycle: edges }] },
    ]
    for (const change of wrong) {
      const problems = certifyAnomaly(history, 'si', { ...anomaly, ...change })
      expect(problems, JSON.stringify(change)).not.toEqual([])
    }
  })
})

/** True if the edge is refused neither for itself nor for its premises at the strongest level. */
function holds(history: History, edge: Edge): boolean {
  const back = certifyCycle(history, 'sser', [edge])
  return back.length === 1 && back[0]!.startsWith('edge 0 does not start')
}

describe('certifyOrders', () => {
  const history = parseNotation(SPLIT)
  const certifyCases = (whole: History, level: LevelId, cases: readonly Case[]) =>
    certifyOrders(whole, level, cases, Deadline.none())

  it('accepts two cases that cover both orders', () => {
    for (const level of STRONG)
      expect(certifyCases(history, level, splitCases(history))).toEqual([])
    for (const level of ['rc', 'ra', 'cc'] as const) {
      expect(certifyCases(history, level, splitCases(history))).not.toEqual([])
    }
  })

  it('accepts steps that follow from those before them, and rejects them before those', () => {
    const [first, second] = [op(history, 'w(z,1)'), op(history, 'w(z,2)')]
    const outer = [assumed(history, first, second), assumed(history, second, first)]
    const cases = outer.flatMap((order) => {
      const inside = splitCases(history).map(({ assumptions, cycle }) => {
        return { assumptions: [order, ...assumptions], cycle }
      })
      return [...inside, { assumptions: [order], cycle: [] }]
    })
    const lemmasFirst = cases.toSorted((a, b) => a.cycle.length - b.cycle.length)
    for (const level of STRONG) {
      expect(certifyCases(history, level, cases)).toEqual([])
      expect(certifyCases(history, level, lemmasFirst)).not.toEqual([])
      expect(certifyCases(history, level, cases.slice(0, 3))).not.toEqual([])
      expect(certifyCases(history, level, [{ assumptions: [], cycle: [] }])).not.toEqual([])
    }
  })

  it('rejects a cycle that rests on what its case does not assume', () => {
    const cases = splitCases(history)
    const swapped = [
      { ...cases[0]!, cycle: cases[1]!.cycle },
      { ...cases[1]!, cycle: cases[0]!.cycle },
    ]
    const bare = cases.map(({ cycle }) => ({ assumptions: [], cycle }))
    for (const level of STRONG) {
      expect(certifyCases(history, level, swapped)).not.toEqual([])
      expect(certifyCases(history, level, bare)).not.toEqual([])
    }
  })

  it('rejects cases with anything changed', () => {
    const cases = splitCases(history)
    let count = 0
    const spoilt = listMutations(cases, function* (one) {
      for (const assumption of edgeMutations(one.assumptions[0]!, history)) {
        yield { ...one, assumptions: [assumption] }
      }
      for (const cycle of listMutations(one.cycle, (edge) => edgeMutations(edge, history))) {
        yield { ...one, cycle }
      }
      yield { ...one, assumptions: [] }
      yield { ...one, cycle: [] }
    })
    for (const wrong of spoilt) {
      if (wrong.length > cases.length) continue // a case told twice does no harm
      for (const level of STRONG) {
        expect(certifyCases(history, level, wrong), JSON.stringify(wrong)).not.toEqual([])
        count++
      }
    }
    expect(count).toBeGreaterThan(1000)
  })
})
