// The jobs that a history becomes: one, or one for each level, or one for each part that does not
// communicate with the others. Main function: spread.

import { InputError } from '../base/errors.ts'
import { writeNative } from '../formats/native/write.ts'
import type { History } from '../history/history.ts'
import { findRequest } from '../levels/words.ts'
import { readInput } from '../library/input.ts'
import type { FilePart } from './job.ts'
import type { Split } from './plan.ts'
import { isLocal, splitHistory } from './split-history.ts'

/** What a job of a history judges. */
interface Piece {
  readonly levels: readonly string[]
  /** Null: all of it. */
  readonly part: FilePart | null
  /** The same object for pieces of the same bytes. */
  readonly bytes: Buffer
}

/** The pieces of a history, in an order that is always the same. */
export async function spread(
  bytes: Buffer,
  levels: readonly string[],
  split: readonly Split[],
): Promise<Piece[]> {
  const isLocalWord = (word: string) => {
    // Null: whoever judges it will say that the word has no meaning there.
    const request = findRequest(word)
    return request !== null && isLocal(request)
  }
  const parts = split.includes('parts') && levels.some(isLocalWord) ? await partsOf(bytes) : []
  const pieces: Piece[] = []
  const add = (words: readonly string[], of: Buffer, part: FilePart | null) => {
    if (words.length === 0) return
    const groups = split.includes('levels') ? words.map((word) => [word]) : [words]
    for (const group of groups) pieces.push({ levels: group, part, bytes: of })
  }
  if (parts.length < 2) add(levels, bytes, null)
  else {
    add(
      levels.filter((word) => !isLocalWord(word)),
      bytes,
      null,
    )
    const local = levels.filter(isLocalWord)
    for (const [i, part] of parts.entries()) add(local, part, { number: i + 1, of: parts.length })
  }
  return pieces
}

/** None if it cannot be read: whoever judges it will say so. */
async function partsOf(bytes: Buffer): Promise<Buffer[]> {
  try {
    return splitHistory(await readInput(bytes)).map(bytesOf)
  } catch (error) {
    if (error instanceof InputError) return []
    throw error
  }
}

function bytesOf(history: History): Buffer {
  const chunks: Buffer[] = []
  writeNative(history, (chunk) => chunks.push(Buffer.from(chunk)))
  return Buffer.concat(chunks)
}
