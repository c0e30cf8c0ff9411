// Recorded lines on their way to a file while the application runs. The file gets its name when it
// is complete: without its last line it would claim to tell everything. Main class: LineFile.

import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs'
import { UsageError } from '../../base/errors.ts'
import { unwritable } from '../../files/write.ts'

const WRITE_AT_CHARS = 1 << 16

export class LineFile {
  private readonly file: number
  private readonly unfinished: string
  private buffer: string[] = []
  private length = 0

  constructor(readonly path: string) {
    if (existsSync(path))
      throw new UsageError(`${path} exists already`, 'name a file that does not')
    this.unfinished = `${path}.part`
    try {
      this.file = openSync(this.unfinished, 'w', 0o644)
    } catch (error) {
      throw unwritable(error, path)
    }
  }

  write(line: string): void {
    this.buffer.push(line)
    this.length += line.length
    if (this.length >= WRITE_AT_CHARS) this.flush()
  }

  private flush(): void {
    const bytes = Buffer.from(this.buffer.join(''))
    this.buffer = []
    this.length = 0
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at)
    } catch (error) {
      throw unwritable(error, this.path)
    }
  }

  close(): void {
    this.flush()
    closeSync(this.file)
    renameSync(this.unfinished, this.path)
  }
}
