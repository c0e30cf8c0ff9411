// Histories that are directories: Cobra's and Viper's, with one file a session, and those that keep
// the history in a file of a known name, such as Jepsen's store. Needs Node.

import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { compareNatural } from './files.ts'
import { HEAD_BYTES } from './parse.ts'
import { type FormatReader, READERS } from './readers.ts'

/** Files that are the history of the directory they stand in; the last one in a Jepsen store. */
const HISTORY_FILES = ['history.bincode', 'history.edn', join('latest', 'history.edn')]

export interface HistoryDirectory {
  /** The file to read instead, or null. */
  readonly file: string | null
  /** The format, and the names of its files in order, if the directory itself is the history. */
  readonly format: FormatReader | null
  readonly names: readonly string[]
}

/** What history a directory is, or null if it is none; `format` forces one. */
export function findHistoryDirectory(path: string, format?: string): HistoryDirectory | null {
  const names = readdirSync(path).filter((name) => isFile(join(path, name)))
  const file = HISTORY_FILES.map((name) => join(path, name)).find(isFile)
  if (file !== undefined) return { file, format: null, names: [] }
  for (const candidate of READERS) {
    const { fileEndings } = candidate
    if (fileEndings === undefined || (format !== undefined && format !== candidate.id)) continue
    const chosen = names.filter((name) => fileEndings.test(name)).sort(compareNatural)
    const heads = chosen.map((name) => readHead(join(path, name))).filter((head) => head !== '')
    if (heads.length === 0) continue
    if (format !== undefined || heads.every((head) => candidate.detect(head))) {
      return { file: null, format: candidate, names: chosen }
    }
  }
  return null
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false // a link that leads nowhere
  }
}

/** How a file begins, as Latin-1 text; empty if it cannot be read. */
function readHead(path: string): string {
  try {
    const file = openSync(path, 'r')
    const buffer = Buffer.alloc(HEAD_BYTES)
    const length = readSync(file, buffer, 0, buffer.length, 0)
    closeSync(file)
    return buffer.toString('latin1', 0, length)
  } catch {
    return ''
  }
}
