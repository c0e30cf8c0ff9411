// Histories, statements, plans and other data in the documentation are read by what reads them.

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse as parseSqlStatements } from 'pgsql-ast-parser'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { readPlan } from '../../src/fleet/read-plan.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseSql } from '../small/sql-draft.ts'
import { type Block, blocksOf, ROOT } from './blocks.ts'

const schema = JSON.parse(readFileSync(`${ROOT}/docs/history.schema.json`, 'utf8'))
const validate = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(
  schema,
)
const byPlace = (blocks: readonly Block[]) =>
  blocks.map((block) => [block.place, block.text] as const)

/** What a line of a block says of itself: that it is wrong, and why. */
const WRONG = /# an error: (.*)$/

describe('histories', () => {
  it.each(byPlace(blocksOf('history')))('parses %s', (_, text) => {
    const lines = text.trimEnd().split('\n')
    if (!lines.some((line) => WRONG.test(line))) {
      const { warnings, txnCount } = parseHistory(text)
      expect(warnings).toEqual([])
      expect(txnCount).toBeGreaterThan(0)
      return
    }
    for (const line of lines) {
      const said = WRONG.exec(line)?.[1]
      if (said === undefined) parseHistory(line, { format: 'notation' })
      else expect(() => parseHistory(line, { format: 'notation' })).toThrow(said)
    }
  })

  it.each(byPlace(blocksOf('drafts')))('parses the draft of %s', (_, text) => {
    expect(parseSql(text).sessions.length).toBeGreaterThan(0)
  })
})

const STATEMENT = /^\{"(select|insert|update|delete|refused|abort)"/
const inHistory = (line: string) => (STATEMENT.test(line) ? `{"session":0,"ops":[${line}]}` : line)
/** What statements that stand alone are about. */
const ORDERS =
  '{"isobar":1,"tables":{"orders":{"columns":{"id":"integer","status":"text"},"key":["id"]}}}'

describe('JSON', () => {
  const blocks = blocksOf('json')
  const [levels, lines] = [/"\*"/, /^\{"/].map((sign) =>
    blocks.filter(({ text }) => sign.test(text)),
  )

  it('is lines of histories, or levels of programs', () => {
    expect(levels!.length + lines!.length).toBe(blocks.length)
    for (const { text } of levels!) {
      expect(Object.values(JSON.parse(text)).every((word) => typeof word === 'string')).toBe(true)
    }
  })

  it.each(byPlace(lines!))('is what the schema and the parser take: %s', (_, text) => {
    const lines = text.trimEnd().split('\n').map(inHistory)
    for (const line of lines) expect(validate(JSON.parse(line)), line).toBe(true)
    const isStatement = STATEMENT.test(text)
    const header = text.startsWith('{"isobar"') ? '' : `${isStatement ? ORDERS : '{"isobar":1}'}\n`
    // Statements are shown one by one: they are not of one history.
    const histories = isStatement ? lines : [lines.join('\n')]
    for (const history of histories) {
      expect(parseHistory(header + history, { format: 'native' }).txnCount).toBeGreaterThan(0)
    }
  })
})

describe('YAML', () => {
  it.each(byPlace(blocksOf('yaml')))('is a plan, or steps of a workflow: %s', (_, text) => {
    if (text.startsWith('# plan.yaml'))
      expect(readPlan(text, 'plan').seeds.length).toBeGreaterThan(0)
    else {
      const read = parseYaml(text)
      const jobs = Array.isArray(read) ? [{ steps: read }] : Object.values(read.jobs as object)
      const steps = jobs.flatMap((job) => job.steps as Record<string, unknown>[])
      expect(steps.length).toBeGreaterThan(0)
      expect(steps.filter((step) => !('run' in step || 'uses' in step))).toEqual([])
    }
  })
})

describe('SQL', () => {
  it.each(byPlace(blocksOf('sql')))('is PostgreSQL: %s', (_, text) => {
    expect(parseSqlStatements(text).length).toBeGreaterThan(1)
  })

  it.each(byPlace(blocksOf('statements')))('is statements, a terminal each: %s', (_, text) => {
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^[A-Z]> /)
      const statements = line
        .slice(3)
        .replace(/ -- .*$/, '')
        .split(';')
      for (const statement of statements) parseSqlStatements(statement)
    }
  })
})
