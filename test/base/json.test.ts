import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifference } from '../../src/base/difference.ts'
import { parseExact, stringify, stringifyPieces } from '../../src/base/json.ts'

const json = fc.jsonValue({ maxDepth: 4 })

describe('stringify', () => {
  it('writes what JSON.stringify writes, where that is inert', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(stringify(value)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }),
      { seed: 1 },
    )
    const parts = { a: [undefined, null, Number.NaN], b: undefined, c: {}, d: [], e: 'x"\\\n' }
    expect(stringify(parts)).toBe(JSON.stringify(parts))
    expect(stringify({ '\u202e': '\u2028' })).toBe('{"\\u202e":"\\u2028"}')
  })

  it('writes long lists of numbers in pieces, and nothing is lost', () => {
    const order = Array.from({ length: 100_000 }, (_, i) => (i * 7) % 100_000)
    const pieces = [...stringifyPieces({ order, end: true })]
    expect(pieces.length).toBeGreaterThan(5)
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(200_000)
    expect(pieces.join('')).toBe(JSON.stringify({ order, end: true }))
  })

  it('does not recurse', () => {
    let deep: unknown = 1
    for (let i = 0; i < 200_000; i++) deep = i % 2 ? [deep] : { deep }
    expect(findDifference(parseExact(stringify(deep)), deep)).toBeNull()
  })
})

describe('parseExact', () => {
  it('keeps every digit of integers, and strings that look like them', () => {
    const text = '{"a":[9007199254740993,-18446744073709551615,1.5e3],"b":"9007199254740993"}'
    const value = parseExact(text)
    expect(value).toEqual({
      a: [9007199254740993n, -18446744073709551615n, 1500],
      b: '9007199254740993',
    })
    expect(stringify(value)).toBe(text.replace('1.5e3', '1500'))
    expect(() => parseExact('{"a":')).toThrow(SyntaxError)
  })
})

describe('findDifference', () => {
  it('is null for the same data, and the path of what differs else', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(findDifference(one, structuredClone(one))).toBeNull()
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        expect(findDifference(one, other) === null).toBe(isSame)
      }),
      { seed: 1 },
    )
    expect(findDifference([], {})).not.toBeNull()
    const verdict = { results: [{ proof: { order: [0, 1, 2] } }], path: 'h' }
    const other = { results: [{ proof: { order: [0, 2, 2] } }], path: 'h' }
    expect(findDifference(verdict, other)).toBe('results[0].proof.order[1]')
    expect(findDifference(verdict, { ...verdict, more: 1 })).toBe('more')
    expect(findDifference({ a: [] }, { a: {} })).toBe('a')
    expect(findDifference({ a: undefined }, {})).toBeNull()
  })
})

/** Fields in one order; lists, objects and values told apart. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)]
  if (typeof value !== 'object' || value === null)
    return [Object.is(value, -0) ? '-0' : 'value', value]
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return ['object', ...fields.map(([name, part]) => [name, sorted(part)])]
}
