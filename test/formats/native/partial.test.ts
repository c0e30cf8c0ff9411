// Lines of recorders that learn as they go: tables that come later, rows that were there at first,
// what was left out.

import { describe, expect, it } from 'vitest'
import { judge } from '../../../src/check/judge.ts'
import { writeNative } from '../../../src/formats/native/write.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import type { History } from '../../../src/history/history.ts'

const TABLE = '{"tables":{"t":{"columns":{"id":"integer","n":"integer"},"key":["id"]}}}'
const parse = (...lines: string[]) => parseHistory(['{"isobar":1}', ...lines].join('\n'))
const insert = '{"session":0,"ops":[{"insert":"t","write":1,"rows":[{"id":1,"n":5}]}]}'
const select = '{"session":0,"ops":[{"select":"t","where":"n > 4","rows":[]}]}'
const LEFT_OUT = '{"partial":{"reasons":{"a join":2},"tables":["t"]}}'

function rewritten(history: History): History {
  const parts: Uint8Array[] = []
  writeNative(history, (bytes) => parts.push(bytes.slice()))
  return parseHistory(Buffer.concat(parts))
}

const verdictOf = async (history: History) => (await judge(history, ['ser']))[0]!.verdict

describe('tables in later lines', () => {
  it('are declared before they are used, and get rows afterwards', () => {
    const read = '{"session":0,"ops":[{"select":"t","rows":[{"key":7,"from":null}]}]}'
    const history = parse(TABLE, read, '{"tables":{"t":{"rows":[{"id":7,"n":1}]}}}')
    expect(history.sql!.initialRow).toEqual([[7n, 1n]])
    expect(() => parse(read, TABLE)).toThrow(/declares no tables/)
    expect(() => parse(TABLE, TABLE)).toThrow('table "t" is declared twice')
    expect(() => parse('{"tables":{"t":{"rows":[]}}}')).toThrow('table "t" has no "columns"')
  })

  it('do not stand in the line of a transaction', () => {
    expect(() => parse(`${TABLE.slice(0, -1)},"session":0,"ops":[]}`)).toThrow(/into the header/)
    expect(() => parse(`${LEFT_OUT.slice(0, -1)},"session":0,"ops":[]}`)).toThrow(/of a history/)
  })
})

describe('a partial history', () => {
  it('takes rows passed over for nothing in the tables it names', async () => {
    expect(await verdictOf(parse(TABLE, insert, select))).toBe('violated')
    expect(await verdictOf(parse(TABLE, insert, select, LEFT_OUT))).toBe('unknown')
    const elsewhere = LEFT_OUT.replace('"t"', '"u"')
    expect(await verdictOf(parse(TABLE, insert, select, elsewhere))).toBe('violated')
  })

  it('adds up what its lines say, and is written as it is', () => {
    const history = parse(TABLE, LEFT_OUT, insert, LEFT_OUT, '{"partial":{"reasons":{"b":1}}}')
    expect(history.partial).toEqual({ reasons: { 'a join': 4, b: 1 }, tables: ['t'] })
    expect(rewritten(history).partial).toEqual(history.partial)
    expect(parse(TABLE, insert).partial).toBe(null)
  })

  it('says what is wrong with it', () => {
    expect(() => parse('{"partial":[]}')).toThrow(/what was left out/)
    expect(() => parse('{"partial":{"reason":{}}}')).toThrow('"partial" has no "reason"')
  })
})
