// "after" in files: read, written, refused where a format has no place for it.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { judge } from '../../../src/check/judge.ts'
import { FORMATS, findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { buildCore } from '../../../src/report/core-history.ts'
import { describeVerdict } from '../../../src/report/describe-verdict.ts'
import { Example } from '../../../src/report/example.ts'
import { refusal } from '../errors.ts'

const TEXT = [
  '{"isobar":1,"initial":0}',
  '{"session":0,"id":7,"after":["late"],"ops":[["r","x",0]]}',
  '{"pending":"late","session":1,"after":[9007199254740993],"ops":[]}',
  '{"session":2,"id":9007199254740993,"ops":[["w","x",1]]}',
  '{"outcome":"late","status":"committed"}',
  '',
].join('\n')

function write(text: string, id: string): string {
  const chunks: Uint8Array[] = []
  findFormat(id)!.write(parseHistory(text), (bytes) => chunks.push(bytes.slice()))
  return Buffer.concat(chunks).toString()
}

describe('"after" in the native format', () => {
  it('names transactions of any line, by ids of any kind, in any order of fields', () => {
    const history = parseHistory(TEXT)
    expect([...history.after!.txn]).toEqual([1, 2])
    expect(check(history, 'ra').verdict).toBe('violated')
    const other = TEXT.replace(',"after":["late"],"ops":[["r","x",0]]', ',"ops":[["r","x",0]]')
    expect(check(parseHistory(other), 'ra').verdict).toBe('satisfied')
    const mixed = '{"ops":[],"after":["a"],"session":0}\n{"id":"a","session":1,"ops":[]}\n'
    expect([...parseHistory(mixed).after!.txn]).toEqual([1])
  })

  it.each([
    ['{"session":0,"after":["a"],"ops":[]}', '1:23 unknown-id: no transaction has the id "a"'],
    [
      '{"session":0,"after":[1, 2],"id":1,"ops":[]}',
      '1:26 unknown-id: no transaction has the id 2',
    ],
    ['{"session":0,"after":"a","ops":[]}', '1:22 malformed: expected "[", found "\\""'],
    ['{"session":0,"after":[null],"ops":[]}', /^1:23 malformed: a transaction id cannot be/],
    [
      '{"session":0,"id":1,"after":[1],"ops":[["w",1,1]]}',
      '1:40 circular-order: transactions come after one another in a circle: T1 after T1',
    ],
    [
      '{"session":0,"id":1,"start":8,"finish":10,"ops":[]}\n{"session":1,"id":2,"after":[1],"status":"aborted","ops":[]}\n{"session":2,"id":3,"after":[2],"start":5,"finish":6,"ops":[["w",1,1]]}',
      '3:61 impossible-times: transaction T3 starts at 5, before T1 finished (10), though it comes after it',
    ],
    [
      '{"session":0,"id":1,"start":8,"ops":[]}\n{"session":1,"id":2,"after":[1],"start":7,"ops":[["w",1,1]]}',
      '2:50 impossible-times: transaction T2 starts at 7, before T1 started (8), though it comes after it',
    ],
    ['{"isobar":1,"after":[]}', '1:1 malformed: the header is a line of its own'],
  ])('refuses %s', (text, message) => {
    expect(refusal(text, 'native')).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
  })

  it('comes back from the native format and the notation', () => {
    const once = write(TEXT, 'native')
    expect(once).toContain('"after":["late"]')
    expect(once).toContain('"after":[9007199254740993]')
    expect(write(once, 'native')).toBe(once)
    const notation = write(TEXT, 'notation')
    expect(write(notation, 'notation')).toBe(notation)
    expect(check(parseHistory(notation), 'ra').verdict).toBe('violated')
  })

  it('is refused by every other format', () => {
    const history = parseHistory(TEXT)
    for (const { id, misfits } of FORMATS) {
      const holds = id === 'native' || id === 'notation'
      const expected = holds ? [] : [expect.stringContaining('(after)')]
      expect(misfits(history)).toEqual(holds ? [] : expect.arrayContaining(expected))
    }
  })

  it('is refused by mixed levels', async () => {
    await expect(judge(parseHistory(TEXT), ['mixed'])).rejects.toThrow(/names others in "after"/)
  })
})

describe('buildCore', () => {
  it('keeps what the core rests on, also what passed through others', () => {
    const history = parseHistory(TEXT)
    const context = { path: 'h', format: 'native', parseMs: 0 }
    const verdict = describeVerdict(history, [check(history, 'ra')], context)
    const core = buildCore(new Example(verdict, verdict.results[0]!.anomalies[0]!), 0).history
    expect(renderNotation(core)).toMatch(/after=T9007199254740993/)
    expect(check(core, 'ra').verdict).toBe('violated')
  })
})
