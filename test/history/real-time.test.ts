// Where real time is too much to be part of session order, that is said, and no more is tried.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { withRealTime } from '../../src/history/real-time.ts'
import { withoutSessionOrder } from '../../src/history/sessionless.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'

/** One session of writers. */
function writers(count: number) {
  const line = (_: unknown, i: number) => `s1: w(x,${i + 1}) [start=${2 * i} finish=${2 * i + 1}]`
  return parseNotation(Array.from({ length: count }, line).join('\n'))
}

describe('withRealTime', () => {
  it('has a limit of transactions times sessions', () => {
    const history = writers(14_200)
    expect(withRealTime(history, 'all').inTime).toMatchObject({ scope: 'all' })
    const single = withoutSessionOrder(history)
    expect(() => withRealTime(single, 'by-key')).toThrow(
      /14200 sessions would take too much memory/,
    )
  })

  it('keeps the checker and the certifier to it', () => {
    const history = writers(14_200)
    const asked = { level: 'cc', realTime: true, sessionOrder: false } as const
    const result = check(history, asked)
    expect(result).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringContaining('too much memory'),
    })
    expect(certifyPlain(history, result).problems).toEqual([])
    const plain = {
      ...check(history, { level: 'cc', sessionOrder: false }),
      realTime: true as const,
    }
    expect(certifyPlain(history, plain).problems).toEqual([
      expect.stringContaining('too much memory'),
    ])
  })
})
