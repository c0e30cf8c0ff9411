// The tables of the verdict file, the schema and the page in docs/ say the same.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { verdictSchema } from '../../scripts/verdict-schema.ts'
import { VERDICT_TABLES } from '../../src/verdict/verdict-file.ts'
import { GALLERY, judge } from '../report/gallery.ts'
import { judgeSql, SQL_GALLERY } from '../report/sql-gallery.ts'

const docs = join(import.meta.dirname, '../../docs')
const text = readFileSync(join(docs, 'verdict.schema.json'), 'utf8')

describe('verdict.schema.json', () => {
  const validate = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(
    JSON.parse(text) as object,
  )

  it('is what npm run schema writes', () => {
    expect(text).toBe(verdictSchema())
  })

  it('accepts every verdict, and none with a part of another kind', async () => {
    const verdicts = [
      ...GALLERY.map(({ notation, level }) => judge(notation, level)),
      ...(await Promise.all(SQL_GALLERY.map(({ text, level }) => judgeSql(text, level, true)))),
    ]
    for (const verdict of verdicts) {
      expect(validate(verdict), JSON.stringify(validate.errors)).toBe(true)
      expect(validate({ ...verdict, isobar: 1 })).toBe(false)
      const [result] = verdict.results
      for (const name of Object.keys(result!)) {
        const results = [{ ...result!, [name]: Symbol.iterator }, ...verdict.results.slice(1)]
        expect(validate({ ...verdict, results }), name).toBe(false)
      }
    }
  })
})

describe('verdict-format.md', () => {
  const page = readFileSync(join(docs, 'verdict-format.md'), 'utf8')

  it('speaks of every field', () => {
    for (const fields of Object.values(VERDICT_TABLES)) {
      for (const name of Object.keys(fields)) expect(page).toMatch(new RegExp(`\\b${name}\\b`))
    }
  })
})
