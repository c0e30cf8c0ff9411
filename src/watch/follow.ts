// The bytes of a file that grows, as they come. The file must only ever get longer: one that
// shrinks, is replaced by another, or changes where it was read already is an error, because what
// was judged is then no longer what the file says. Main class: GrowingFile.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { InputError } from '../base/errors.ts'
import { fileError } from '../formats/open.ts'

const CHUNK_BYTES = 1 << 20
const CHECKED_BYTES = 64 // before the place where reading goes on, to see that it is the same file

export class GrowingFile {
  private readonly file: number
  private readonly buffer = new Uint8Array(CHUNK_BYTES)
  private last = new Uint8Array(0) // the last bytes that were read

  /** Bytes that were read. */
  offset = 0

  constructor(readonly path: string) {
    try {
      this.file = openSync(path, 'r')
    } catch (error) {
      throw this.named(fileError(error))
    }
    const stat = fstatSync(this.file)
    if (!stat.isFile()) throw this.fail('unwatchable', 'this is not a file', 'name a file, or -')
  }

  /** Goes on from there. */
  skipTo(offset: number): void {
    this.offset = offset
    this.remember()
  }

  /** What is new, null if nothing is; to be used before the next call. */
  read(): Uint8Array | null {
    this.expectSame()
    const length = readSync(this.file, this.buffer, 0, CHUNK_BYTES, this.offset)
    if (length === 0) return null
    this.offset += length
    const chunk = this.buffer.subarray(0, length)
    if (length >= CHECKED_BYTES) this.last = chunk.slice(-CHECKED_BYTES)
    else this.remember()
    return chunk
  }

  close(): void {
    closeSync(this.file)
  }

  /** The last bytes before the offset, at most so many; fewer if the file is shorter by now. */
  bytesBefore(offset: number, most: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.min(most, offset))
    const length = readSync(this.file, bytes, 0, bytes.length, offset - bytes.length)
    return bytes.subarray(0, length)
  }

  private remember(): void {
    this.last = this.bytesBefore(this.offset, CHECKED_BYTES)
  }

  private expectSame(): void {
    const { size, ino, dev } = fstatSync(this.file)
    if (size < this.offset) {
      const message = `the file has shrunk from ${this.offset} bytes to ${size}`
      throw this.fail('shrunk-file', message, SAME_FILE)
    }
    let there: { ino: number; dev: number }
    try {
      there = statSync(this.path)
    } catch (error) {
      throw this.named(fileError(error))
    }
    if (there.ino !== ino || there.dev !== dev) {
      throw this.fail('replaced-file', 'the file was replaced by another one', SAME_FILE)
    }
    if (Buffer.compare(this.bytesBefore(this.offset, CHECKED_BYTES), this.last) !== 0) {
      const message = 'the file has changed where it had been read already'
      throw this.fail('changed-file', message, SAME_FILE)
    }
  }

  private fail(code: string, message: string, hint: string): InputError {
    return this.named(new InputError(code, message, null, hint))
  }

  private named(error: InputError): InputError {
    error.path ??= this.path
    return error
  }
}

const SAME_FILE = 'a watched file may only grow; watch it anew'
