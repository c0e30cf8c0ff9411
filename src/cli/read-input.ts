// Reads the history that a command works on. On a terminal it shows how far reading has come, or
// what is waited for: standard input and pipes may stay silent for ever. Main functions: readInput,
// readWithin.

import { Deadline, withProgress } from '../base/deadline.ts'
import { type ReadOptions, type ReadResult, readHistory } from '../formats/open.ts'
import { cut, plain } from '../report/names.ts'
import { Progress } from './progress.ts'

/**
 * @param format the input's, by content unless given
 * @param duplicateValues whether values may be written twice
 */
export async function readInput(
  path: string,
  format?: string,
  progress = new Progress(),
  duplicateValues = false,
): Promise<ReadResult> {
  try {
    return await readWithin(path, { format: format ?? null, duplicateValues }, progress)
  } finally {
    progress.done()
  }
}

/** What reading may take. */
export interface ReadBudget {
  /** The input's, by content if null. */
  readonly format: string | null
  /** Whether values may be written twice. */
  readonly duplicateValues?: boolean
  readonly budgetMs?: number | null
  readonly memoryBytes?: number | null
  /** When the time began to run, as `nowMs` counts. */
  readonly budgetFromMs?: number
}

/** Of a budget's time: laying out what was read takes up to a third of what reading took. */
const READ_SHARE = 0.75
const SMALL_BYTES = 1 << 20 // are read before anybody could say that it took too long

const NODE_BYTES = 64 * 2 ** 20 // what the program takes before it reads anything

/** Laying out what was read takes up to as much memory again as reading it took. */
function layoutBytes(): number {
  return Math.max(0, process.memoryUsage.rss() - NODE_BYTES)
}

/** Throws BudgetExceeded, also when nothing comes in that time. */
export function readWithin(
  path: string,
  { format, duplicateValues, budgetMs = null, memoryBytes = null, budgetFromMs = 0 }: ReadBudget,
  progress: Progress,
): Promise<ReadResult> {
  const share = { fromMs: budgetFromMs, share: READ_SHARE }
  const deadline = new Deadline(budgetMs, memoryBytes, null, share)
  const show = showReading(path, progress)
  const options: ReadOptions = {
    onProgress: (bytes, total) => {
      show.onProgress(bytes, total)
      if (bytes <= SMALL_BYTES) return
      withProgress(
        () => {
          deadline.check()
          // To ask how much is used takes longer than to read on.
          if (memoryBytes !== null) deadline.reserve(layoutBytes())
        },
        () => `${Math.floor(bytes / 1048576)} MB of the history were read`,
      )
    },
    // The document is there twice, and needs no laying out.
    onParse: (documentBytes) => {
      if (documentBytes <= SMALL_BYTES) return
      withProgress(
        () => {
          deadline.check()
          if (memoryBytes === null) return
          deadline.reserve(Math.max(0, layoutBytes() - 2 * documentBytes))
        },
        () => `${Math.floor(documentBytes / 1048576)} MB of the history were read`,
      )
    },
    onWait: () => {
      show.onWait()
      withProgress(
        () => deadline.check(),
        () => 'nothing more came in that time',
      )
    },
    ...(format === null ? {} : { format }),
    ...(duplicateValues ? { duplicateValues } : {}),
    ...(memoryBytes === null ? {} : { memoryBytes }),
  }
  return readHistory(path, options)
}

/** What reading calls on its way. */
function showReading(
  path: string,
  progress: Progress,
): Required<Pick<ReadOptions, 'onProgress' | 'onWait'>> {
  const name = path === '-' ? 'standard input' : cut(plain(path))
  return {
    onProgress: (bytes, total) =>
      progress.report(`reading ${name}`, total > 0 ? bytes / total : null),
    onWait: () => progress.report(`waiting for ${name}`),
  }
}
