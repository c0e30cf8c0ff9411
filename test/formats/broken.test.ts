// What a broken database shows, in and out of every format that can hold it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { FORMATS, findFormat } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { refusal } from './errors.ts'

const schema = readFileSync(join(import.meta.dirname, '../../docs/history.schema.json'), 'utf8')
const validate = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(
  JSON.parse(schema),
)

function written(text: string): string {
  let native = ''
  findFormat('native')!.write(parseHistory(text), (bytes) => {
    native += Buffer.from(bytes).toString()
  })
  return native
}

describe('rows and audits', () => {
  it.each([
    's1: w(x,1) | rows(x,[])\n',
    's1: w(x,1)\ns2: rows(x,[1,0]) r(y,0) rows(x,[1,1,"a b"])\n',
    's1: append(l,1) append(l,2)\ns2: rows(l,[[1],[],[1,2]]) rows(l,[]) r(l,[1,2])\n',
    's1: w(x,1) [start=1 finish=2] | r(x,0) [start=3 finish=4 level=rc audit]\n',
    'initial null\ns1: rows(k,[null,null]) [aborted]\n',
  ])('come back from notation and from the native format: %j', (text) => {
    const history = parseNotation(text)
    expect(renderNotation(history)).toBe(text)
    const native = written(text)
    expect(renderNotation(parseHistory(native))).toBe(text)
    for (const line of native.trim().split('\n')) {
      expect(validate(JSON.parse(line)), line).toBe(true)
    }
  })

  it('take one row for a read like any other', () => {
    expect(renderNotation(parseNotation('s1: rows(x,[1]) rows(l,[[]])'))).toBe(
      's1: r(x,1) r(l,[])\n',
    )
  })

  it('come back with statements', () => {
    const text = [
      '{"isobar":1,"initial":null,"tables":{"t":{"columns":{"id":"integer"},"key":["id"],"rows":[{"id":1}]}}}',
      '{"session":0,"ops":[{"insert":"t","write":"a","rows":[{"id":1}]}]}',
      '{"session":1,"audit":true,"ops":[{"select":"t","rows":[{"key":[1],"from":null},{"key":[1],"from":"a"}]},["rows","x",[]]]}',
      '',
    ].join('\n')
    expect(written(text)).toBe(text)
  })

  it.each([
    [
      '{"session":0,"ops":[["rows","x"]]}',
      '1:32 malformed: the operation lacks its key or its value',
    ],
    ['{"session":0,"ops":[["rows","x",1]]}', '1:33 malformed: expected a list of rows, found "1"'],
    [
      '{"session":0,"ops":[["rows","x",[1,[2]]]]}',
      '1:36 malformed: rows of one key hold lists, or values, not both',
    ],
    ['{"session":0,"audit":false,"ops":[]}', '1:22 malformed: expected true, found "f"'],
    [
      '{"pending":1,"session":0,"ops":[]}\n{"outcome":1,"status":"committed","audit":true}',
      '2:1 malformed: an outcome line says only how a transaction ended',
    ],
    [
      '{"session":0,"ops":[["append","x",1],["rows","x",[1,2]]]}',
      '1:38 mixed-key: key "x" is used both as a register and as a list',
    ],
  ])('are refused with a place where they make no sense: %s', (text, message) => {
    expect(refusal(text, 'native')).toBe(message)
  })

  it('are not left out in silence by formats that cannot hold them', () => {
    const broken = parseNotation('s1: rows(x,[])')
    const audited = parseNotation('s1: r(x,0) [audit]')
    for (const format of FORMATS.filter(({ id }) => id !== 'native' && id !== 'notation')) {
      if (!format.misfits) continue
      expect(format.misfits(broken), format.id).toContain('reads that did not return one row')
      expect(format.misfits(audited), format.id).toContain('audits')
    }
  })
})
