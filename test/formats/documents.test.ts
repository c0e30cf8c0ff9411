// Formats that are one document: they are read whole, and then parsed.

import { describe, expect, it } from 'vitest'
import { findFormat } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { save } from './storage.ts'

class Enough extends Error {}

describe('parsing a document', () => {
  it.each(['notation', 'hist', 'dbcop', 'dbcop-json'])(
    'of %s looks at the budget on its way, and gives up when it is told to',
    (id) => {
      const lines = Array.from({ length: 5000 }, (_, i) => `s1: w(${i},1) ${more(i)}`)
      const whole = parseNotation(lines.join('\n'))
      const bytes = save(findFormat(id)!, whole).get('')!
      const looks: number[] = []
      const onParse = (documentBytes: number) => void looks.push(documentBytes)
      expect(parseHistory(bytes, { format: id, onParse }).opCount).toBe(whole.opCount)
      expect(looks).toEqual([bytes.length, bytes.length])
      const giveUp = () => {
        throw new Enough()
      }
      expect(() => parseHistory(bytes, { format: id, onParse: giveUp })).toThrow(Enough)
    },
  )
})

/** Three more writes for a transaction. */
function more(i: number): string {
  return [1, 2, 3].map((n) => `w(${i + n * 10_000},1)`).join(' ')
}
