import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Scratch } from '../../src/files/scratch.ts'
import { Streams } from '../../src/files/streams.ts'
import { IntReader, putInt, putSigned } from '../../src/files/varint.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('Scratch', () => {
  it.skipIf(process.platform === 'win32')('leaves nothing behind, even while it is used', () => {
    const scratch = new Scratch(directory)
    const file = scratch.file()
    file.append(Uint8Array.of(1, 2, 3))
    expect(readdirSync(directory)).toEqual([])
    const read = new Uint8Array(2)
    file.read(1, read)
    expect([...read]).toEqual([2, 3])
    scratch.close()
  })

  it('removes what a run that is gone left behind, and nothing else', () => {
    const gone = 2 ** 22 + 1 // no such process
    const kept = ['mine.txt', `isobar-scratch-${process.pid}-aaaaaaaaaaaa`, 'isobar-scratch-x']
    for (const name of [...kept, `isobar-scratch-${gone}-aaaaaaaaaaaa`]) {
      writeFileSync(join(directory, name), '')
    }
    new Scratch(directory).close()
    expect(readdirSync(directory).sort()).toEqual(kept.sort())
  })

  it('refuses what is not a directory', () => {
    expect(() => new Scratch(join(directory, 'mine.txt'))).toThrow('is not a directory')
    expect(() => new Scratch(join(directory, 'missing'))).toThrow('cannot be used')
  })

  // Whoever may do anything may read any directory.
  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'says so where it may not look into the directory',
    () => {
      const closed = mkdtempSync(join(directory, 'closed-'))
      chmodSync(closed, 0o300)
      expect(() => new Scratch(closed)).toThrow('the scratch directory cannot be used')
    },
  )

  it('says so where what it wrote cannot be read', () => {
    const file = new Scratch(directory).file()
    file.append(Uint8Array.of(1))
    file.close()
    expect(() => file.read(0, new Uint8Array(1))).toThrow('the scratch directory cannot be used')
  })
})

describe('Streams', () => {
  it('gives back every record of each stream, in order, whatever its size', () => {
    const scratch = new Scratch(directory)
    const streams = new Streams(scratch, 3, 16)
    const expected: number[][] = [[], [], []]
    for (let i = 0; i < 200; i++) {
      const record = new Uint8Array(1 + (i % 23)).fill(i)
      streams.put(i % 3, record)
      expected[i % 3]!.push(...record)
    }
    streams.finish()
    for (let stream = 0; stream < 3; stream++) {
      const found: number[] = []
      for (const block of streams.blocks(stream)) found.push(...block)
      expect(found).toEqual(expected[stream])
    }
    scratch.close()
  })
})

describe('putInt', () => {
  it('comes back as it was, up to 2^53', () => {
    const bytes = new Uint8Array(64)
    const reader = new IntReader()
    for (const n of [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1]) {
      reader.load(bytes.subarray(0, putInt(bytes, 0, n)))
      expect(reader.int()).toBe(n)
      for (const signed of [n, -n].filter((each) => Math.abs(each) < 2 ** 51)) {
        reader.load(bytes.subarray(0, putSigned(bytes, 0, signed)))
        expect(reader.signed() - signed).toBe(0)
      }
    }
  })
})
