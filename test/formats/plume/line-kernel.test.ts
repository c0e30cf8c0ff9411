import { describe, expect, test } from 'vitest'
import { InputError } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { KERNEL_BYTES, lineKernel } from '../../../src/formats/plume/line-kernel.ts'
import { PlumeParser } from '../../../src/formats/plume/read.ts'

const FEW_BYTES = 1 << 10 // are not given to the kernel

/** What a text says, pushed in pieces of so many bytes: its columns, or what is wrong with it. */
function told(text: string, pieceBytes: number): unknown {
  const bytes = new TextEncoder().encode(text)
  const parser = new PlumeParser()
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      parser.push(bytes.subarray(at, at + pieceBytes))
    }
    const { opTxn, opKind, opKey, opValue, txnSession, ...history } = parser.finish()
    return {
      columns: [opTxn, opKind, opKey, opValue, txnSession, history.readFrom].map(String),
      values: Array.from(opValue.keys(), history.valueOf),
      keys: Array.from({ length: history.keyCount }, (_, key) => history.keyName(key)),
      names: Array.from(txnSession.keys(), history.txnName),
      lastPlace: history.placeOf(history.opCount - 1),
    }
  } catch (error) {
    if (error instanceof InputError) return error.describe()
    throw error
  }
}

const withKernel = (text: string) => told(text, text.length)
const withoutKernel = (text: string) => told(text, FEW_BYTES)

/** Lines of numbers that have up to so many digits more than they need; half of them are reads. */
function lines(count: number, digits: number, seed: number, end = '\n'): string[] {
  const random = new Random(seed)
  const longer = (n: number, by: number) => BigInt(n) + BigInt(count) * 10n ** BigInt(by)
  return Array.from({ length: count }, (_, i) => {
    const key = random.below(10 ** (1 + random.below(Math.min(digits, 9))))
    const txn = i >> 1
    const [letter, write] = i % 2 === 0 ? ['w', i] : ['r', i - 1]
    const value = longer(write, write % digits)
    return `${letter}(${key},${value},${txn % 7},${longer(txn, txn % digits)})${end}`
  })
}

describe('lines parsed by WebAssembly', () => {
  test('WebAssembly is there, and takes more than it gets through at once', () => {
    const kernel = lineKernel()!
    const bytes = new TextEncoder().encode('r(1,2,3,4)\n'.repeat(KERNEL_BYTES / 11 + 100))
    expect(kernel.parse(bytes, 0, bytes.length, -1, -1)).toBe(Math.ceil(KERNEL_BYTES / 11))
    expect(kernel.parsedBytes).toBeGreaterThanOrEqual(KERNEL_BYTES)
    expect(kernel.changeCount).toBe(1)
  })

  test.each([
    'r(1,2,3,4)',
    'w(12345678,0,98765432,10000000)',
    'w(00000001,00000010,00000000,00000009)',
  ])('%s is a usual line', (line) => {
    const kernel = lineKernel()!
    const bytes = new TextEncoder().encode(`${line}\n`)
    expect(kernel.parse(bytes, 0, bytes.length, -1, -1)).toBe(1)
    const [key, value, session, txn] = line.slice(2, -1).split(',').map(Number)
    expect([kernel.keys[0], kernel.values[0]]).toEqual([key, value])
    expect([...kernel.changes.subarray(0, 3)]).toEqual([0, txn, session])
    expect(kernel.kinds[0]).toBe(line.startsWith('w') ? 1 : 0)
  })

  test.each([
    'r(123456789,2,3,4)',
    'r(1,123456789,3,4)',
    'r(1,2,123456789,4)',
    'r(1,2,3,123456789)',
    'r(,2,3,4)',
    'r(1,,3,4)',
    'r(1,2,3,)',
    'r(1,2,3,-1)',
    'r(1,2,3)',
    'r(1,2,3,4,5)',
    'r(1,2,3,4) ',
    'r(1,2,3,4)\r',
    'x(1,2,3,4)',
    'r 1,2,3,4)',
    'r(1;2,3,4)',
    'r(1,2,3,4]',
    'r(1,2,3,4:)',
    '',
  ])('%j is none, and is left to others', (line) => {
    const kernel = lineKernel()!
    const bytes = new TextEncoder().encode(`r(1,2,3,4)\n${line}\nr(5,6,7,8)\n`)
    expect(kernel.parse(bytes, 0, bytes.length, -1, -1)).toBe(1)
    expect(kernel.parsedBytes).toBe(11)
  })

  test.each([1, 3, 4, 5, 9, 14])(
    'numbers of up to %i digits more are told as without it',
    (digits) => {
      const text = lines(12_000, digits, digits).join('')
      expect(withKernel(text)).toHaveProperty('columns')
      expect(withKernel(text)).toEqual(withoutKernel(text))
    },
  )

  test('unusual lines here and there are told as without it', () => {
    const all = lines(12_000, 6, 3)
    for (let i = 0; i < all.length; i += 977) {
      all.splice(i, 1, `w(${10n ** 15n + BigInt(i)},${10n ** 18n + BigInt(i)},1,-1)\r\n`, '\n')
    }
    expect(withKernel(all.join(''))).toEqual(withoutKernel(all.join('')))
  })

  test('lines that end with a carriage return are told as without it', () => {
    const text = lines(6_000, 6, 4, '\r\n').join('')
    expect(withKernel(text)).toEqual(withoutKernel(text))
  })

  test.each(['w(1,2,3,4', 'r(1,2,99999,5)\nr(1,2,99998,5)', 'w(1,2,3,4)x'])(
    'what is wrong with %j is told with its place, as without it',
    (line) => {
      const all = lines(12_000, 5, 5)
      all.splice(7_654, 0, `${line}\n`)
      const complaint = withKernel(all.join(''))
      expect(complaint).toBeTypeOf('string')
      expect(complaint).toBe(withoutKernel(all.join('')))
      expect(complaint).toMatch(/765[567]/)
    },
  )
})
