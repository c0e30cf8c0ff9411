// Files of other tools' formats, made and read in memory.

import { expect } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { findFormat } from '../../src/formats/formats.ts'
import { parseHistoryFiles } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'

/** A small history that every format of registers holds. */
export const history = parseNotation(
  's0: w(1,1) r(2,0) | r(1,1) w(2,3) [aborted]\ns1: r(1,1) w(2,5)\ns1: r(2,5)',
)

/** The history in the format, a character for each byte. */
export function text(format: string, source: History = history): string {
  let out = ''
  findFormat(format)!.write(source, (bytes) => {
    out += Buffer.from(bytes).toString('latin1')
  })
  return out
}

export function files(format: string, list: Record<string, string | Uint8Array>): History {
  return parseHistoryFiles(
    Object.entries(list).map(([name, bytes]) => ({ name, chunks: [Buffer.from(bytes)] })),
    findFormat(format)!,
  )
}

export function refuseFiles(format: string, list: Record<string, string | Uint8Array>): string {
  try {
    files(format, list)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return `${error.describe()} [${error.code}]`
  }
  return expect.fail('the files were accepted')
}

/** Big-endian 64-bit integers behind a letter. */
export function record(letter: string, ...numbers: (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(1 + 8 * numbers.length, letter)
  numbers.forEach((n, i) => {
    bytes.writeBigInt64BE(BigInt.asIntN(64, BigInt(n)), 1 + 8 * i)
  })
  return bytes
}
