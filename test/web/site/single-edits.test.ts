// Single edits of a text, and whether they do what they say; what judging them finds.

import { describe, expect, it } from 'vitest'
import { judge } from '../../../src/check/judge.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { completionsAt } from '../../../src/web/site/completions.ts'
import { lineCompletionsAt } from '../../../src/web/site/line-completions.ts'
import { decodeShared, encodeShared } from '../../../src/web/site/share-link.ts'
import { applyEdit, findSingleEdits } from '../../../src/web/site/single-edits.ts'
import { findMending } from '../../../src/web/site/study.ts'

const made = (text: string) => findSingleEdits(text).map((edit) => applyEdit(text, edit))

describe('findSingleEdits', () => {
  it('changes reads, order, and what is there', () => {
    expect(made('s1: w(x,1) r(y,0)\ns2: r(x,1)')).toEqual([
      's1: w(x,1) r(y,0)\ns2: r(x,0)',
      's1: r(y,0) w(x,1)\ns2: r(x,1)',
      's1: r(y,0)\ns2: r(x,1)',
      's1: w(x,1) \ns2: r(x,1)',
    ])
  })

  it('leaves comments, strings, attributes and transactions as they are', () => {
    const text =
      'initial null # r(x,1)\n"r(x,1)": r("a,)b",1) | w("a,)b",1) [id="w(x,1)"] -> r(x,2)\n'
    expect(made(text)).toEqual([text.replace('r("a,)b",1)', 'r("a,)b",null)')])
  })

  it('knows lists and what can have been read of them', () => {
    expect(made('s1: append(l,1) | append(l,2)\ns2: r(l,[1,2])')).toEqual([
      's1: append(l,1) | append(l,2)\ns2: r(l,[1])',
      's1: append(l,1) | append(l,2)\ns2: r(l,[])',
    ])
  })

  it('makes texts that can be read, or are refused for what they say', () => {
    const text = 's1: r(x,0) w(x,1) cas(x,1,2)\ns2: insert(y,1) r(y,1) rows(z,[])\n'
    for (const edited of made(text)) expect(() => parseNotation(edited), edited).not.toThrow()
  })
})

describe('findMending', () => {
  it('finds the edits after which the level holds, and no others', async () => {
    const text = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
    const { edits, tried, count } = await findMending(text, 'si')
    expect(edits.map(({ words }) => words)).toEqual([
      'line 1: r(x,0) becomes r(x,2)',
      'line 2: r(x,0) becomes r(x,1)',
      'line 1: r(x,0) is left out',
      'line 1: w(x,1) is left out',
      'line 2: r(x,0) is left out',
      'line 2: w(x,2) is left out',
    ])
    expect(tried).toBe(count)
    for (const edit of findSingleEdits(text)) {
      const [result] = await judge(parseNotation(applyEdit(text, edit)), ['si'])
      expect(edits.includes(edit) || edits.some(({ words }) => words === edit.words)).toBe(
        result!.verdict === 'satisfied',
      )
    }
  })

  it('says where a text is wrong', async () => {
    await expect(findMending('s1: q(x)', 'si')).rejects.toThrow('unknown operation')
  })
})

describe('a link', () => {
  it('brings a history and its levels back', async () => {
    for (const shared of [
      { text: 's1: w(x,1)\n', levels: null },
      { text: 'ключ 😀 '.repeat(500), levels: ['pl-2+', 'mixed'] },
    ]) {
      const fragment = await encodeShared(shared)
      expect(fragment).toMatch(/^h=[\w-]*(&l=[\w.%,-]+)?$/)
      expect(await decodeShared(`#${fragment}`)).toEqual(shared)
    }
  })

  it('holds no more than it can, and is nothing where it is none', async () => {
    const random = Array.from({ length: 9000 }, (_, i) => Math.sin(i).toString(36)).join('')
    expect(await encodeShared({ text: random, levels: null })).toBeNull()
    expect(await encodeShared({ text: 'x'.repeat(200_001), levels: null })).toBeNull()
    expect(await decodeShared('')).toBeNull()
    expect(await decodeShared('#a1')).toBeNull()
  })
})

describe('completionsAt', () => {
  const labels = (before: string) => completionsAt(before)?.options.map(({ label }) => label)

  it('offers what may stand there', () => {
    expect(labels('')).toContain('s1: ')
    for (const before of ['s1: ', 's1: r(x,0) ', 's1: r(x,0) | a', 's1: w(x,1)']) {
      expect(labels(before), before).toContain('append(')
    }
    for (const before of ['s1: w(x,1) [', 's1: w(x,1) [id=T1 ab']) {
      expect(labels(before), before).toContain('aborted')
    }
    expect(labels('s1: w(x,1) [level=')).toContain('pl-2+')
    expect(completionsAt('s1: w(x,1) [level=pl-2')?.length).toBe(4)
  })

  it('offers nothing elsewhere', () => {
    for (const before of ['# ', '{"session":', 's1: r(x,', 's1: r(x,1) [id=T1] foo ']) {
      expect(completionsAt(before), before).toBeNull()
    }
  })
})

describe('lineCompletionsAt', () => {
  const labels = (before: string) => lineCompletionsAt(before)?.options.map(({ label }) => label)
  const OPS = '{"session":0,"ops":['

  it('offers the fields of what one is in', () => {
    for (const before of ['{', '{"session":0,"le', '{"ops":[{"select":"t","rows":[]}],']) {
      expect(labels(before), before).toContain('"level":"')
    }
    for (const before of [`${OPS}{`, `${OPS}{"select":"t","w`, `${OPS}{"abort":true},{"`]) {
      expect(labels(before), before).toContain('"where":"')
    }
    for (const before of [`${OPS}{"select":"t","rows":[{`, `${OPS}{"rows":[{"key":[1],"fr`]) {
      expect(labels(before), before).toContain('"from":')
    }
    expect(labels('{"isobar":1,"tables":{"t":{')).toContain('"columns":{')
    expect(lineCompletionsAt(`${OPS}{"select":"t","wh`)?.length).toBe(3)
  })

  it('offers levels, outcomes and types', () => {
    expect(labels('{"level":"s')).toContain('si')
    expect(labels('{"status":"')).toContain('aborted')
    expect(labels('{"tables":{"t":{"columns":{"id":"')).toEqual([
      'boolean',
      'integer',
      'numeric',
      'text',
    ])
  })

  it('offers nothing inside of texts, of values, or of rows', () => {
    for (const before of [
      `${OPS}{"select":"t","where":"a = 1, b`,
      '{"session":',
      `${OPS}{"insert":"t","rows":[{"row":{`,
      '{"tables":{',
    ]) {
      expect(lineCompletionsAt(before), before).toBeNull()
    }
  })
})
