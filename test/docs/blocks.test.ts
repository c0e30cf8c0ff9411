// Whoever writes a block of code into the documentation has it tested: by its language, or by
// saying who does.

import { describe, expect, it } from 'vitest'
import { BLOCKS, blocksOf, KINDS, type Kind, kindOf, unusedBeginnings } from './blocks.ts'

describe('the blocks of the documentation', () => {
  it('are all of a kind that is tested', () => {
    expect(BLOCKS.length).toBeGreaterThan(100)
    expect(BLOCKS.filter((block) => kindOf(block) === null).map(({ place }) => place)).toEqual([])
  })

  it('would be missed if nobody knew what they are', () => {
    const block = { place: '', file: '', text: 'curl example.org', language: '' }
    expect(kindOf(block)).toBeNull()
    expect(kindOf({ ...block, language: 'rust' })).toBeNull()
  })

  it.each(Object.keys(KINDS) as Kind[])('are there, some of them: %s', (kind) => {
    expect(blocksOf(kind)).not.toEqual([])
  })

  it('are there, whatever is known by how it begins', () => {
    expect(unusedBeginnings()).toEqual([])
  })
})
