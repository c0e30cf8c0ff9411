import { describe, expect, it } from 'vitest'
import {
  escapeAttribute,
  escapeMarkdown,
  escapeMarkup,
  fence,
  quoteDot,
  quoteMermaid,
  scriptJson,
} from '../../src/report/escape.ts'
import { HOSTILE_NAMES } from './hostile.ts'

describe('escapeMarkup', () => {
  it('leaves nothing that opens a tag, ends an attribute or starts an entity', () => {
    expect(escapeMarkup('<a b="c" d=\'e\'>&lt;')).toBe(
      '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;lt;',
    )
    for (const name of HOSTILE_NAMES) expect(escapeMarkup(name)).not.toMatch(/[<>"']/)
  })

  it('spells out characters that no XML may hold, and those that turn text around', () => {
    expect(escapeMarkup('a\u0000b\u202ec\ufffe\ud800')).toBe('a\\u0000b\\u202ec\\ufffe\\ud800')
    expect(escapeMarkup('😀 漢字')).toBe('😀 漢字')
  })

  it('keeps attributes on one line', () => {
    expect(escapeAttribute('a\nb\tc')).toBe('a\\u000ab\\u0009c')
  })
})

describe('scriptJson', () => {
  it('holds nothing that could end the element, and reads back the same', () => {
    for (const name of HOSTILE_NAMES) {
      const text = scriptJson({ name })
      expect(text).not.toMatch(/[<>&\u2028\u2029]/)
      expect(JSON.parse(text)).toEqual({ name })
    }
  })
})

describe('quoteDot', () => {
  it('is one string that no quote or backslash ends', () => {
    expect(quoteDot('a"b\\n\nc')).toBe('"a\\"b\\\\n\\\\u000ac"')
    for (const name of HOSTILE_NAMES) {
      expect(quoteDot(name)).toMatch(/^"(?:[^"\\]|\\["\\])*"$/)
    }
  })
})

describe('escapeMarkdown', () => {
  it('escapes whatever has a meaning, on one line', () => {
    expect(escapeMarkdown('*a* [b](c) `d` | <e> @f\n# g')).toBe(
      '\\*a\\* \\[b\\]\\(c\\) \\`d\\` \\| &#60;e&#62; &#64;f\\\\u000a\\# g',
    )
    for (const name of HOSTILE_NAMES) expect(escapeMarkdown(name)).not.toMatch(/[<>\n@]/)
  })
})

describe('fence', () => {
  it('is longer than any run of backticks inside', () => {
    for (const name of HOSTILE_NAMES) {
      const [first, ...rest] = fence(name, 'text').split('\n')
      const ticks = first!.slice(0, -'text'.length)
      expect(rest.pop()).toBe(ticks)
      expect(rest.every((line) => !line.includes(ticks))).toBe(true)
    }
  })
})

describe('quoteMermaid', () => {
  it('writes everything but letters, digits and spaces by number', () => {
    expect(quoteMermaid('a"b')).toBe('"a#34;b"')
    for (const name of HOSTILE_NAMES) {
      expect(quoteMermaid(name)).toMatch(/^"(?:[\p{L}\p{N} ,=→…]|#\d+;)*"$/u)
    }
  })
})
