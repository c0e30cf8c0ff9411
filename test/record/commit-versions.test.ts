import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DatabaseError } from '../../src/base/errors.ts'
import { readHistory } from '../../src/formats/open.ts'
import { addCommitVersions } from '../../src/record/commit-versions.ts'

const HEADER = '{"isobar":1,"initial":null,"unit":"us"}'
const RECORD = [
  HEADER,
  '{"pending":1,"session":0,"start":0,"ops":[["w",4,1],["r",5,null]]}',
  '{"pending":2,"session":1,"start":0,"ops":[["r",4,null]]}',
  '{"outcome":2,"status":"committed","finish":8}',
  '{"pending":3,"session":1,"start":9,"ops":[["w",4,2]]}',
  '{"outcome":3,"status":"indeterminate"}',
  '{"outcome":1,"status":"committed","finish":12}',
  '{"pending":4,"session":2,"start":9,"ops":[["w",5,3]]}',
  '{"outcome":4,"status":"aborted","finish":15}',
  '{"pending":5,"session":3,"start":20,"ops":[["r",4,1]]}',
  '{"outcome":5,"status":"committed","finish":25}',
]

describe('addCommitVersions', () => {
  let directory: string
  let path: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    path = join(directory, 'history.jsonl')
    writeFileSync(path, `${RECORD.join('\n')}\n`)
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const log = (places: Record<number, string>) => ({
    placeOf: (value: number) => places[value] ?? null,
  })

  it('gives the outcomes of writers their place, indeterminate ones included', async () => {
    await addCommitVersions(path, log({ 1: '0/2A', 2: '0/1F' }))
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines.filter((line, i) => line !== RECORD[i])).toEqual([
      '{"outcome":3,"status":"indeterminate","version":"0/1F"}',
      '{"outcome":1,"status":"committed","finish":12,"version":"0/2A"}',
    ])
    expect(lines).toHaveLength(RECORD.length)
    const { history } = await readHistory(path)
    expect(history.versions).not.toBeNull()
    expect(readdirSync(directory)).toEqual(['history.jsonl'])
  })

  it('leaves the history as it was if the log lacks what was acknowledged', async () => {
    const attempt = addCommitVersions(path, log({ 2: '0/1F' }))
    await expect(attempt).rejects.toThrow(DatabaseError)
    await expect(attempt).rejects.toThrow('acknowledged transaction 1')
    expect(readFileSync(path, 'utf8')).toBe(`${RECORD.join('\n')}\n`)
    expect(readdirSync(directory)).toEqual(['history.jsonl'])
  })
})
