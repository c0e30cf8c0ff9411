import { describe, expect, it } from 'vitest'
import { fateOf, isHopeless } from '../../../src/record/duckdb/kinds.ts'

describe('fateOf', () => {
  it('is certain if the transaction itself was refused', () => {
    expect(fateOf('work', 'IO')).toBe('aborted')
    expect(fateOf('commit', 'TransactionContext')).toBe('aborted')
    for (const kind of ['IO', 'FATAL', 'Constraint', null]) {
      expect(fateOf('commit', kind)).toBe('indeterminate')
    }
    expect(fateOf('alone', 'Constraint')).toBe('aborted')
    expect(['Parser', 'FATAL', 'TransactionContext', null].map(isHopeless)).toEqual([
      ...[true, true, false, false],
    ])
  })
})
