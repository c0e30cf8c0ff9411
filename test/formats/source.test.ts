// Documents that are read whole.

import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../src/formats/parse.ts'

describe('a document that is read whole', () => {
  it('is refused when it takes more than a quarter of the memory, before all of it is read', () => {
    let pushed = 0
    function* zeros() {
      for (; pushed < 100; pushed++) yield new Uint8Array(1 << 20)
    }
    const read = () => parseHistory(zeros(), { format: 'dbcop', memoryBytes: 20 << 20 })
    expect(read).toThrow('a document in this format may not be larger than 5 MB')
    expect(pushed).toBe(5)
  })
})
