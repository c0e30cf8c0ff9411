// Histories the generator does not make, from ones it does: the same text with other names for
// values and keys. A line at a time, so that a file of gigabytes fits.

import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Rewrite = 'wide-values' | 'random-values' | 'wide-keys' | 'string-keys'

/** Nineteen digits: beyond what a double holds exactly, within unsigned 64 bits. */
const wide = (n: string) => (n === '0' ? n : `9007199${n.padStart(12, '0')}`)

const MASK_62 = 2n ** 62n - 1n

/** Nineteen digits too, all over [2^62, 2^63): every step can be undone, so no two get the same. */
function scatter(n: string): string {
  if (n === '0') return n
  let x = (BigInt(n) * 0x9e3779b97f4a7c15n) & MASK_62
  x = ((x ^ (x >> 31n)) * 0x3f58476d1ce4e5b9n) & MASK_62
  return String((x ^ (x >> 29n)) | (2n ** 62n))
}

const LINES: Record<Rewrite, (line: string) => string> = {
  'wide-values': (line) => line.replace(/,(\d+)/, (_, value: string) => `,${wide(value)}`),
  'random-values': (line) => line.replace(/,(\d+)/, (_, value: string) => `,${scatter(value)}`),
  'wide-keys': (line) => line.replace(/\((\d+)/, (_, key: string) => `(${wide(key)}`),
  'string-keys': (line) =>
    line.replace(/\["([rw])",(\d+)/g, (_, kind: string, key: string) => `["${kind}","user:${key}"`),
}

const BATCH_LINES = 20_000

export async function rewriteFile(from: string, to: string, rewrite: Rewrite): Promise<void> {
  const change = LINES[rewrite]
  const file = openSync(to, 'w')
  try {
    let batch: string[] = []
    for await (const line of createInterface({ input: createReadStream(from) })) {
      batch.push(change(line))
      if (batch.length < BATCH_LINES) continue
      writeSync(file, `${batch.join('\n')}\n`)
      batch = []
    }
    if (batch.length > 0) writeSync(file, `${batch.join('\n')}\n`)
  } finally {
    closeSync(file)
  }
}
