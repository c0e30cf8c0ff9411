// Histories that are directories.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { historyFilesIn, readHistory } from '../../src/formats/open.ts'
import { record, text } from './files-in-memory.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-directories-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('directories', () => {
  it('are one history if they hold logs or a file of a known name', async () => {
    const cobra = join(directory, 'cobra')
    const dbcop = join(directory, 'dbcop')
    const other = join(directory, 'other')
    for (const path of [cobra, dbcop, other]) mkdirSync(path)
    writeFileSync(join(cobra, 'T1.log'), Buffer.concat([record('S', 1), record('C', 1)]))
    writeFileSync(join(cobra, 'T2.log'), '')
    writeFileSync(join(cobra, 'notes.txt'), 'about')
    writeFileSync(join(dbcop, 'history.bincode'), Buffer.from(text('dbcop'), 'latin1'))
    writeFileSync(join(other, 'a.log'), 'Starting up\n')
    expect([cobra, dbcop, other].map((path) => historyFilesIn(path) !== null)).toEqual([
      true,
      true,
      false,
    ])
    const logs = await readHistory(cobra)
    expect([logs.format.id, logs.history.txnCount, logs.bytes]).toEqual(['cobra', 1, 18])
    const file = await readHistory(dbcop)
    expect([file.format.id, file.history.txnCount]).toEqual(['dbcop', 4])
    await expect(readHistory(other)).rejects.toThrow('not a history in a known format')
    await expect(readHistory(other, { format: 'cobra' })).rejects.toThrow('no record begins')
  })
})
