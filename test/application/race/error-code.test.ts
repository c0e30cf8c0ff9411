import { describe, expect, it } from 'vitest'
import { codesOf } from '../../../src/application/race/error-code.ts'

describe('codesOf', () => {
  it.each<[string, unknown, string[]]>([
    ['pg', { code: '40001' }, ['40001']],
    ['Drizzle', { cause: { code: '40001' } }, ['40001']],
    ['Sequelize', { parent: { code: '23505' }, original: { code: '23505' } }, ['23505', '23505']],
    ['TypeORM', { code: '40P01', driverError: { code: '40P01' } }, ['40P01', '40P01']],
    ['Prisma', { code: 'P2034' }, ['P2034', '40001']],
    [
      'Prisma, raw',
      { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '40001' } } } },
      ['P2010', '40001'],
    ],
    ['nothing', undefined, []],
    ['words', 'no', []],
  ])('finds what the server said in an error of %s', (_, error, codes) => {
    expect(codesOf(error)).toEqual(codes)
  })

  it('comes to an end where an error is its own cause', () => {
    const error: Record<string, unknown> = { code: '1' }
    error['cause'] = error
    expect(new Set(codesOf(error))).toEqual(new Set(['1']))
  })
})
