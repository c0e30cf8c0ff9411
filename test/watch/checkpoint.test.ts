// Checkpoints and the files they are about.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { UsageError } from '../../src/base/errors.ts'
import { loadCheckpoint, saveCheckpoint } from '../../src/watch/checkpoint.ts'
import { GrowingFile } from '../../src/watch/follow.ts'
import { Watcher } from '../../src/watch/watcher.ts'

const folder = mkdtempSync(join(tmpdir(), 'isobar-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('saveCheckpoint', () => {
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

describe('loadCheckpoint', () => {
  const input = join(folder, 'input.jsonl')
  const state = join(folder, 'damaged')
  const checkpoint = join(state, 'isobar-watch.checkpoint')
  const asked = { levels: ['cc'] as const, window: 1, format: null }
  const load = () => {
    const file = new GrowingFile(input)
    try {
      return loadCheckpoint(state, file, asked)
    } finally {
      file.close()
    }
  }
  const made = () => {
    const lines = [1, 2, 3, 4].map((id) => `{"id":${id},"session":1,"ops":[["w","x",${id}]]}\n`)
    writeFileSync(input, `{"isobar":1,"initial":0}\n${lines.join('')}`)
    const watcher = new Watcher(asked)
    const file = new GrowingFile(input)
    watcher.push(file.read()!)
    watcher.judge()
    saveCheckpoint(state, file, watcher)
    file.close()
    return readFileSync(checkpoint)
  }

  test('refuses one that was cut off or changed anywhere', () => {
    const bytes = made()
    expect(load()?.settled.txnCount).toBe(3)
    for (let at = 0; at < bytes.length; at++) {
      writeFileSync(checkpoint, bytes.subarray(0, at))
      expect(load, `cut off at ${at}`).toThrow(/is (damaged|of another version)/)
      for (const flip of [1, 32]) {
        const changed = Buffer.from(bytes)
        changed[at]! ^= flip
        writeFileSync(checkpoint, changed)
        expect(load, `byte ${at} changed by ${flip}`).toThrow(/is (damaged|of another version)/)
      }
    }
  })

  test('refuses what is none, or is of another version, with a way out', () => {
    mkdirSync(state, { recursive: true })
    for (const text of ['', 'null\n', '{}\n', '[1]\n{}\n', '{"isobarWatch":2}\n{}\n']) {
      writeFileSync(checkpoint, text)
      expect(load, text).toThrow('is damaged')
    }
    // As the first version had it, with half of its fields.
    writeFileSync(checkpoint, '{"isobarWatch":1,"states":[],"position":{"offset":0}}\n')
    expect(load).toThrow('is of another version of this program')
    try {
      load()
    } catch (error) {
      expect((error as UsageError).hint).toBe('name another directory, or remove the file')
    }
  })
})
