import { describe, expect, test } from 'vitest'
import type { Value } from '../../src/history/values.ts'
import {
  isLinearizable,
  isLinearizableByChain,
  type LightOp,
  randomLightOps,
} from './linearizer.ts'

const insert = (value: Value, start: number, finish: number): LightOp => ({
  key: 'x',
  kind: 'insert',
  expected: null,
  value,
  outcome: 'succeeded',
  start,
  finish,
})
const cas = (expected: Value, value: Value, start: number, finish: number): LightOp => ({
  ...insert(value, start, finish),
  kind: 'cas',
  expected,
})
const lost = (op: LightOp): LightOp => ({ ...op, outcome: 'indeterminate' })
const failed = (op: LightOp, seen?: Value): LightOp => ({
  ...op,
  outcome: 'failed',
  ...(seen === undefined ? {} : { seen }),
})

const TABLE: [string, LightOp[], boolean][] = [
  ['nothing at all', [], true],
  ['a chain', [insert(1, 0, 1), cas(1, 2, 2, 3), cas(2, 3, 4, 5)], true],
  ['a chain whose intervals overlap', [cas(1, 2, 0, 9), insert(1, 3, 4)], true],
  ['a chain against real time', [cas(1, 2, 0, 2), insert(1, 3, 4)], false],
  ['equal instants', [cas(1, 2, 0, 3), insert(1, 3, 4)], true],
  ['two that replace one version', [insert(1, 0, 1), cas(1, 2, 2, 9), cas(1, 3, 2, 9)], false],
  ['two inserts', [insert(1, 0, 9), insert(2, 0, 9)], false],
  ['a version that nobody made', [cas(7, 8, 0, 1)], false],
  ['a circle', [cas(2, 1, 0, 9), cas(1, 2, 0, 9)], false],
  ['a failed one that returned nothing', [insert(1, 0, 1), failed(cas(1, 2, 2, 3))], true],
  ['a failed one that saw the past', [insert(1, 0, 1), failed(cas(5, 6, 2, 3), null)], false],
  ['a failed one that saw the present', [insert(1, 0, 1), failed(cas(5, 6, 2, 3), 1)], true],
  ['an indeterminate one that never happened', [insert(1, 0, 1), lost(cas(5, 6, 0, 1))], true],
  ['an indeterminate one that was observed late', [lost(insert(1, 0, 1)), cas(1, 2, 7, 8)], true],
  [
    'an indeterminate one observed before its start',
    [cas(1, 2, 0, 1), lost(insert(1, 2, 3))],
    false,
  ],
  [
    'two indeterminate ones, one needed',
    [lost(insert(1, 0, 1)), lost(insert(2, 0, 1)), cas(2, 3, 4, 5)],
    true,
  ],
]

describe('isLinearizable', () => {
  for (const [name, ops, expected] of TABLE) {
    test(`${expected ? 'accepts' : 'rejects'} ${name}`, () => {
      expect(isLinearizable(ops)).toBe(expected)
      expect(isLinearizableByChain(ops)).toBe(expected)
    })
  }

  test('agrees with the chain of versions', () => {
    const found = { true: 0, false: 0 }
    for (let seed = 1; seed <= 30_000; seed++) {
      const ops = randomLightOps(seed)
      const expected = isLinearizable(ops)
      found[`${expected}`]++
      if (isLinearizableByChain(ops) !== expected) {
        expect.unreachable(
          `seed ${seed}: ${expected} by brute force\n${JSON.stringify(ops, null, 1)}`,
        )
      }
    }
    expect(found.true).toBeGreaterThan(5000)
    expect(found.false).toBeGreaterThan(5000)
  })
})
