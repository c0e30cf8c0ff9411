import { describe, expect, it } from 'vitest'
import { fateOf, isHopeless } from '../../../src/record/turso/messages.ts'

describe('fateOf', () => {
  it('is certain if it was refused by a conflict, or found another in its way', () => {
    expect(fateOf('work', 'step failed: I/O error')).toBe('aborted')
    for (const words of ['step failed: Write-write conflict', 'database is locked']) {
      expect(fateOf('commit', words)).toBe('aborted')
    }
    const failed = 'step failed: Runtime error: UNIQUE constraint failed: t.k (19)'
    for (const words of ['step failed: I/O error', failed, '']) {
      expect(fateOf('commit', words)).toBe('indeterminate')
    }
    expect(fateOf('alone', failed)).toBe('aborted')
    const syntax = 'prepare failed: near "selec": syntax error'
    expect([syntax, 'database is locked', failed].map(isHopeless)).toEqual([
      ...[true, false, false],
    ])
  })
})
