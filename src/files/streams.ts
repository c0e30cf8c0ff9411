// Many streams of records in one scratch file. Each has a buffer in memory; a buffer that is full
// becomes a block of the file. A record lies in one block, so that a block can be decoded by
// itself. Written first, then read, each stream from its beginning. Main class: Streams.

import { enlarged, FloatColumn, IntColumn } from '../base/grow.ts'
import type { Scratch, ScratchFile } from './scratch.ts'

const NONE = -1

export class Streams {
  /** Where records are put: see `room`. */
  bytes: Uint8Array
  private fill: Int32Array // stream -> bytes of its buffer in use
  private first: Int32Array // stream -> its first block
  private last: Int32Array // stream -> its last block
  private readonly blockAt = new FloatColumn(64) // block -> where it begins in the file
  private readonly blockLength = new IntColumn(64) // block -> bytes
  private readonly blockNext = new IntColumn(64) // block -> the next one of its stream
  private file: ScratchFile | null = null // from the first block on
  private isWritten = false
  private buffer = new Uint8Array(0) // the block that was read last
  private readonly blockBytes: number

  constructor(
    private readonly scratch: Scratch,
    public count: number,
    blockBytes: number,
  ) {
    this.blockBytes = blockBytes
    this.bytes = new Uint8Array(count * blockBytes)
    this.fill = new Int32Array(count)
    this.first = new Int32Array(count).fill(NONE)
    this.last = new Int32Array(count).fill(NONE)
  }

  /** Makes room for more streams, which are empty. */
  grow(count: number): void {
    if (count <= this.count) return
    this.bytes = enlarged(this.bytes, count * this.blockBytes)
    this.fill = enlarged(this.fill, count)
    this.first = enlarged(this.first, count, NONE)
    this.last = enlarged(this.last, count, NONE)
    this.count = count
  }

  /** Where in `bytes` the next record of a stream may begin, with room for so many bytes. */
  room(stream: number, size: number): number {
    const { blockBytes, fill } = this
    if (fill[stream]! + size > blockBytes) this.flush(stream)
    return stream * blockBytes + fill[stream]!
  }

  /** The record of a stream ends here. */
  end(stream: number, at: number): void {
    this.fill[stream] = at - stream * this.blockBytes
  }

  /** A record that may be larger than a block. */
  put(stream: number, record: Uint8Array): void {
    if (record.length > this.blockBytes) {
      this.flush(stream)
      this.addBlock(stream, record)
      return
    }
    const at = this.room(stream, record.length)
    this.bytes.set(record, at)
    this.end(stream, at + record.length)
  }

  /** Nothing more is written. */
  finish(): void {
    for (let stream = 0; stream < this.count; stream++) this.flush(stream)
    this.bytes = new Uint8Array(0)
    this.isWritten = true
  }

  /** The blocks of a stream; each is overwritten by the next. */
  *blocks(stream: number): Generator<Uint8Array> {
    for (let block = this.first[stream]!; block !== NONE; block = this.blockNext.data[block]!) {
      const length = this.blockLength.data[block]!
      if (this.buffer.length < length) this.buffer = new Uint8Array(length)
      const bytes = this.buffer.subarray(0, length)
      this.file!.read(this.blockAt.data[block]!, bytes)
      yield bytes
    }
  }

  /** Bytes of a stream on disk. */
  sizeOf(stream: number): number {
    let size = 0
    for (let block = this.first[stream]!; block !== NONE; block = this.blockNext.data[block]!) {
      size += this.blockLength.data[block]!
    }
    return size
  }

  /** The first block of a stream, NONE if it is empty. */
  firstBlock(stream: number): number {
    return this.first[stream]!
  }

  nextBlock(block: number): number {
    return this.blockNext.data[block]!
  }

  /** A block in memory of its own. */
  readBlock(block: number): Uint8Array {
    const bytes = new Uint8Array(this.blockLength.data[block]!)
    this.file!.read(this.blockAt.data[block]!, bytes)
    return bytes
  }

  /** Gives the space back. */
  close(): void {
    this.file?.close()
    this.file = null
  }

  private flush(stream: number): void {
    const length = this.fill[stream]!
    if (length === 0) return
    const from = stream * this.blockBytes
    this.addBlock(stream, this.bytes.subarray(from, from + length))
    this.fill[stream] = 0
  }

  private addBlock(stream: number, bytes: Uint8Array): void {
    if (this.isWritten) throw new Error('the streams are finished')
    const block = this.blockAt.length
    this.file ??= this.scratch.file()
    this.blockAt.push(this.file.append(bytes))
    this.blockLength.push(bytes.length)
    this.blockNext.push(NONE)
    if (this.first[stream] === NONE) this.first[stream] = block
    else this.blockNext.data[this.last[stream]!] = block
    this.last[stream] = block
  }
}
