import { describe, expect, it } from 'vitest'
import { fateOf } from '../../../src/record/redis/connection.ts'

describe('fateOf', () => {
  it('is certain if the request was turned away', () => {
    expect(fateOf('work', null)).toBe('aborted')
    expect(fateOf('commit', 'EXECABORT')).toBe('aborted')
    for (const code of ['ERR', 'READONLY', null]) {
      expect(fateOf('commit', code)).toBe('indeterminate')
    }
    expect(fateOf('alone', 'OOM')).toBe('aborted')
  })
})
