// Writing histories to files and directories; files/output.ts sees to it that nothing is destroyed.

import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { type Output, Outputs } from '../files/output.ts'
import type { History } from '../history/history.ts'
import { FORMATS, type Format, findFormat } from './formats.ts'
import type { Sink } from './sink.ts'

/**
 * How a file is written.
 *
 * @example
 * const raced = await race(pool, actors)
 * raced.save('race.json', { force: true })
 */
export interface SaveOptions {
  /** Replace a file that exists. */
  readonly force?: boolean
  /** Operations in the order of their lines, where the format has a line for each. */
  readonly opOrder?: Int32Array | null
}

/** Writes the history; returns how many bytes it took. `-` is standard output. */
export function saveHistory(
  path: string,
  format: Format,
  history: History,
  { force, opOrder }: SaveOptions = {},
): number {
  return writeHistory(claimHistory(new Outputs(force), path, format), format, history, opOrder)
}

/** Says, before the work begins, where a history in this format will be written. */
export function claimHistory(outputs: Outputs, path: string, format: Format): Output {
  const what = 'the output'
  if (format.fileEndings) return outputs.claimDirectory(path, what, format.fileEndings)
  return outputs.claim(path, what)
}

/**
 * Returns how many bytes it took.
 * @param onBytes called with the bytes written so far
 */
export function writeHistory(
  output: Output,
  format: Format,
  history: History,
  opOrder: Int32Array | null = null,
  onBytes: (bytes: number) => void = () => {},
): number {
  const { writeFiles } = format
  let written = 0
  const counted =
    (sink: Sink): Sink =>
    (bytes) => {
      sink(bytes)
      written += bytes.length
      onBytes(written)
    }
  if (writeFiles) return output.writeFiles((open) => writeFiles(history, (n) => counted(open(n))))
  const zip = output.path.endsWith('.gz')
  return output.write((sink) => {
    // Each chunk is a member of its own, which together are one compressed file.
    const zipped: Sink = zip ? (bytes) => sink(gzipSync(bytes)) : sink
    return format.write(history, counted(zipped), opOrder)
  })
}

/** The format to write: the one named, else by the ending of the file's name, else native. */
export function formatFor(path: string, id?: string): Format {
  const named = id === undefined ? null : findFormat(id)
  if (named) return named
  if (id !== undefined) {
    const known = FORMATS.map((format) => format.id)
    throw new UsageError(`unknown format ${JSON.stringify(id)}`, hintFor(id, known))
  }
  const ending = extname(path.replace(/\.gz$/i, '')).slice(1).toLowerCase()
  return FORMATS.find((format) => format.extensions.includes(ending)) ?? findFormat('native')!
}

/** Throws if the format cannot hold all of the history, naming what it cannot. */
export function refuseMisfits(format: Format, history: History, hint: string): void {
  const misfits = format.misfits(history)
  if (misfits.length === 0) return
  throw new UsageError(`${format.name} cannot hold ${misfits.join(', nor ')}`, hint)
}
