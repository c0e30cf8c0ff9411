// Recorded lines on their way to a file while the application runs. The file gets its name when it
// is complete: without its last line it would claim to tell everything. Main class: LineFile.

import { Outputs } from '../../files/output.ts'
import type { Whole } from '../../files/write.ts'

const WRITE_AT_CHARS = 1 << 16

/**
 * How a file is written.
 *
 * @example
 * record(pool).save('history.jsonl', { force: true })
 */
export interface LineFileOptions {
  /** Replaces a file that holds something. */
  readonly force?: boolean
  /** @internal How to say so, where it is no option of this. */
  readonly remedy?: string
}

export class LineFile {
  private readonly file: Whole
  private readonly encoder = new TextEncoder()
  private buffer: string[] = []
  private length = 0
  isClosed = false

  /** Throws UsageError, InputError. */
  constructor(
    readonly path: string,
    { force = false, remedy = '{ force: true }' }: LineFileOptions,
  ) {
    this.file = new Outputs(force, remedy).claim(path, 'save').open()
  }

  write(line: string): void {
    this.buffer.push(line)
    this.length += line.length
    if (this.length >= WRITE_AT_CHARS) this.flush()
  }

  private flush(): void {
    const bytes = this.encoder.encode(this.buffer.join(''))
    this.buffer = []
    this.length = 0
    this.file.write(bytes)
  }

  close(): void {
    this.isClosed = true
    try {
      this.flush()
    } catch (error) {
      this.file.abandon()
      throw error
    }
    this.file.finish()
  }
}
