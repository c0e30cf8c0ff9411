// Forged evidence about SQL histories that keep their levels: all of it must be refused.
// Certificates are files, so whoever wrote one need not have been a decider.

import { describe, expect, test } from 'vitest'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import {
  type Anomaly,
  type Case,
  type Edge,
  findTxns,
  INITIAL_TXN,
  type LevelResult,
} from '../../src/verdict/verdict.ts'
import { historyOfSql, parseSql } from '../small/sql-draft.ts'
import { throughFile } from './through-file.ts'

function edge(kind: Edge['kind'], from: number, to: number, rest: Partial<Edge> = {}): Edge {
  return { kind, from, to, key: -1, ops: [], premises: [], ...rest }
}

/** The key of a row by its letter. */
function keyOf(history: History, row: string): number {
  for (let key = 0; key < history.keyCount; key++) {
    if (String(history.keyName(key)).includes(`'${row}'`)) return key
  }
  throw new Error(`no row ${row}`)
}

/** `reader` precedes `writer`, which replaced the initial version that the reader saw. */
function overtaken(reader: number, writer: number, key: number, seen: Partial<Edge>): Edge {
  const premises = [
    edge('WR', INITIAL_TXN, reader, { key, ...seen }),
    edge('WW', INITIAL_TXN, writer, { key }),
  ]
  return edge('RW', reader, writer, { key, premises })
}

function violation(level: LevelId, anomaly: Partial<Anomaly>): LevelResult {
  const { edges = [], cases = [] } = anomaly
  const txns = findTxns(edges, cases)
  return {
    level,
    verdict: 'violated',
    reason: null,
    impliedBy: null,
    algorithm: 'forged',
    elapsedMs: 0,
    stages: {},
    anomalies: [
      { name: 'G2-item', count: 1, txns, earlier: [], ops: [], edges, cases, ...anomaly },
    ],
    proof: null,
    certificate: null,
  }
}

/** What the certifier says to forged evidence about a history that is consistent. */
function forge(
  notation: string,
  make: (history: History) => Partial<Anomaly>,
  level: LevelId = 'mixed',
): string[] {
  const history = historyOfSql(parseSql(notation))
  expect(checkMixed(history, ['mixed'])[0]!.verdict).toBe('satisfied')
  return certifyMixed(history, violation(level, make(history))).problems
}

const alone = (assumption: Edge, cycle: Edge[]): Case[] => [{ assumptions: [assumption], cycle }]

/** A claim that everything may have been committed in this order. */
function satisfied(order: Int32Array): LevelResult {
  const proof = { kind: 'witness', order, choices: [] } as const
  return { ...violation('mixed', {}), verdict: 'satisfied', proof, anomalies: [] }
}

describe('certifyMixed of lists', () => {
  const LISTS = `
    s1: append(x,1) [level=rc]
    s2: append(x,2) [level=rc]
    s3: r(x,[2,1]) [level=rc]
    s4: append(x,3) append(y,1) [level=rc]
    s5: r(y,[1]) r(x,[2]) [level=rc]`
  const history = parseNotation(LISTS)
  const x = 0

  test('takes an order in which lists were appended to as reads show', () => {
    expect(certifyMixed(history, satisfied(Int32Array.of(1, 0, 2, 3, 4))).problems).not.toEqual([])
    const sound = parseNotation(LISTS.replace('r(y,[1]) r(x,[2])', 'r(x,[2]) r(y,[1])'))
    expect(checkMixed(sound, ['mixed'])[0]!.verdict).toBe('satisfied')
    expect(certifyMixed(sound, satisfied(Int32Array.of(1, 0, 2, 3, 4))).problems).toEqual([])
    expect(certifyMixed(sound, satisfied(Int32Array.of(0, 1, 2, 3, 4))).problems).toEqual([
      expect.stringContaining('shows another order'),
      expect.stringContaining('shows another order'),
    ])
    // Nobody saw 3, so it comes last.
    expect(certifyMixed(sound, satisfied(Int32Array.of(1, 3, 0, 2, 4))).problems).not.toEqual([])
  })

  test('refuses reads that no list allows, and names them only where they are', () => {
    const thin = parseNotation('s1: append(x,1) [level=rc]\ns2: r(x,[2]) [level=rc]')
    expect(certifyMixed(thin, satisfied(Int32Array.of(0, 1))).problems).toEqual([
      expect.stringContaining('ThinAirRead'),
    ])
    const read = history.txnOpStart[2]!
    const offence = (name: Anomaly['name']) =>
      certifyMixed(history, violation('mixed', { name, ops: [read], txns: [2] })).problems
    expect(offence('ThinAirRead')).not.toEqual([])
    expect(offence('IncompatibleOrder')).not.toEqual([])
  })

  test('takes an order of versions only as a read shows it', () => {
    const [first, second, third] = [0, 1, 3].map((txn) => history.txnOpStart[txn]!)
    const shown = history.txnOpStart[2]!
    const cycle = (from: number, to: number, ops: number[]) => {
      const versions = edge('WW', from, to, { key: x, ops })
      const back = edge('WW', to, from, { key: x, ops: [ops[1]!, ops[0]!, shown] })
      return certifyMixed(history, violation('mixed', { name: 'G0', edges: [versions, back] }))
        .problems
    }
    const isOpposite = expect.stringContaining('opposite order')
    expect(cycle(0, 1, [first!, second!, shown])).toEqual([isOpposite])
    expect(cycle(1, 0, [second!, first!, shown])).toEqual([isOpposite])
    expect(cycle(3, 0, [third!, first!, shown])).toEqual([
      expect.stringContaining('does not show the first write'),
    ])
    // A read of another list shows nothing of this one, and neither does an append.
    const other = history.txnOpStart[4]!
    for (const op of [other, first!, -1]) {
      expect(cycle(0, 3, [first!, third!, op])).not.toEqual([])
    }
  })
})

