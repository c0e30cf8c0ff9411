// Messages of PostgreSQL's protocol: cut from a stream of bytes, read and made. A message has a
// letter, a length that counts itself, and a body; the first of a client has no letter. Main
// classes: Framer, Reader; main function: frame.

/** More than the server takes in one message. */
const MAX_LENGTH = 1 << 30
/** What the server takes for the first. */
const MAX_FIRST_LENGTH = 10_000

/** Bytes that are no messages. */
export class FrameError extends Error {}

/** Cuts messages from chunks as they come. */
export class Framer {
  private chunks: Buffer[] = []
  private offset = 0 // of the first chunk, up to where it was read
  /** Bytes that are here and were not taken. */
  length = 0

  constructor(/** Whether messages begin with a letter. */ public isLettered: boolean) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.length += chunk.length
  }

  /** The next whole message; null if there is none yet. Throws FrameError. */
  next(): Buffer | null {
    const head = this.isLettered ? 5 : 4
    if (this.length < head) return null
    const first = this.peek(head)
    const stated = first.readInt32BE(head - 4)
    if (stated < 4 || stated > (this.isLettered ? MAX_LENGTH : MAX_FIRST_LENGTH)) {
      throw new FrameError(`a message cannot have ${stated} bytes`)
    }
    const whole = stated + head - 4
    return this.length < whole ? null : this.take(whole)
  }

  /** The letter of the next message; '' if it is not here. */
  get nextLetter(): string {
    return this.length === 0 ? '' : String.fromCharCode(this.peek(1)[0]!)
  }

  /** Whatever is here. */
  rest(): Buffer {
    return this.take(this.length)
  }

  /** The first bytes that were not taken, which are here. */
  private peek(count: number): Buffer {
    if (this.chunks[0]!.length - this.offset < count) {
      this.chunks[0] = this.chunks[0]!.subarray(this.offset)
      this.chunks = [Buffer.concat(this.chunks)]
      this.offset = 0
    }
    return this.chunks[0]!.subarray(this.offset, this.offset + count)
  }

  private take(count: number): Buffer {
    if (count === 0) return Buffer.alloc(0)
    const taken = this.peek(count)
    this.offset += count
    this.length -= count
    if (this.offset === this.chunks[0]!.length) {
      this.chunks.shift()
      this.offset = 0
    }
    return taken
  }
}

export function letterOf(message: Buffer): string {
  return String.fromCharCode(message[0]!)
}

/** Reads the body of a message with a letter. */
export class Reader {
  private at = 5

  constructor(readonly message: Buffer) {}

  byte(): number {
    return this.message.readUInt8(this.at++)
  }

  int16(): number {
    this.at += 2
    return this.message.readInt16BE(this.at - 2)
  }

  int32(): number {
    this.at += 4
    return this.message.readInt32BE(this.at - 4)
  }

  bytes(count: number): Buffer {
    this.at += count
    return this.message.subarray(this.at - count, this.at)
  }

  /** Up to a zero byte. */
  text(): Buffer {
    const end = this.message.indexOf(0, this.at)
    if (end < 0) throw new FrameError('text without an end')
    const text = this.message.subarray(this.at, end)
    this.at = end + 1
    return text
  }

  string(): string {
    return this.text().toString('utf8')
  }

  rest(): Buffer {
    return this.message.subarray(this.at)
  }
}

export type Part = Buffer | string | number[]

/** A message of some parts: bytes, text that ends with a zero byte, numbers of 16 bits. */
export function frame(letter: string, ...parts: Part[]): Buffer {
  const body = parts.map((part) => {
    if (typeof part === 'string') return Buffer.from(`${part}\0`)
    return Array.isArray(part) ? int16s(part) : part
  })
  const length = body.reduce((sum, { length: more }) => sum + more, 4)
  return Buffer.concat([Buffer.from(letter), int32(length), ...body], length + 1)
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int16s(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, 2 * i)
  return bytes
}
