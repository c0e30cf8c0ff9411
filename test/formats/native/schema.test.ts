// The JSON Schema in docs/ and the parser agree on what a line of the native format is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { STATUS_NAMES } from '../../../src/history/history.ts'
import { LEVELS } from '../../../src/levels/levels.ts'
import { histories } from '../histories.ts'

const docs = join(import.meta.dirname, '../../../docs')
const schema = JSON.parse(readFileSync(join(docs, 'history.schema.json'), 'utf8')) as object
const validate = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(
  schema,
)

describe('history.schema.json', () => {
  it('knows every level and every status', () => {
    const { level, status } = (schema as { $defs: Record<string, { enum: string[] }> }).$defs
    expect(level!.enum).toEqual(LEVELS.map((known) => known.id))
    expect(status!.enum).toEqual(STATUS_NAMES)
  })

  it('accepts every line that is written', () => {
    const shape = {
      integersOnly: false,
      lists: true,
      times: true,
      levels: true,
      statuses: [0, 1, 2],
      names: 'any' as const,
      emptyTxns: true,
      initial: null,
    }
    fc.assert(
      fc.property(histories(shape), (history) => {
        let text = ''
        findFormat('native')!.write(history, (bytes) => {
          text += Buffer.from(bytes).toString()
        })
        for (const line of text.trimEnd().split('\n')) {
          expect(validate(JSON.parse(line)), line).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('accepts the examples of the documentation, and so does the parser', () => {
    const text = readFileSync(join(docs, 'history-format.md'), 'utf8')
    const examples = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1]!)
    expect(examples).toHaveLength(7)
    for (const example of examples) {
      for (const line of example.trimEnd().split('\n')) {
        expect(validate(JSON.parse(line)), line).toBe(true)
      }
      expect(parseHistory(example).warnings).toEqual([])
    }
  })

  it('agrees with the parser on any line put together from right and wrong fields', () => {
    let accepted = 0
    fc.assert(
      fc.property(lines, (line) => {
        // An outcome needs its pending line.
        const text = `${'outcome' in line ? '{"pending":"a","session":9,"ops":[]}\n' : ''}${JSON.stringify(line)}\n`
        let parsed = true
        try {
          parseHistory(text, { format: 'native' })
        } catch (error) {
          if (!(error instanceof InputError)) throw error
          parsed = false
        }
        if (parsed) accepted++
        expect(parsed, text).toBe(validate(line))
      }),
      { numRuns: 5000 },
    )
    expect(accepted).toBeGreaterThan(300)
  })
})

const junk = fc.constantFrom<unknown>(true, 1.5, {}, [])
const some = (good: unknown[], weight = 12) =>
  fc.oneof({ weight, arbitrary: fc.constantFrom(...good) }, junk)
const operation = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<unknown>(['r', 'x', 1], ['w', 2, 'b'], ['r', 'l', [1]]) },
  fc.constantFrom<unknown>(
    ['r', 'x'],
    ['q', 'x', 1],
    ['w', 'y', [1]],
    ['w', null, 1],
    'r',
    [1, 2, 3],
  ),
)
const start = some([1, -2.5])
const lines: fc.Arbitrary<object> = fc.oneof(
  fc.record(
    {
      session: some([0, 'a']),
      ops: fc.oneof(
        { weight: 9, arbitrary: fc.uniqueArray(operation, { maxLength: 2, selector: String }) },
        junk,
      ),
      id: some([1, 'T1']),
      status: some(['committed', 'aborted', 'indeterminate', 'done']),
      start,
      level: some(['ser', 'sser', 'x']),
      note: fc.constant({ any: ['thing'] }),
    },
    { requiredKeys: ['session', 'ops'] },
  ),
  fc.record(
    {
      pending: some([1, 'p']),
      session: some([0, 'a']),
      ops: fc.constant([]),
      start,
      status: some(['aborted']),
    },
    { requiredKeys: ['pending', 'ops'] },
  ),
  fc.record(
    {
      outcome: fc.constant('a'),
      status: some(['committed', 'aborted']),
      finish: some([3]),
      ops: fc.constant([]),
    },
    { requiredKeys: ['outcome'] },
  ),
  fc.record(
    { isobar: some([1, 2]), initial: some([0, 'i', null, false]), session: fc.constant(1) },
    { requiredKeys: ['isobar'] },
  ),
)
