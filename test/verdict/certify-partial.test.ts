import { describe, expect, it } from 'vitest'
import { check, parseHistory, render, verify } from '../../src/index.ts'

const WHOLE = [
  '{"isobar":1,"tables":{"t":{"columns":{"id":"integer"},"key":["id"]}}}',
  '{"session":1,"level":"ser","ops":[{"insert":"t","write":1,"rows":[{"id":1}]}]}',
  '{"session":2,"level":"ser","ops":[{"select":"t","rows":[{"key":1,"from":1}]}]}',
].join('\n')
const PARTIAL = `${WHOLE}\n{"partial":{"reasons":{"a join":1},"tables":["t"]}}`

describe('certificates of partial histories', () => {
  it('are refused if they claim that a level is satisfied', async () => {
    const file = await render.json(await check(WHOLE, 'ser'))
    expect(await verify(WHOLE, file)).toEqual([])
    expect((await check(PARTIAL, 'ser')).verdict).toBe('unknown')
    const problems = await verify(parseHistory(PARTIAL), file)
    expect(problems.join()).toContain('the history is partial')
  })
})