describe('certifyMixed', () => {
  test('refuses a row of another table as one that a statement passed over', () => {
    const notation = `
      init: X=0
      s1: [ser] insert of u as w1 X=1 | [ser] select(v = 1)`
    const problems = forge(notation, (history) => {
      const read = { event: 1, key: keyOf(history, 'X') }
      return { edges: [overtaken(1, 0, read.key, read), edge('SO', 0, 1)] }
    })
    expect(problems).toEqual([expect.stringContaining('of another table')])
    const missing = 'init: X=1\ns1: [ser] select(v = 1)'
    const absent = forge(missing, (history) => {
      return { name: 'VanishedRow', absence: { event: 0, key: keyOf(history, 'X') } }
    })
    expect(absent).toEqual([expect.stringContaining('of another table')])
  })

  describe('refuses cases about a row', () => {
    // T1 did not take effect; if it had, T2 would have missed it.
    const HALF = `
      init: x=1
      s1: [ser indeterminate] delete(v = 1) as w1 x@0 | [ser] select(v = 1) x@0
      s2: `
    const assuming = (history: History, to: number, event: number) => {
      const key = keyOf(history, 'x')
      const read = history.txnOpStart[1]!
      const assumption = edge('WR', 0, to, { key, event, assumed: true })
      return alone(assumption, [overtaken(1, 0, key, { ops: [read] }), edge('SO', 0, 1)])
    }

    test('that a statement of one who does not count passed over', () => {
      for (const to of [1, 2]) {
        const notation = `${HALF}[ser aborted] select(v = 1)`
        const cases = forge(notation, (history) => ({ cases: assuming(history, to, 2) }))
        expect(cases).not.toEqual([])
      }
    })

    test('that the statement returned', () => {
      const notation = `${HALF}[ser] select(v = 1) x@0`
      const cases = forge(notation, (history) => ({ cases: assuming(history, 2, 2) }))
      expect(cases).toEqual([expect.stringContaining('did not pass row')])
    })

    test('that the reader had written itself', () => {
      const notation = `${HALF}[ser] insert as w2 x=0 ; select(v = 1)`
      const cases = forge(notation, (history) => ({ cases: assuming(history, 2, 3) }))
      expect(cases).toEqual([expect.stringContaining("the reader's own")])
    })

    test('that an INSERT is said to have read', () => {
      const notation = `${HALF}[ser] insert as w2 y=0`
      const cases = forge(notation, (history) => ({ cases: assuming(history, 2, 2) }))
      expect(cases).toEqual([expect.stringContaining('no such statement')])
    })

    test('that assume an order besides', () => {
      const notation = `
        init: x=0 y=0
        s1: [ser] insert as w1 y=2 x=1 | [ser] select(v = 1) x@w1
        s2: [ser] select(id = 'x') x@0 ; insert as w2 x=3`
      const problems = forge(notation, (history) => {
        const [x, y] = [keyOf(history, 'x'), keyOf(history, 'y')]
        const row = { key: y, event: 1 }
        const read = { ops: [history.txnOpStart[2]!] }
        const later = edge('WW', 0, 2, { key: x, assumed: true })
        const cases = [
          ...alone(edge('WR', INITIAL_TXN, 1, { ...row, assumed: true }), [
            overtaken(1, 0, y, { ...row, assumed: true }),
            edge('SO', 0, 1),
          ]),
          ...alone(edge('WW', 0, 2, { ...row, assumed: true }), [overtaken(2, 0, x, read), later]),
        ]
        return { cases }
      })
      expect(problems).not.toEqual([])
    })
  })

  test('refuses cases about an order that assume a read besides', () => {
    const notation = `
      init: x=0 y=0
      s1: [ser] insert as w1 x=1 y=2
      s2: [ser] insert as w2 x=1 y=2
      s3: [ser] select(id = 'x') x@0 ; select(v = 1)`
    const problems = forge(notation, (history) => {
      const [x, y] = [keyOf(history, 'x'), keyOf(history, 'y')]
      const row = { key: y, event: 3, assumed: true }
      const seen = { ops: [history.txnOpStart[2]!] }
      return {
        cases: [0, 1].map((writer) => ({
          assumptions: [edge('WW', writer, 1 - writer, row)],
          cycle: [edge('WR', writer, 2, row), overtaken(2, writer, x, seen)],
        })),
      }
    })
    expect(problems).not.toEqual([])
  })

  test('refuses a write, and a statement that reads nothing, as a bad read', () => {
    const notation = 'init: x=0\ns1: [ser] insert as w1 x=1'
    expect(forge(notation, () => ({ name: 'ThinAirRead', ops: [0] }))).not.toEqual([])
    const absence = { event: 0, key: 0 }
    expect(forge(notation, () => ({ name: 'VanishedRow', absence }))).not.toEqual([])
    for (const key of [-1, 1]) {
      const strange = { name: 'VanishedRow' as const, absence: { event: 0, key } }
      expect(forge('init: x=0\ns1: [ser] select(v = 1)', () => strange)).not.toEqual([])
    }
  })

  const SKEW = `
    init: x=0 y=0
    s1: [si] select(v = 1) ; insert as w1 x=1
    s2: [si] select(v = 1) ; insert as w2 y=1`

  test('knows only the levels that transactions may have, and session order', () => {
    const history = historyOfSql(parseSql(SKEW))
    const [result] = checkMixed(history, ['si'])
    expect(certifyMixed(history, { ...result!, level: 'pc' }).problems).toEqual([])
    for (const level of ['psi', 'ci', 'lin', 'pl-2'] as const) {
      expect(certifyMixed(history, { ...result!, level }).problems).toEqual([
        expect.stringContaining(level),
      ])
    }
    expect(certifyMixed(history, { ...result!, sessionOrder: false }).problems).not.toEqual([])
  })

  test('knows no lists beside SQL', () => {
    const sql = historyOfSql(parseSql(SKEW))
    const history = { ...parseNotation('s1: append(x,1) [level=rc]'), sql: sql.sql }
    const result = satisfied(Int32Array.of(0))
    expect(certifyMixed(history, result).problems).toEqual([expect.stringContaining('lists')])
  })

  test('asks for the level of every transaction that may count', () => {
    const history = historyOfSql(parseSql(SKEW))
    const [skew] = checkMixed(history, ['ser'])
    expect(certifyMixed(history, skew!).problems).toEqual([])
    const levelless = { ...history, txnLevel: Int8Array.of(-1, -1) }
    expect(certifyMixed(levelless, { ...skew!, level: 'mixed' }).problems).not.toEqual([])
    expect(
      certifyMixed({ ...history, txnLevel: null }, { ...skew!, level: 'mixed' }).problems,
    ).not.toEqual([])
  })

  test('takes at stronger levels what a weaker one has proved', () => {
    const fractured = `
      init: x=0 y=0
      s1: [si] insert as w1 x=1 y=1
      s2: [si] select(id = 'x') x@w1 ; select(id = 'y') y@0`
    const history = historyOfSql(parseSql(fractured))
    const results = checkMixed(history, null)
    expect(results.map(({ level, verdict }) => `${level} ${verdict}`)).toContain('pc violated')
    for (const result of throughFile(history, results))
      expect(certifyMixed(history, result).problems).toEqual([])
  })
})
