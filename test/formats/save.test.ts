import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Outputs } from '../../src/files/output.ts'
import { findFormat } from '../../src/formats/formats.ts'
import { readHistory } from '../../src/formats/open.ts'
import { formatFor, saveHistory } from '../../src/formats/save.ts'
import { parseNotation } from '../../src/history/notation.ts'

const history = parseNotation('s1: w(0,1) r(0,1)\ns2: r(0,1)')
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isobar-save-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

describe('saveHistory', () => {
  const plume = findFormat('plume')!
  const text = 'w(0,1,1,1)\nr(0,1,1,1)\nr(0,1,2,2)\n'

  test('writes the file and nothing beside it', () => {
    const path = join(folder, 'h.txt')
    expect(saveHistory(path, plume, history)).toBe(text.length)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(folder)).toEqual(['h.txt'])
  })

  test('writes operations in the order asked for', () => {
    const path = join(folder, 'h.txt')
    saveHistory(path, plume, history, { opOrder: Int32Array.of(0, 2, 1) })
    expect(readFileSync(path, 'utf8')).toBe('w(0,1,1,1)\nr(0,1,2,2)\nr(0,1,1,1)\n')
  })

  test('replaces a file only when forced to', () => {
    const path = join(folder, 'h.txt')
    writeFileSync(path, 'mine')
    expect(() => saveHistory(path, plume, history)).toThrow('exists already')
    expect(readFileSync(path, 'utf8')).toBe('mine')
    saveHistory(path, plume, history, { force: true })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('replaces the file that a link points to, not the link', () => {
    mkdirSync(join(folder, 'there'))
    const real = join(folder, 'there', 'h.txt')
    writeFileSync(real, 'mine')
    symlinkSync(real, join(folder, 'link.txt'))
    saveHistory(join(folder, 'link.txt'), plume, history, { force: true })
    expect(readFileSync(real, 'utf8')).toBe(text)
  })

  test('leaves nothing behind when writing fails half way', () => {
    const path = join(folder, 'h.txt')
    const fail = () =>
      new Outputs().claim(path, 'the output').write((sink) => {
        sink(new Uint8Array(10))
        throw new Error('half way')
      })
    expect(fail).toThrow('half way')
    expect(existsSync(path)).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })

  test('says why a file cannot be written', () => {
    expect(() => saveHistory(join(folder, 'no', 'h.txt'), plume, history)).toThrow(
      'there is no such directory',
    )
    expect(() => saveHistory(folder, plume, history)).toThrow('is a directory')
  })
})

describe('formatFor', () => {
  test('goes by name, then by ending, then native', () => {
    expect(formatFor('h.txt', 'native').id).toBe('native')
    expect(formatFor('h.txt').id).toBe('plume')
    expect(formatFor('h.whatever').id).toBe('native')
    expect(() => formatFor('h.txt', 'csv')).toThrow('unknown format "csv"')
  })
})

describe('saveHistory of directories and compressed files', () => {
  const cobra = findFormat('cobra')!

  test('writes a directory, and replaces only such a one, when forced', async () => {
    const path = join(folder, 'logs')
    expect(saveHistory(path, cobra, history)).toBe(9 * 4 + 25 + 33 * 2)
    expect(readdirSync(path).sort()).toEqual(['T1.log', 'T2.log'])
    expect((await readHistory(path)).history.opCount).toBe(3)
    expect(() => saveHistory(path, cobra, history)).toThrow('exists already')
    saveHistory(path, cobra, history, { force: true })
    writeFileSync(join(path, 'mine.txt'), 'mine')
    expect(() => saveHistory(path, cobra, history, { force: true })).toThrow(
      'it also holds mine.txt',
    )
    expect(readdirSync(folder)).toEqual(['logs'])
    expect(() => saveHistory(join(folder, 'no', 'logs'), cobra, history)).toThrow(
      'no such directory',
    )
    expect(() => saveHistory('-', cobra, history)).toThrow('this format is a directory')
  })

  test('compresses what is called .gz', async () => {
    const path = join(folder, 'h.jsonl.gz')
    const format = formatFor(path)
    expect(format.id).toBe('native')
    saveHistory(path, format, history)
    expect([...readFileSync(path).subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect((await readHistory(path)).history.opCount).toBe(3)
  })
})
