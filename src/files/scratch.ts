// Space on disk for work that does not fit into memory. A scratch file is opened and its name is
// taken away at once, so that its space is free again however the program ends: at its end, by
// Ctrl-C, by a crash. Where a file cannot lose its name while it is open, it goes when it is
// closed, and what a run that was killed left behind goes when the next one begins. Only files by
// our name, whose process is gone, are ever removed. Main class: Scratch.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InputError } from '../base/errors.ts'

const { O_RDWR, O_CREAT, O_EXCL } = constants
const EXCLUSIVE = O_RDWR | O_CREAT | O_EXCL | (constants.O_NOFOLLOW ?? 0)
const OURS = /^isobar-scratch-(\d+)-[\w-]{12}$/

export class Scratch {
  private readonly open = new Set<ScratchFile>()
  private readonly directory: string

  /** @param directory where to put files, which must exist; null: the system's own */
  constructor(directory: string | null) {
    this.directory = directory ?? tmpdir()
    expectDirectory(this.directory)
    removeLeftovers(this.directory)
  }

  file(): ScratchFile {
    const name = `isobar-scratch-${process.pid}-${randomBytes(9).toString('base64url')}`
    const made = new ScratchFile(join(this.directory, name), (file) => this.open.delete(file))
    this.open.add(made)
    return made
  }

  /** Gives all space back. */
  close(): void {
    for (const file of [...this.open]) file.close()
  }
}

/** Bytes that are written at the end, and read or written anew anywhere. */
export class ScratchFile {
  length = 0
  private readonly descriptor: number
  private readonly hasName: boolean

  constructor(
    private readonly path: string,
    private readonly onClose: (file: ScratchFile) => void,
  ) {
    try {
      this.descriptor = openSync(path, EXCLUSIVE, 0o600)
    } catch (error) {
      throw scratchError(error)
    }
    this.hasName = !remove(path)
  }

  /** Appends bytes; returns where they begin. */
  append(bytes: Uint8Array): number {
    const at = this.length
    this.rewrite(at, bytes)
    this.length += bytes.length
    return at
  }

  /** Writes over what stands at `at`. */
  rewrite(at: number, bytes: Uint8Array): void {
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.descriptor, bytes, done, bytes.length - done, at + done)
      }
    } catch (error) {
      throw scratchError(error)
    }
  }

  /** Fills `into` with what stands at `at`. */
  read(at: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      let count: number
      try {
        count = readSync(this.descriptor, into, done, into.length - done, at + done)
      } catch (error) {
        throw scratchError(error)
      }
      if (count === 0) throw new InputError('scratch', 'a scratch file was cut off by somebody')
      done += count
    }
  }

  close(): void {
    closeSync(this.descriptor)
    if (this.hasName) remove(this.path)
    this.onClose(this)
  }
}

function remove(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch {
    return false
  }
}

function expectDirectory(directory: string): void {
  let isDirectory = false
  try {
    isDirectory = statSync(directory).isDirectory()
  } catch (error) {
    throw scratchError(error)
  }
  if (isDirectory) return
  throw new InputError('scratch', `${directory} is not a directory`, null, HINT)
}

const HINT = '--scratch names a directory that exists and has room for about the size of the file'

/** Files that a run left behind which is gone. */
function removeLeftovers(directory: string): void {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    throw scratchError(error)
  }
  for (const name of names) {
    const pid = Number(OURS.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) remove(join(directory, name))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH'
  }
}

function scratchError(error: unknown): InputError {
  const { code, message } = error as { code?: string; message?: string }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const said = isFull
    ? 'the disk of the scratch directory is full'
    : `the scratch directory cannot be used: ${message ?? code}`
  const hint = isFull ? 'name a directory with more room: --scratch DIR' : HINT
  return new InputError(isFull ? 'scratch-full' : 'scratch', said, null, hint)
}
