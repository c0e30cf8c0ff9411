// Dirty writes where sessions count, at sizes that the stack would not bear.

import { expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { parseHistory } from '../../../src/formats/parse.ts'

it('lets a transaction come after any number of others', () => {
  const count = 150_000
  const names = Array.from({ length: count }, (_, i) => `t${i}`)
  const lines = names.map((id, i) => `{"session":${i},"id":"${id}","ops":[["w",${i},1]]}`)
  lines.push(JSON.stringify({ session: count, after: names, ops: [['r', 0, 1]] }))
  const history = parseHistory(lines.join('\n'))
  for (const level of ['strong-session-pl-1', 'strong-session-pl-2'] as const) {
    expect(check(history, level)).toMatchObject({ verdict: 'satisfied' })
  }
})
