// The outline of a verdict file in docs/verdict-format.md is that of a file: what the command
// prints of the history that it speaks of, with its lists cut short, and what the schema wants.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from '../cli/command.ts'
import { blocksOf, ROOT } from './blocks.ts'

const [block] = blocksOf('outline')
const outline = JSON.parse(block!.text.replaceAll(/([A-Z]+), …/g, '"$1"'))
const page = readFileSync(`${ROOT}/docs/verdict-format.md`, 'utf8')
const schema = JSON.parse(readFileSync(`${ROOT}/docs/verdict.schema.json`, 'utf8'))

/** In the format of Plume: key, value, session, transaction. */
const HISTORY = [
  'w(1,1,1,1)',
  'w(2,1,1,1)',
  'r(1,1,2,2)',
  'w(2,2,2,2)',
  'r(2,2,3,3)',
  'r(1,0,3,3)',
].join('\n')

describe('the outline of a verdict file', () => {
  it('is what the command prints, lists cut short', () => {
    const folder = makeFolder()
    put(folder, 'h.txt', HISTORY)
    const { out } = isobar(['check', 'h.txt', '--json'], undefined, { cwd: folder })
    const { overview, ...printed } = JSON.parse(out)
    expect(overview).toBeDefined()
    expect(page).toContain('`overview` is the whole history at a glance')
    expect(printed.results.length).toBeGreaterThan(1)
    expect(printed.transactions).toHaveLength(3)
    expect({ ...printed, results: ['RESULT'], transactions: ['TRANSACTION'] }).toEqual(outline)
    for (const name of ['RESULT', 'ANOMALY', 'EDGE', 'PROOF']) expect(page).toContain(`**${name}**`)
  })

  it('has every field that the schema wants, and no other than it knows', () => {
    const { properties, required } = schema
    expect(required.length).toBeGreaterThan(5)
    const fields = Object.keys(outline)
    expect(fields.filter((field) => !(field in properties))).toEqual([])
    expect(required.filter((field: string) => !fields.includes(field))).toEqual([])
  })
})
