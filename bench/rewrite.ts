// Histories the generator does not make, from ones it does: the same text with other names for
// values and keys. A line at a time, so that a file of gigabytes fits.

import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Rewrite = 'wide-values' | 'wide-keys' | 'string-keys'

/** Nineteen digits: beyond what a double holds exactly, within unsigned 64 bits. */
const wide = (n: string) => (n === '0' ? n : `9007199${n.padStart(12, '0')}`)

const LINES: Record<Rewrite, (line: string) => string> = {
  'wide-values': (line) => line.replace(/,(\d+)/, (_, value: string) => `,${wide(value)}`),
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
