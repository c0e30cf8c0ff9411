// Reads the history that a command works on. On a terminal it shows how far reading has come, or
// what is waited for: standard input and pipes may stay silent for ever.

import { type ReadOptions, type ReadResult, readHistory } from '../formats/open.ts'
import { cut, plain } from '../report/names.ts'
import { Progress } from './progress.ts'

/** @param format the input's, by content unless given */
export async function readInput(
  path: string,
  format?: string,
  progress = new Progress(),
): Promise<ReadResult> {
  try {
    return await readHistory(path, {
      ...(format === undefined ? {} : { format }),
      ...showReading(path, progress),
    })
  } finally {
    progress.done()
  }
}

/** What reading calls on its way. */
export function showReading(
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
