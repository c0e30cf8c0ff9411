// The ways to write: into a new file that takes its place when it is complete, at the end of a
// file, through a pipe or device, a directory of files. Failures of the system become InputErrors
// with a sentence; a reader that has seen enough is none.

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { InputError } from '../base/errors.ts'
import { followLinks } from './identity.ts'
import {
  discard,
  makeTemporaryDirectory,
  makeTemporaryFile,
  openInside,
  settle,
} from './temporary.ts'

/** Takes bytes that are valid until it returns. */
export type Sink = (bytes: Uint8Array) => void

type Fill = (sink: Sink) => void

const FULL_PIPE_MS = 2 // how long to wait before looking again whether a reader made room
const NO_READER_MS = 10_000 // how long to wait for somebody to open the other end of a pipe

/** A file on its way, which has another name until it is complete. */
export interface Whole {
  write(bytes: Uint8Array): void
  /** Gives it its name. @param lasts once it is on disk, so that it is whole after a power cut */
  finish(lasts?: boolean): void
  /** Leaves nothing of it. */
  abandon(): void
}

/** @param replaces whether another may go for it */
export function openWhole(path: string, replaces: boolean): Whole {
  const place = followLinks(path)
  const made = attempt(path, () => makeTemporaryFile(dirname(place)))
  let isOpen = true
  const close = () => {
    if (isOpen) attempt(path, () => closeSync(made.file))
    isOpen = false
  }
  const abandon = () => {
    close()
    discard(made.path)
  }
  try {
    if (replaces) keepMode(made.file, place)
  } catch (error) {
    abandon()
    throw error
  }
  return {
    write: (bytes) => putAll(made.file, path, bytes),
    finish: (lasts = false) => {
      try {
        if (lasts) attempt(path, () => fsyncSync(made.file))
        close()
        attempt(path, () =>
          replaces ? renameSync(made.path, place) : giveName(made.path, place, path),
        )
        settle(made.path)
      } catch (error) {
        discard(made.path)
        throw error
      }
    },
    abandon,
  }
}

/**
 * A file that is complete as soon as it is there.
 * @param replaces whether another may go for it
 * @param lasts see Whole
 */
export function writeWhole(path: string, replaces: boolean, fill: Fill, lasts = false): number {
  const whole = openWhole(path, replaces)
  let total = 0
  try {
    fill((bytes) => {
      whole.write(bytes)
      total += bytes.length
    })
  } catch (error) {
    whole.abandon()
    throw error
  }
  whole.finish(lasts)
  return total
}

function keepMode(file: number, place: string): void {
  if (existsSync(place)) fchmodSync(file, statSync(place).mode & 0o777)
}

/** Names the file without ever replacing one that holds something, whoever made it meanwhile. */
function giveName(temporary: string, place: string, path: string): void {
  try {
    linkSync(temporary, place)
    unlinkSync(temporary)
  } catch (error) {
    const { code } = error as { code?: string }
    const isThere = code === 'EEXIST' || existsSync(place)
    if (isThere && (!statSync(place).isFile() || statSync(place).size > 0)) throw appeared(path)
    // An empty file may be filled; and some file systems know no links.
    renameSync(temporary, place)
  }
}

function appeared(path: string): InputError {
  const error = new InputError(
    'unwritable-file',
    'somebody else wrote it meanwhile; it was left alone',
  )
  error.path = path
  return error
}

/** At the end of what is there, on a line of its own; all of it or nothing. */
export function appendTo(path: string, fill: Fill): number {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT
  const file = attempt(path, () => openSync(path, flags, 0o666))
  try {
    const before = attempt(path, () => fstatSync(file).size)
    try {
      return fillFile(file, path, (sink) => {
        if (before > 0 && lastByte(file, before) !== 10) sink(Uint8Array.of(10))
        fill(sink)
      })
    } catch (error) {
      ftruncateSync(file, before)
      throw error
    }
  } finally {
    closeSync(file)
  }
}

