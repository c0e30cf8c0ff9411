// Checkpoints and the files they are about.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadCheckpoint, saveCheckpoint } from '../../src/watch/checkpoint.ts'
import { GrowingFile } from '../../src/watch/follow.ts'
import { Watcher } from '../../src/watch/watcher.ts'

describe('saveCheckpoint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is about the bytes that were read, though another file has taken their name', () => {
    const [path, other] = [join(folder, 'history.txt'), join(folder, 'other.txt')]
    writeFileSync(path, 'w(1,1,1,1)\n')
    writeFileSync(other, 'w(1,2,1,1)\n')
    const asked = { levels: ['rc'] as const, window: 4, format: null }
    const watcher = new Watcher(asked)
    const read = new GrowingFile(path)
    watcher.push(read.read()!)
    renameSync(path, join(folder, 'rotated.txt'))
    renameSync(other, path)
    saveCheckpoint(folder, read, watcher)
    read.close()
    const resume = (name: string) => {
      const file = new GrowingFile(join(folder, name))
      try {
        return [loadCheckpoint(folder, file, asked)?.save(), file.offset]
      } finally {
        file.close()
      }
    }
    expect(() => resume('history.txt')).toThrow('is about another file')
    expect(resume('rotated.txt')).toEqual([watcher.save(), 11])
  })
})
