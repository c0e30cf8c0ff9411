import { describe, expect, it } from 'vitest'
import { TupleMap, TupleSet } from '../../src/base/maps.ts'

describe('TupleMap', () => {
  it('tells keys apart whose parts are the same text when they are glued together', () => {
    const map = new TupleMap<unknown[], string>()
    const keys = [[], ['a b', 'c'], ['a', 'b c'], ['a', 'b', 'c'], ['a'], [1, 2], ['1', 2], [1, 2n]]
    keys.forEach((key, i) => {
      map.set(key, `${i}`)
    })
    expect(map.size).toBe(keys.length)
    expect(keys.map((key) => map.get([...key]))).toEqual([...map.values()])
    expect(map.get(['a', 'b'])).toBeUndefined()
    expect(map.get(['a', 'b', 'c', 'd'])).toBeUndefined()
  })

  it('keeps the place of a key whose value changes', () => {
    const map = new TupleMap<[string, number], string>()
    map.set(['x', 1], 'first')
    map.set(['x', 2], 'second')
    map.set(['x', 1], 'third')
    expect([...map.values()]).toEqual(['third', 'second'])
  })
})

describe('TupleSet', () => {
  it('has what was added, and nothing else', () => {
    const set = new TupleSet<number[]>()
    set.add([1, 2])
    expect([set.has([1, 2]), set.has([1]), set.has([2, 1])]).toEqual([true, false, false])
  })
})
