import { describe, expect, it } from 'vitest'
import { fateOf } from '../../../src/record/etcd/connection.ts'

describe('fateOf', () => {
  it('is certain if the request was turned away', () => {
    expect(fateOf('work', null)).toBe('aborted')
    expect([3, 8].map((code) => fateOf('commit', code))).toEqual(['aborted', 'aborted'])
    for (const code of [2, 4, 14, null]) expect(fateOf('commit', code)).toBe('indeterminate')
  })
})
