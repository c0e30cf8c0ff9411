import { describe, expect, it } from 'vitest'
import { TextBuffer } from '../../src/record/text-buffer.ts'

function textOf({ bytes, end }: TextBuffer): string {
  return bytes.toString('utf8', 0, end)
}

describe('TextBuffer', () => {
  it('holds what was put together, however long it gets', () => {
    const buffer = new TextBuffer()
    let expected = ''
    for (let i = 0; i < 3000; i++) {
      buffer.ascii('["w",')
      buffer.number(i * 7919)
      buffer.text(`é${'𝄞'.repeat(i % 3)}`)
      expected += `["w",${i * 7919}é${'𝄞'.repeat(i % 3)}`
    }
    expect(textOf(buffer)).toBe(expected)
    const both = new TextBuffer()
    both.ascii('[')
    both.append(buffer)
    both.append(buffer)
    expect(textOf(both)).toBe(`[${expected}${expected}`)
  })

  it('writes numbers as String does, those too that are not whole', () => {
    for (const value of [0, 5, -5, 0.25, 2 ** 53, 1e21, Number.NaN]) {
      const buffer = new TextBuffer()
      buffer.number(value)
      expect(textOf(buffer)).toBe(String(value))
    }
  })

  it('begins anew where its end is set back', () => {
    const buffer = new TextBuffer()
    buffer.text('{"outcome":12}')
    buffer.end = 0
    buffer.text('{}')
    expect(textOf(buffer)).toBe('{}')
  })
})
