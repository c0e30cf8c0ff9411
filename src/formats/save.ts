// Writing histories to files. A file appears under its name only when it is complete: it is written
// beside it under another name first, then renamed. Devices and pipes are written to directly.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { InputError, UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { FORMATS, type Format, findFormat } from './formats.ts'
import type { Sink } from './sink.ts'

const FULL_PIPE_MS = 2 // how long to wait for a reader

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
  options: SaveOptions = {},
): number {
  const force = options.force === true
  if (format.writeFiles && path !== '-') return saveDirectory(path, force, format, history)
  const zip = path.endsWith('.gz')
  return saveFile(path, force, (sink) =>
    format.write(history, zip ? zipped(sink) : sink, options.opOrder),
  )
}

/** Compresses each chunk as a member of its own, which together are one compressed file. */
function zipped(sink: Sink): Sink {
  return (bytes) => sink(gzipSync(bytes))
}

/** Has a directory written under another name and renames it when it is complete. */
function saveDirectory(path: string, force: boolean, format: Format, history: History): number {
  const old = existsSync(path)
  if (old) checkDirectory(path, force, format)
  const target = join(dirname(path), basename(path))
  const name = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  let total = 0
  let handle: number | null = null
  const close = () => {
    if (handle !== null) closeSync(handle)
    handle = null
  }
  try {
    makeDirectory(name, path)
    // One file at a time: there may be more sessions than files that may be open.
    format.writeFiles!(history, (file) => {
      close()
      const current = openSync(join(name, file), 'w')
      handle = current
      return (bytes) => {
        for (let at = 0; at < bytes.length; ) at += writeSync(current, bytes, at)
        total += bytes.length
      }
    })
    close()
    if (old) rmSync(target, { recursive: true })
    renameSync(name, target)
    return total
  } catch (error) {
    close()
    rmSync(name, { recursive: true, force: true })
    throw error
  }
}

/** Only a directory that holds nothing but such a history may be replaced. */
function checkDirectory(path: string, force: boolean, format: Format): void {
  if (!statSync(path).isDirectory()) {
    throw new UsageError(`${path} is a file`, `${format.id} histories are directories`)
  }
  const names = readdirSync(path)
  if (names.length === 0) return
  if (!force) throw new UsageError(`${path} exists already`, '--force replaces it')
  const other = names.find((name) => !format.fileEndings!.test(name))
  if (other === undefined) return
  throw new UsageError(`${path} is not replaced: it also holds ${JSON.stringify(other)}`)
}

function makeDirectory(name: string, path: string): void {
  try {
    mkdirSync(name)
  } catch (error) {
    throw unwritable(error, path)
  }
}

/** The format to write: the one named, else by the ending of the file's name, else native. */
export function formatFor(path: string, id?: string): Format {
  const named = id === undefined ? null : findFormat(id)
  if (named) return named
  if (id !== undefined) {
    const known = FORMATS.map((format) => format.id).join(', ')
    throw new UsageError(`unknown format ${JSON.stringify(id)}`, `there are ${known}`)
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

/** Refuses to replace a file unless forced to; call it before a long computation. */
export function checkTarget(path: string, force: boolean): void {
  if (path === '-' || force || !existsSync(path) || !statSync(path).isFile()) return
  throw new UsageError(`${path} exists already`, '--force replaces it')
}

/** Has a file written under another name and renames it when it is complete. */
export function saveFile(path: string, force: boolean, write: (sink: Sink) => void): number {
  checkTarget(path, force)
  if (path === '-') return writeToPipe(write)
  const exists = existsSync(path)
  if (exists && statSync(path).isDirectory()) {
    throw new InputError('unwritable-file', `${path} is a directory`)
  }
  const target = exists ? realpathSync(path) : path
  const direct = exists && !statSync(target).isFile()
  const name = direct ? target : join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  const file = openForWriting(name, path)
  try {
    const bytes = writeAll(file, write)
    closeSync(file)
    if (!direct) renameSync(name, target)
    return bytes
  } catch (error) {
    if (!direct) unlinkSync(name)
    throw error
  }
}

function openForWriting(name: string, path: string): number {
  try {
    return openSync(name, 'w')
  } catch (error) {
    throw unwritable(error, path)
  }
}

function unwritable(error: unknown, path: string): InputError {
  const { code, message } = error as { code?: string; message?: string }
  const reason =
    code === 'ENOENT'
      ? 'there is no such directory'
      : code === 'EACCES' || code === 'EROFS'
        ? 'the directory may not be written to'
        : (message ?? 'the file cannot be written')
  return new InputError('unwritable-file', `${path}: ${reason}`)
}

/** Standard output; whoever reads it may have seen enough before the end. */
function writeToPipe(write: (sink: Sink) => void): number {
  try {
    return writeAll(1, write)
  } catch (error) {
    if ((error as { code?: string }).code === 'EPIPE') return 0
    throw error
  }
}

function writeAll(file: number, write: (sink: Sink) => void): number {
  let total = 0
  write((bytes) => {
    for (let at = 0; at < bytes.length; ) at += writeSome(file, bytes, at)
    total += bytes.length
  })
  return total
}

/** Writes what there is room for; a full pipe is waited for. */
function writeSome(file: number, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(file, bytes, at)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EAGAIN') throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS)
    return 0
  }
}
