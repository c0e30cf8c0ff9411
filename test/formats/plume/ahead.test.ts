import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { readHistory, readWithAhead } from '../../../src/formats/open.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { parseAhead, ReadAhead } from '../../../src/formats/plume/ahead.ts'
import type { History } from '../../../src/history/history.ts'

const folder = mkdtempSync(join(tmpdir(), 'isobar-ahead-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** All that a history says, or what is wrong with the input. */
function told(read: () => History): unknown {
  try {
    const history = read()
    const { opTxn, opKind, opKey, opValue, txnSession, txnStatus, readFrom } = history
    return {
      columns: [opTxn, opKind, opKey, opValue, txnSession, txnStatus, readFrom].map(String),
      keys: Array.from({ length: history.keyCount }, (_, key) => history.keyName(key)),
      values: Array.from(opValue.keys(), history.valueOf),
      names: Array.from(txnSession.keys(), history.txnName),
      places: Array.from(opTxn.keys(), history.placeOf),
    }
  } catch (error) {
    if (error instanceof InputError) return [error.describe(), error.hint, error.place]
    throw error
  }
}

/** Reads the text as a file, of which the first bytes are read and the rest is parsed ahead. */
function readAhead(text: string, first: number, chunkBytes: number): History {
  const path = join(folder, 'history.txt')
  writeFileSync(path, text)
  const size = Buffer.byteLength(text)
  const file = openSync(path, 'r')
  try {
    const buffer = new Uint8Array(Math.max(first, 64))
    const length = readSync(file, buffer, 0, first, 0)
    // All of it, before the reader comes.
    const slots = Math.ceil(size / chunkBytes)
    const ahead = new ReadAhead(file, size, chunkBytes, slots, (task) => parseAhead(task, readSync))
    return readWithAhead(file, buffer, length, size, { format: 'plume' }, ahead).history
  } finally {
    closeSync(file)
  }
}

function usual(count: number, seed: number): string[] {
  const random = new Random(seed)
  return Array.from({ length: count }, (_, i) => {
    const letter = i % 3 === 0 ? 'w' : 'r'
    const value = letter === 'w' ? i + 1 : 0
    return `${letter}(${random.below(10 ** (1 + random.below(7)))},${value},${(i >> 2) % 3},${i >> 2})\n`
  })
}

const UNUSUAL = [
  '\n',
  '  \n',
  'w(7,123456789012345,1,90001)\n',
  'r(18446744073709551615,0,2,90002)\n',
  'r(1,0,1,7)\r\n',
  'w(5,77777,1,-1)\n',
  'r(5,0,1,-1)\n',
]
const WRONG = ['r(1,2,3\n', 'x(1,2,3,4)\n', 'r(1,2,9,0)\n', `r(${'1'.repeat(30)},0,1,1)\n`, 'r(1']

describe('Plume text parsed ahead', () => {
  const text = usual(30, 1).join('')

  test('is the same wherever the first bytes end and chunks are cut', () => {
    const expected = told(() => parseHistory(text, { format: 'plume' }))
    for (let chunkBytes = 1; chunkBytes <= 100; chunkBytes++) {
      expect(told(() => readAhead(text, 1, chunkBytes))).toEqual(expected)
    }
    for (let first = 1; first <= text.length; first += 11) {
      for (const chunkBytes of [40, 97, 5000]) {
        expect(told(() => readAhead(text, first, chunkBytes))).toEqual(expected)
      }
    }
  })

  test('is the same with unusual and wrong lines at any place', () => {
    const random = new Random(3)
    for (let round = 0; round < 40; round++) {
      const lines = usual(40, round)
      for (let i = random.below(6); i > 0; i--) {
        lines.splice(random.below(lines.length), 0, random.pick(UNUSUAL))
      }
      if (round % 3 === 0) lines.splice(random.below(lines.length), 0, random.pick(WRONG))
      if (round % 5 === 0) lines[lines.length - 1] = lines[lines.length - 1]!.trim()
      const mixed = lines.join('')
      const expected = told(() => parseHistory(mixed, { format: 'plume' }))
      for (const chunkBytes of [1, 50, 64, 200]) {
        expect(told(() => readAhead(mixed, 1 + random.below(90), chunkBytes))).toEqual(expected)
      }
    }
  })

  test('is taken, not parsed again', () => {
    const long = usual(20_000, 5).join('')
    const path = join(folder, 'long.txt')
    writeFileSync(path, long)
    const file = openSync(path, 'r')
    const chunkBytes = 1 << 17
    const ahead = new ReadAhead(file, long.length, chunkBytes, 8, (task) =>
      parseAhead(task, readSync),
    )
    const found = ahead.take(1)!
    closeSync(file)
    expect(found.from).toBe(long.indexOf('\n', chunkBytes - 1) + 1)
    expect(found.to).toBe(long.indexOf('\n', 2 * chunkBytes - 1) + 1)
    expect(found.lines).toBe(long.slice(found.from, found.to).split('\n').length - 1)
    expect(found.keys[0]).toBe(Number(/\d+/.exec(long.slice(found.from))![0]))
  })

  test('is the same by a thread', async () => {
    // Larger than what is worth one.
    const lines = usual(70_000, 7)
    const count = Math.ceil((1 << 26) / lines.join('').length) + 1
    const path = join(folder, 'large.txt')
    const words = lines.map((line) => {
      const [, start, value, session, txn] = /(.*),(\d+),(\d),(\d+)\)/.exec(line)!
      return { start, value: Number(value), session, txn: Number(txn) }
    })
    const shifted = Array.from({ length: count }, (_, i) =>
      words
        .map(({ start, value, session, txn }) => {
          const newValue = value === 0 ? 0 : value + i * 70_000
          return `${start},${newValue},${session},${txn + i * 17_500})\n`
        })
        .join(''),
    ).join('')
    writeFileSync(path, `${shifted}r(1,0,1,-1)\nw(1,99999999999,2,88888888)\n`)
    const { history } = await readHistory(path, { format: 'plume' })
    // With a limit of memory there is no thread.
    const alone = await readHistory(path, { format: 'plume', memoryBytes: 2 ** 33 })
    for (const column of ['opTxn', 'opKind', 'opKey', 'opValue', 'txnSession'] as const) {
      expect(Buffer.compare(bytesOf(history[column]), bytesOf(alone.history[column]))).toBe(0)
    }
    expect(history.opCount).toBe(count * 70_000 + 1)

    const file = openSync(path, 'r')
    const ahead = ReadAhead.start(file, shifted.length)
    // With one processor there is none; else it begins some chunks after the reader.
    for (let chunk = 1; ahead !== null && ahead.take(chunk) === null; chunk++) await sleep(50)
    ahead?.stop()
    closeSync(file)
  })
})

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
