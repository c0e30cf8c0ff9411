import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { InputError } from '../../src/base/errors.ts'
import { type ReadOptions, readHistory } from '../../src/formats/open.ts'
import { dump } from './histories.ts'

const directory = mkdtempSync(join(tmpdir(), 'isobar-open-'))
afterAll(() => rmSync(directory, { recursive: true }))

function save(name: string, bytes: string | Uint8Array): string {
  const path = join(directory, name)
  writeFileSync(path, bytes)
  return path
}

async function refuse(path: string, options: ReadOptions = {}): Promise<InputError> {
  return readHistory(path, options).then(
    () => expect.fail('the file was accepted'),
    (error: InputError) => error,
  )
}

const PLUME = Array.from(
  { length: 200_000 },
  (_, i) => `w(${i % 50},${i + 1},${i % 3},${i})\n`,
).join('')

describe('readHistory', () => {
  it('reads plain and compressed files alike', async () => {
    const plain = await readHistory(save('h.txt', PLUME))
    const zipped = await readHistory(save('h.txt.gz', gzipSync(PLUME)))
    expect(plain.format.id).toBe('plume')
    expect(plain.bytes).toBe(PLUME.length)
    expect(plain.history.opCount).toBe(200_000)
    expect(zipped.bytes).toBe(PLUME.length)
    expect(dump(zipped.history)).toEqual(dump(plain.history))
  })

  it('reads two compressed members one after another', async () => {
    const parts = [gzipSync('w(1,1,0,0)\nw(1,'), gzipSync('2,0,0)\n')]
    const { history } = await readHistory(save('two.gz', Buffer.concat(parts)))
    expect(history.opCount).toBe(2)
  })

  it('reads standard input, plain or compressed', () => {
    const script = join(import.meta.dirname, 'stdin.ts')
    for (const input of [Buffer.from('w(1,1,0,0)\n'), gzipSync('w(1,1,0,0)\n'), Buffer.from('')]) {
      const out = execFileSync(process.execPath, ['--import', 'tsx', script], { input })
      expect(String(out)).toBe(input.length === 0 ? 'native 0\n' : 'plume 1\n')
    }
  })

  it('reads a compressed pipe, which can be opened only once', async () => {
    const pipe = join(directory, 'pipe')
    execFileSync('mkfifo', [pipe])
    const packed = save('small.gz', gzipSync('w(1,1,0,0)\n'))
    const cat = spawn('sh', ['-c', `cat '${packed}' > '${pipe}'`])
    const closed = new Promise((resolve) => cat.once('close', resolve))
    expect((await readHistory(pipe)).history.opCount).toBe(1)
    await closed
  })

  it('tells which file could not be read, and why', async () => {
    const missing = await refuse(join(directory, 'none'))
    expect(missing.code).toBe('missing-file')
    expect(missing.describe()).toBe(`${join(directory, 'none')}: there is no such file`)
    expect((await refuse(directory)).code).toBe('unknown-format')
    const odd = await refuse(save('odd', '\x7fELF'))
    expect(odd.describe()).toBe(`${join(directory, 'odd')}:1:1: the input is in no known format`)
    expect((await refuse(save('x.txt', 'w(1,1,0,0'))).describe()).toMatch(/x\.txt:1:10: expected/)
  })

  it('refuses damaged and torn compressed data at the place reached', async () => {
    const good = gzipSync(PLUME)
    const torn = await refuse(save('torn.gz', good.subarray(0, good.length >> 1)))
    expect(torn.code).toBe('truncated')
    expect(torn.place!.line).toBeGreaterThan(1)
    const bad = Buffer.from(good)
    bad.fill(0x55, 2000, 2100)
    expect((await refuse(save('bad.gz', bad))).code).toMatch(/bad-gzip|malformed/)
  })

  it('bounds the size of files, unpacked data and lines by the memory allowed', async () => {
    const memoryBytes = 100_000
    expect((await refuse(save('h.txt', PLUME), { memoryBytes })).code).toBe('too-large')
    const bomb = gzipSync(Buffer.alloc(5_000_000, '\n'))
    expect((await refuse(save('bomb.gz', bomb), { memoryBytes })).code).toBe('too-large')
    const long = `{"session":0,"note":"${'x'.repeat(50_000)}","ops":[]}`
    const error = await refuse(save('long.jsonl', long), { memoryBytes })
    expect(error.message).toBe('the line is larger than the limit of 6250 bytes')
    expect(error.place).toEqual({ line: 1, column: 1 })
  })

  it('honours a format that is forced, and lists them when there is no such one', async () => {
    const path = save('forced.txt', 's1: w(x,1)\n')
    expect((await readHistory(path, { format: 'notation' })).history.opCount).toBe(1)
    expect((await refuse(path, { format: 'plume' })).code).toBe('malformed')
    const unknown = await refuse(path, { format: 'csv' })
    expect(unknown.message).toBe('unknown format "csv"')
    expect(unknown.hint).toMatch(/^there are native, /)
  })

  it('tells how far it is', async () => {
    const seen: number[] = []
    await readHistory(save('h.txt', PLUME), { onProgress: (read) => seen.push(read) })
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toBe(PLUME.length)
  })
})
