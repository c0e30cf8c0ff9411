// Drafts told as files: transactions of all sessions in a seeded order that keeps session order,
// and judged on disk in parts so small that every history is spread over several of them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InputError } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { writeNative } from '../../../src/formats/native/write.ts'
import { findPlainFile, type PlainFile } from '../../../src/formats/pieces.ts'
import { HistoryBuilder } from '../../../src/history/builder.ts'
import type { History } from '../../../src/history/history.ts'
import type { SpillSizes } from '../../../src/spill/spilled-history.ts'
import { addDraft, type Draft } from '../../small/draft.ts'

/** A few operations a part, a few transactions a piece. */
export const TINY: SpillSizes = {
  pieceBytes: 128,
  buckets: 3,
  blockBytes: 32,
  bucketBytes: 1 << 20,
  windowBytes: 1 << 20,
}

/** The history of a draft whose sessions take turns at random; null if it is bad input. */
export function tell(draft: Draft, seed: number): History | null {
  const random = new Random(seed)
  const left = draft.sessions.map((txns, session) => ({ session, txns: [...txns] }))
  const told = [...(draft.lead ?? [])]
  for (let open = left; ; ) {
    open = open.filter(({ txns }) => txns.length > 0)
    if (open.length === 0) break
    const { session, txns } = random.pick(open)
    told.push({ session, txn: txns.shift()! })
  }
  const builder = new HistoryBuilder(draft.initial, 32)
  addDraft(builder, told, (number) => number + 1)
  try {
    return builder.finish()
  } catch (error) {
    if (error instanceof InputError) return null
    throw error
  }
}

/** A directory for the files of a test. */
export class Files {
  readonly directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  private count = 0

  write(text: string | Uint8Array): PlainFile {
    const path = join(this.directory, `${this.count++ % 4}.jsonl`)
    writeFileSync(path, text)
    return findPlainFile(path, null)!
  }

  native(history: History): PlainFile {
    const pieces: Uint8Array[] = []
    writeNative(history, (bytes) => pieces.push(bytes.slice()))
    return this.write(Buffer.concat(pieces))
  }

  remove(): void {
    rmSync(this.directory, { recursive: true })
  }
}