function lastByte(file: number, size: number): number {
  const byte = new Uint8Array(1)
  readSync(file, byte, 0, 1, size - 1)
  return byte[0]!
}

/** Standard output, a device, a pipe; whoever reads it may have seen enough before the end. */
export function writeThrough(path: string, fill: Fill, standard?: number): number {
  const file = standard ?? openThrough(path)
  try {
    return fillFile(file, path === '-' ? 'standard output' : path, fill)
  } catch (error) {
    if (error instanceof ClosedPipe) return 0
    throw error
  } finally {
    if (standard === undefined) closeSync(file)
  }
}

/** Without waiting for a reader for ever. */
function openThrough(path: string): number {
  const flags = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0)
  for (let waitedMs = 0; ; waitedMs += FULL_PIPE_MS) {
    try {
      return openSync(path, flags)
    } catch (error) {
      const isAlone = (error as { code?: string }).code === 'ENXIO'
      if (!isAlone || waitedMs > NO_READER_MS) throw unwritable(error, path)
      wait()
    }
  }
}

/** A directory that is complete as soon as it is there. */
export function writeTree(
  path: string,
  replaces: boolean,
  fill: (open: (name: string) => Sink) => void,
): number {
  const place = followLinks(path)
  const name = attempt(path, () => makeTemporaryDirectory(dirname(place)))
  let total = 0
  let file: number | null = null
  const close = () => {
    const open = file
    file = null
    if (open !== null) attempt(path, () => closeSync(open))
  }
  try {
    // One file at a time: there may be more sessions than files that may be open.
    fill((part) => {
      close()
      const current = attempt(path, () => openInside(name, part))
      file = current
      return (bytes) => {
        total += bytes.length
        putAll(current, path, bytes)
      }
    })
    close()
    attempt(path, () => putInPlace(name, place, replaces))
    settle(name)
    return total
  } catch (error) {
    close()
    discard(name)
    throw error
  }
}

/** The old directory goes only when the new one has its name. */
function putInPlace(name: string, place: string, replaces: boolean): void {
  if (!replaces) return renameSync(name, place) // fails where something holds anything
  const aside = makeTemporaryDirectory(dirname(place))
  const old = join(aside, 'old')
  try {
    renameSync(place, old)
    renameSync(name, place)
  } finally {
    if (existsSync(old) && !existsSync(place)) renameSync(old, place)
    discard(aside)
  }
}

function fillFile(file: number, path: string, fill: Fill): number {
  let total = 0
  fill((bytes) => {
    putAll(file, path, bytes)
    total += bytes.length
  })
  return total
}

function putAll(file: number, path: string, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += putSome(file, path, bytes, at)
}

/** Writes what there is room for; a full pipe is waited for. */
function putSome(file: number, path: string, bytes: Uint8Array, at: number): number {
  try {
    return writeSync(file, bytes, at)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EPIPE') throw new ClosedPipe('nobody reads any more')
    if (code !== 'EAGAIN') throw unwritable(error, path)
    wait()
    return 0
  }
}

/** Ends the filling, and is nobody's fault. */
class ClosedPipe extends Error {}

function wait(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS)
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw error instanceof InputError ? error : unwritable(error, path)
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such directory',
  EEXIST: 'a file of that name is there',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'it may not be written here',
  EPERM: 'it may not be written here',
  EROFS: 'it may not be written here',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'the file would be too large',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many links lead there',
  ENXIO: 'nobody reads from the other end',
  ENOTEMPTY: 'somebody else wrote it meanwhile; it was left alone',
}

/** The operating system's word for it, as an InputError. */
export function unwritable(error: unknown, path: string): InputError {
  const { code, message } = error as { code?: string; message?: string }
  const reason = REASONS[code ?? ''] ?? message ?? 'it cannot be written'
  const failure = new InputError('unwritable-file', `cannot be written: ${reason}`)
  failure.path = path
  return failure
}
