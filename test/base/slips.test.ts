import { describe, expect, it } from 'vitest'
import { findMeant, hintFor } from '../../src/base/slips.ts'

describe('findMeant', () => {
  it.each([
    ['zhs', ['bash', 'zsh', 'fish'], 'zsh'],
    ['serializible', ['serializable', 'si'], 'serializable'],
    ['Sessions', ['sessions', 'keys'], 'sessions'],
    ['SI', ['ser', 'si'], 'si'],
    ['sr', ['ser', 'si'], 'ser'],
    ['mini', ['general', 'append'], null],
    ['nothing', ['mini', 'append'], null],
  ])('takes %s for a slip', (name, names, meant) => {
    expect(findMeant(name, names)).toBe(meant)
  })

  it('knows other words for the same', () => {
    expect(findMeant('RR', ['repeatable-read'], { rr: 'repeatable-read' })).toBe('repeatable-read')
  })
})

describe('hintFor', () => {
  it('says what was meant, by its beginning too, and all there are', () => {
    expect(hintFor('twit', ['mini', 'twitter'])).toBe(
      'did you mean twitter? there are mini, twitter',
    )
    expect(hintFor('?', ['mini', 'twitter'])).toBe('there are mini, twitter')
  })
})
