// The documentation of SQL histories, their schema and the parser agree.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { check } from '../../../src/check/check.ts'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { LEVELS } from '../../../src/levels/levels.ts'
import type { SqlLevel } from '../../small/sql-draft.ts'
import { SqlOracle } from '../../small/sql-oracle.ts'
import { save } from '../storage.ts'
import { randomSqlHistory } from './sql-histories.ts'

const docs = join(import.meta.dirname, '../../../docs')
const schema = JSON.parse(readFileSync(join(docs, 'history.schema.json'), 'utf8')) as object
const validate = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(
  schema,
)

const text = readFileSync(join(docs, 'sql-history.md'), 'utf8')
const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1]!.trimEnd())
const histories = blocks.filter((block) => block.startsWith('{"isobar"'))
const statements = blocks
  .filter((block) => !block.startsWith('{"isobar"'))
  .join('\n')
  .split('\n')
const [header] = histories[0]!.split('\n')
const inHistory = (op: string) => `{"session":0,"ops":[${op}]}`

const levelsOf = (history: History) =>
  Array.from(history.txnLevel!, (level) => LEVELS[level]!.id as SqlLevel)

function accepts(line: string): boolean {
  try {
    parseHistory(`${header}\n${line}`, { format: 'native' })
    return true
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return false
  }
}

describe('docs/sql-history.md', () => {
  it('has examples that are right, by the schema and by the parser', () => {
    expect(histories).toHaveLength(5)
    for (const history of histories) {
      for (const line of history.split('\n')) expect(validate(JSON.parse(line)), line).toBe(true)
      expect(parseHistory(history).warnings).toEqual([])
    }
    expect(statements).toHaveLength(7)
    for (const statement of statements) {
      expect(validate(JSON.parse(inHistory(statement))), statement).toBe(true)
      expect(accepts(inHistory(statement)), statement).toBe(true)
    }
  })

  it('begins with a history that is consistent, unless T3 has to see what T1 did', () => {
    const history = parseHistory(histories[0]!)
    expect(new SqlOracle(history).decide(levelsOf(history)).consistent).toBe(true)
    const later = histories[0]!.replace('{"session":1,"id":"T3"', '{"session":0,"id":"T3"')
    const seeing = parseHistory(later)
    expect(new SqlOracle(seeing).decide(levelsOf(seeing)).consistent).toBe(false)
  })

  it('shows a history that plain rc allows, and rc of SQL histories does not', () => {
    const history = parseHistory(histories[4]!)
    expect(levelsOf(history)).toEqual(['rc', 'rc'])
    expect(new SqlOracle(history).decide(['rc', 'rc']).consistent).toBe(false)
    const plain = parseNotation('initial null\ns0: r(x,null) w(x,1) | r(x,null)')
    expect(check(plain, 'rc').verdict).toBe('satisfied')
    const fresh = histories[4]!.replace('"rows":[{"key":1,"from":null}]}', '"rows":[]}')
    expect(new SqlOracle(parseHistory(fresh)).decide(['rc', 'rc']).consistent).toBe(true)
  })
})

describe('history.schema.json', () => {
  it('accepts every SQL history that is written', () => {
    for (let seed = 0; seed < 150; seed++) {
      const bytes = save(findFormat('native')!, randomSqlHistory(seed)).get('')!
      for (const line of Buffer.from(bytes).toString().trimEnd().split('\n')) {
        expect(validate(JSON.parse(line)), `seed ${seed}: ${line}`).toBe(true)
      }
    }
  })

  it.each([
    '{"select":"orders"}',
    '{"select":1,"rows":[]}',
    '{"select":"orders","rows":{}}',
    '{"select":"orders","rows":[{"key":1}]}',
    '{"select":"orders","rows":[{"from":null}]}',
    '{"select":"orders","rows":[{"key":null,"from":null}]}',
    '{"select":"orders","rows":[{"key":[],"from":null}]}',
    '{"select":"orders","rows":[{"key":[null],"from":null}]}',
    '{"select":"orders","rows":[{"key":{},"from":null}]}',
    '{"select":"orders","rows":[{"key":1,"from":true}]}',
    '{"select":"orders","rows":[{"key":1,"from":null,"row":{"id":1}}]}',
    '{"select":"orders","rows":[],"write":"w"}',
    '{"select":"orders","rows":[],"where":7}',
    '{"select":"orders","rows":[],"params":[]}',
    '{"select":"orders","rows":[],"where":"paid","params":[1.5]}',
    '{"select":"orders","rows":[],"insert":"orders"}',
    '{"select":"orders","rows":[],"unread":[1]}',
    '{"insert":"orders","rows":[{"id":1}]}',
    '{"insert":"orders","rows":[{"id":1}],"write":null}',
    '{"insert":"orders","rows":[{"id":[]}],"write":1}',
    '{"insert":"orders","rows":[],"where":"id = 1"}',
    '{"insert":"orders","rows":[],"unread":[]}',
    '{"update":"orders","rows":[{"key":1,"from":null}],"write":1}',
    '{"update":"orders","rows":[{"key":1,"from":null,"row":{"id":1}}]}',
    '{"delete":"orders","rows":[{"key":1,"from":null}]}',
    '{"delete":"orders","rows":[{"key":1,"from":null,"row":{"id":1}}],"write":1}',
    '{"abort":false}',
    '{}',
  ])('refuses %s, and so does the parser', (op) => {
    expect(validate(JSON.parse(inHistory(op)))).toBe(false)
    expect(accepts(inHistory(op))).toBe(false)
  })

  it.each([
    '[]',
    '{"t":1}',
    '{"t":{"columns":{"a":"text"}}}',
    '{"t":{"key":["a"]}}',
    '{"t":{"columns":{"a":"float"},"key":["a"]}}',
    '{"t":{"columns":{"a":"text"},"key":[]}}',
    '{"t":{"columns":{"a":"text"},"key":["a","a"]}}',
    '{"t":{"columns":{"a":"text"},"key":["a"],"rows":[1]}}',
    '{"t(":{"columns":{"a":"text"},"key":["a"]}}',
    '{"":{"columns":{"a":"text"},"key":["a"]}}',
  ])('refuses tables like %s, and so does the parser', (tables) => {
    const line = `{"isobar":1,"tables":${tables}}`
    expect(validate(JSON.parse(line))).toBe(false)
    expect(() => parseHistory(line)).toThrow(InputError)
    const right = '{"isobar":1,"tables":{"t":{"columns":{"a":"text"},"key":["a"]}}}'
    expect(validate(JSON.parse(right)) && parseHistory(right).sql!.tables.length).toBe(1)
  })
})
