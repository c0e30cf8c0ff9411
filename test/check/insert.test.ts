// Inserts see that nothing is there, also where no value stands for it.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'

const judge = (notation: string, level: 'lin' | 'ser' | 'rc') => {
  const result = check(parseNotation(notation), level)
  expect(result.certificate?.verified).toBe(true)
  return [result.verdict, ...result.anomalies.map(({ name }) => name)].join(' ')
}

describe('check of inserts', () => {
  for (const initial of ['none', '0', 'null']) {
    it(`accepts one insert of a key, initial ${initial}`, () => {
      const one = `initial ${initial}\ns1: insert(x,1) [0,1] | r(x,1) [2,3]`
      const two = `${one}\ns2: insert(x,2) [4,5]`
      for (const level of ['lin', 'ser', 'rc'] as const) expect(judge(one, level)).toBe('satisfied')
      for (const level of ['lin', 'ser'] as const) expect(judge(two, level)).toMatch(/^violated/)
    })
  }

  it('accepts a compare-and-set of null that nobody wrote, but no plain read of it', () => {
    expect(judge('initial none\ns1: cas(x,null,1) [0,1] | cas(x,1,2) [2,3]', 'lin')).toBe(
      'satisfied',
    )
    expect(judge('initial none\ns1: r(x,null) [0,1]', 'lin')).toBe('violated ThinAirRead')
    expect(judge('initial none\ns1: cas(x,7,1) [0,1]', 'lin')).toBe('violated ThinAirRead')
  })
})
