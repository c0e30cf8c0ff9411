// There and back: what a format says it can hold comes back the same, through chunks of any size.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { FORMATS, findFormat } from '../../src/formats/formats.ts'
import { detectFormat, parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { some } from '../long.ts'
import { bySession, dump, histories, type Shape } from './histories.ts'
import { cut, load, mutate, save } from './storage.ts'

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
  return save(findFormat(format)!, history).get('')!
}

describe('native', () => {
  it('brings every history back', () => {
    fc.assert(
      fc.property(histories(FULL), fc.integer({ min: 1, max: 80 }), (history, size) => {
        const bytes = write('native', history)
        expect(dump(parseHistory(bytes, { format: 'native' }))).toEqual(dump(history))
        expect(dump(parseHistory(cut(bytes, size)))).toEqual(dump(history))
      }),
      { numRuns: some(300, 3) },
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

// Jepsen's names and times are indices of events; jepsen.test.ts brings those back.
const HOLDING = FORMATS.map((format) => format.id).filter((id) => !id.startsWith('jepsen'))

describe('every format', () => {
  it.each(HOLDING)('%s brings back what it can hold', (id) => {
    const format = findFormat(id)!
    let held = 0
    const check = (history: History, size: number) => {
      if (format.misfits(history).length > 0) return
      held += history.txnCount > 2 ? 1 : 0
      const back = load(format, save(format, history), size)
      expect(bySession(back, history)).toEqual(bySession(history, history))
    }
    const few: Shape = { ...PLAIN, names: 'none', positions: true, statuses: [0], initial: null }
    for (const shape of [
      PLAIN,
      FULL,
      few,
      { ...few, initial: undefined },
      { ...few, statuses: [0, 0, 0, 1], emptyTxns: true },
      { ...PLAIN, statuses: [0, 0, 2], initial: null },
    ]) {
      fc.assert(fc.property(histories(shape), fc.integer({ min: 1, max: 99 }), check), {
        numRuns: 120,
      })
    }
    expect(held).toBeGreaterThan(15)
  })

  it.each(FORMATS.map((format) => format.id))('%s writes something readable of any', (id) => {
    const format = findFormat(id)!
    const check = (history: History) => {
      const back = load(format, save(format, history))
      expect(back.txnCount).toBeLessThanOrEqual(history.txnCount + 1)
    }
    fc.assert(fc.property(histories(FULL), check), { numRuns: some(120, 3) })
    fc.assert(fc.property(histories({ ...FULL, initial: 7 }), check), { numRuns: some(100, 3) })
    fc.assert(fc.property(histories({ ...FULL, initial: undefined }), check), {
      numRuns: some(100, 3),
    })
  })

  it.each(FORMATS.map((format) => format.id))('%s is told apart by content', (id) => {
    const format = findFormat(id)!
    const history = parseNotation('s0: w(1,1) r(2,0) | r(1,1)\ns1: r(1,1) w(2,5)')
    const [, bytes] = [...save(format, history)][0]!
    expect(detectFormat(bytes)?.id).toBe(id)
  })

  it.each([
    ['# only\n# comments\n', undefined],
    ['\n# a\n-> b\n"a b": w(x,1)', 'notation'],
    ['initial null\n', 'notation'],
    ['s1:\n', 'notation'],
    [' \r\n', 'native'],
    ['', 'native'],
    ['{"start":1,"session":0,"ops":[]}', 'native'],
    ['{"info":"x","session":0,"ops":[]}', 'native'],
    ['{"isobar":1,"tables":{"t":{"rows":[{"type":"ok","value":[1]}]}}}', 'native'],
    ['{"note":1,"tables":{"t":{"rows":[{"type":"ok"}]}},"isobar":1}', 'native'],
    ['{"type":"ok","tables":1}', 'native'],
    ['{"type":"ok","f":"txn"}', 'jepsen-json'],
    ['=\n-\nr 1 1\n', 'awdit'],
    ['// x\n---\n[]', 'hist'],
    ['\uFEFFw(1,1,0,0)', 'plume'],
    ['SELECT * FROM t', undefined],
    ['PK\u0003\u0004', undefined],
    ['-'.repeat(5000), undefined],
  ])('tells what %j is', (input, id) => {
    expect(detectFormat(Buffer.from(input))?.id).toBe(id)
  })

  it.each(FORMATS.map((format) => format.id))('%s survives any mutated byte', (id) => {
    const format = findFormat(id)!
    let refused = 0
    const edit = fc.tuple(fc.nat(400), fc.nat(255), fc.constantFrom(0, 1, 2))
    fc.assert(
      fc.property(
        histories({ ...FULL, positions: true }),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 99 }),
        (history, edits, size) => {
          const files = save(format, history)
          for (const [name, bytes] of files) files.set(name, mutate(bytes, edits))
          try {
            load(format, files, size)
          } catch (error) {
            if (!(error instanceof InputError)) throw error
            const whole = ['duplicate-value', 'impossible-times', 'mixed-key']
            if (!whole.includes(error.code)) expect(error.place).not.toBeNull()
            refused++
          }
        },
      ),
      { numRuns: some(400, 3) },
    )
    expect(refused).toBeGreaterThan(40)
  })
})
