// There and back: what a format says it can hold comes back the same, through chunks of any size.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FORMATS, findFormat, parseHistory } from '../../src/formats/formats.ts'
import type { History } from '../../src/history/history.ts'
import { dump, histories, type Shape } from './histories.ts'

const FULL: Shape = {
  integersOnly: false,
  lists: true,
  times: true,
  levels: true,
  statuses: [0, 1, 2],
  names: 'any',
  emptyTxns: true,
  initial: null,
}
const PLAIN: Shape = {
  integersOnly: true,
  lists: false,
  times: false,
  levels: false,
  statuses: [0, 1],
  names: 'integers',
  emptyTxns: false,
  initial: 0,
}

function write(format: string, history: History): Uint8Array {
  const chunks: Uint8Array[] = []
  findFormat(format)!.write(history, (bytes) => chunks.push(bytes.slice()))
  return Buffer.concat(chunks)
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size))
  return chunks
}

describe('native', () => {
  it('brings every history back', () => {
    fc.assert(
      fc.property(histories(FULL), fc.integer({ min: 1, max: 80 }), (history, size) => {
        const bytes = write('native', history)
        expect(dump(parseHistory(bytes, { format: 'native' }))).toEqual(dump(history))
        expect(dump(parseHistory(cut(bytes, size)))).toEqual(dump(history))
      }),
      { numRuns: 400 },
    )
  })

  it.each([undefined, 0, 'none', -5, 2n ** 60n])('keeps the initial value %s', (initial) => {
    fc.assert(
      fc.property(histories({ ...FULL, initial }), (history) => {
        expect(dump(parseHistory(write('native', history)))).toEqual(dump(history))
      }),
      { numRuns: 50 },
    )
  })
})

describe('every format', () => {
  it.each(FORMATS.map((format) => format.id))('%s brings back what it can hold', (id) => {
    let held = 0
    const check = (history: History) => {
      if (findFormat(id)!.misfits(history).length > 0) return
      held++
      const back = parseHistory(write(id, history), { format: id })
      const named = history.txnCount > 0 && hasNames(history)
      expect(bySession(back, named)).toEqual(bySession(history, named))
    }
    fc.assert(fc.property(histories(PLAIN), check), { numRuns: 300 })
    fc.assert(fc.property(histories({ ...PLAIN, names: 'none' }), check), { numRuns: 300 })
    fc.assert(fc.property(histories(FULL), check), { numRuns: 300 })
    expect(held).toBeGreaterThan(50)
  })

  it.each(FORMATS.map((format) => format.id))('%s writes something readable of any', (id) => {
    fc.assert(
      fc.property(histories(FULL), (history) => {
        const back = parseHistory(write(id, history), { format: id })
        expect(back.txnCount).toBeLessThanOrEqual(history.txnCount + 1)
      }),
      { numRuns: 300 },
    )
  })
})

/** Notation lists transactions session by session: compare them in that order. */
function bySession(history: History, named: boolean): string[] {
  const lines = dump(history)
  const body = Array.from(history.sessionTxns, (txn) => lines[txn + 1]!)
  return named ? body : body.map((line) => line.replace(/ (T|#)\d+ /, ' '))
}

function hasNames(history: History): boolean {
  for (let txn = 0; txn < history.txnCount; txn++) if (history.txnLabel(txn) !== null) return true
  return false
}
