// Plume text parsed ahead by a second thread: it reads the chunks of a file that the reader has not
// come to yet, and parses their usual lines by the same kernel (line-kernel.ts). The reader takes
// what it finds done, and parses itself what is not: where the thread has not begun yet, from the
// first unusual line of a chunk on, and all if there is no such thread. So the history is the same,
// and the worst that can happen is that nothing is gained. What pays is that the thread starts
// while the reader reads: it takes longer to start than to parse 30 MB.
//
// A chunk is claimed by one of the two, by its state; what was made of it lies in one of a few
// slots of shared memory, which is used again when the reader is through with it. The thread has
// no module of its own, but functions as text, so that it starts at once and wherever the package
// lies. Main class: ReadAhead.

import type { readSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { kernelParts, SHORTEST_LINE, type UsualLines, type WebAssemblyApi } from './line-kernel.ts'

const CHUNK_BYTES = 1 << 19
const SLOTS = 8
/** A chunk takes milliseconds; whoever waits longer than this goes on alone. */
const PATIENCE_MS = 1000

// States of a chunk.
const FREE = 0
const AHEAD = 1 // the thread is at it; 2 when it is done
const OURS = 3
/** In `control`: the chunk that the reader is at. */
const READER_AT = 0

// Of a slot, in words: how many lines and changes, where the lines begin and end within the file,
// counted from the chunk's beginning; then columns.
const LINES = 0
const CHANGE_COUNT = 1
const FROM = 2
const TO = 3
const HEAD = 4

export interface Task {
  readonly file: number
  readonly chunkCount: number
  readonly chunkBytes: number
  readonly slots: number
  readonly mostLines: number
  readonly shared: SharedArrayBuffer[] // control, states, then for each slot words and kinds
  readonly kernel: ReturnType<typeof kernelParts>
}

export interface LinesAhead extends UsualLines {
  readonly lines: number
  /** Where they begin in the file, and where the last one ends. */
  readonly from: number
  readonly to: number
}

export class ReadAhead {
  readonly chunkBytes: number
  private readonly control: Int32Array
  private readonly states: Int32Array
  private readonly words: Int32Array[]
  private readonly kinds: Uint8Array[]
  private readonly mostLines: number
  private isAlone = false

  /** Null where there is no second processor, or no thread to be had. */
  static start(file: number, sizeBytes: number): ReadAhead | null {
    if (availableParallelism() < 2) return null
    try {
      return new ReadAhead(file, sizeBytes, CHUNK_BYTES, SLOTS, runInThread)
    } catch {
      return null
    }
  }

  /** @param run gets the task, and sees to it that it is done, now or later */
  constructor(
    file: number,
    sizeBytes: number,
    chunkBytes: number,
    private readonly slots: number,
    run: (task: Task) => void,
  ) {
    const chunkCount = Math.ceil(sizeBytes / chunkBytes)
    const kernel = kernelParts()
    const mostLines = Math.ceil(chunkBytes / SHORTEST_LINE) + 1
    const wordCount = HEAD + mostLines * (2 + kernel.CHANGE_STRIDE)
    const share = (bytes: number) => new SharedArrayBuffer(bytes)
    const buffers = Array.from({ length: slots }, () => [share(wordCount * 4), share(mostLines)])
    const shared = [share(4), share(chunkCount * 4), ...buffers.flat()]
    this.chunkBytes = chunkBytes
    this.mostLines = mostLines
    this.control = new Int32Array(shared[0]!)
    this.states = new Int32Array(shared[1]!)
    this.words = buffers.map(([buffer]) => new Int32Array(buffer!))
    this.kinds = buffers.map(([, buffer]) => new Uint8Array(buffer!))
    run({ file, chunkCount, chunkBytes, slots, mostLines, shared, kernel })
  }

  /** What is known of the chunk, for which the reader waits; null if it has to parse it itself. */
  take(chunk: number): LinesAhead | null {
    const { control, states } = this
    Atomics.store(control, READER_AT, chunk)
    Atomics.notify(control, READER_AT)
    if (Atomics.compareExchange(states, chunk, FREE, OURS) === FREE) return null
    while (Atomics.load(states, chunk) === AHEAD) {
      if (this.isAlone) return null
      this.isAlone = Atomics.wait(states, chunk, AHEAD, PATIENCE_MS) === 'timed-out'
    }
    return this.found(chunk)
  }

  /** The thread no longer touches the file when this returns, or has long been silent. */
  stop(): void {
    const { control, states } = this
    Atomics.store(control, READER_AT, states.length)
    Atomics.notify(control, READER_AT)
    for (let chunk = 0; chunk < states.length; chunk++) {
      if (Atomics.compareExchange(states, chunk, FREE, OURS) !== AHEAD) continue
      Atomics.wait(states, chunk, AHEAD, PATIENCE_MS)
    }
  }

  private found(chunk: number): LinesAhead {
    const { mostLines } = this
    const words = this.words[chunk % this.slots]!
    const start = chunk * this.chunkBytes
    return {
      lines: words[LINES]!,
      changeCount: words[CHANGE_COUNT]!,
      from: start + words[FROM]!,
      to: start + words[TO]!,
      keys: words.subarray(HEAD, HEAD + mostLines),
      values: words.subarray(HEAD + mostLines, HEAD + 2 * mostLines),
      changes: words.subarray(HEAD + 2 * mostLines),
      kinds: this.kinds[chunk % this.slots]!,
    }
  }
}

function runInThread(workerData: Task): void {
  const data = "require('node:worker_threads').workerData"
  const made = [makeKernel, parserOf, runAhead].map((f) => `const ${f.name} = ${f};`).join('\n')
  // What some compilers wrap functions in is not known there.
  const code = `const __name = (f) => f;
${made}
runAhead(${data}, parserOf(${data}, makeKernel(${data}), require('node:fs').readSync))`
  const worker = new Worker(code, {
    eval: true,
    workerData,
    execArgv: [],
    trackUnmanagedFds: false,
  })
  worker.on('error', () => {}) // whoever waits for it goes on alone
  worker.unref()
}

/** What the thread does, without one. */
export function parseAhead(task: Task, read: typeof readSync): void {
  runAhead(task, parserOf(task, makeKernel(task), read))
}

// The functions from here on go to the thread as text: they name nothing but their parameters.

interface Kernel {
  readonly parse: (end: number, id: number, session: number) => number
  readonly results: Int32Array
  readonly input: Uint8Array
  readonly keys: Int32Array
  readonly values: Int32Array
  readonly changes: Int32Array
  readonly kinds: Uint8Array
}

function makeKernel({ kernel }: Task): Kernel {
  const { layout, pages, code, BEHIND, KERNEL_BYTES, CHANGE_STRIDE } = kernel
  const { INPUT, KEYS, VALUES, CHANGES, KINDS, MOST_LINES } = layout
  const api = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly
  const memory = new api.Memory({ initial: pages })
  const { parse } = new api.Instance(new api.Module(code), { env: { memory } }).exports
  const { buffer } = memory
  return {
    parse,
    results: new Int32Array(buffer, 0, 2),
    input: new Uint8Array(buffer, INPUT, KERNEL_BYTES + BEHIND),
    keys: new Int32Array(buffer, KEYS, MOST_LINES),
    values: new Int32Array(buffer, VALUES, MOST_LINES),
    changes: new Int32Array(buffer, CHANGES, MOST_LINES * CHANGE_STRIDE),
    kinds: new Uint8Array(buffer, KINDS, MOST_LINES),
  }
}

/** A function that reads a chunk and puts its usual lines into its slot, up to the first unusual. */
function parserOf(task: Task, made: Kernel, read: typeof readSync): (chunk: number) => void {
  const { file, chunkBytes, slots, mostLines, shared } = task
  const { layout, BEHIND, KERNEL_BYTES, CHANGE_STRIDE } = task.kernel
  const { parse, results, input, keys, values, changes, kinds } = made
  const [head, newline] = [4, 10]
  // The byte before a chunk tells whether a line begins with it; the last line may go on behind it.
  const bytes = new Uint8Array(1 + chunkBytes + BEHIND)
  return (chunk) => {
    const words = new Int32Array(shared[2 + (chunk % slots) * 2]!)
    const slotKinds = new Uint8Array(shared[3 + (chunk % slots) * 2]!)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got) {
      const place = chunk * chunkBytes - 1 + length
      got = read(file, bytes, length, bytes.length - length, place)
    }
    const text = bytes.subarray(0, length)
    const to = text.lastIndexOf(newline) + 1 // whole lines end there
    const limit = Math.min(1 + chunkBytes, to) // lines that begin behind it are not of this chunk
    const begin = to === 0 ? 0 : Math.min(text.indexOf(newline) + 1, limit)
    let at = begin
    let [lines, changeCount, id, session] = [0, 0, -1, -1]
    for (let isUsual = true; at < limit && isUsual; ) {
      input.set(text.subarray(at, Math.min(to, at + KERNEL_BYTES + BEHIND)))
      const blockBytes = Math.min(limit - at, KERNEL_BYTES)
      const count = parse(layout.INPUT + blockBytes, id, session)
      const parsed = results[layout.STOP >> 2]! - layout.INPUT
      const changed = (results[layout.CHANGES_END >> 2]! - layout.CHANGES) / (CHANGE_STRIDE * 4)
      words.set(keys.subarray(0, count), head + lines)
      words.set(values.subarray(0, count), head + mostLines + lines)
      slotKinds.set(kinds.subarray(0, count), lines)
      for (let i = 0; i < changed; i++) {
        const into = head + 2 * mostLines + (changeCount + i) * CHANGE_STRIDE
        id = changes[i * CHANGE_STRIDE + 1]!
        session = changes[i * CHANGE_STRIDE + 2]!
        words[into] = changes[i * CHANGE_STRIDE]! + lines
        words[into + 1] = id
        words[into + 2] = session
      }
      lines += count
      changeCount += changed
      at += parsed
      isUsual = parsed >= blockBytes
    }
    words.set([lines, changeCount, begin - 1, at - 1])
  }
}

/** Parses chunks that the reader has not claimed, as far ahead of it as there are slots. */
function runAhead({ chunkCount, slots, shared }: Task, parseChunk: (chunk: number) => void): void {
  const [free, ahead, done] = [0, 1, 2] as const
  const control = new Int32Array(shared[0]!)
  const states = new Int32Array(shared[1]!)
  for (let chunk = 1; chunk < chunkCount; chunk++) {
    // A slot is free when the reader has gone beyond the chunk that lies in it.
    for (;;) {
      const readerAt = Atomics.load(control, 0)
      if (readerAt > chunk - slots) break
      Atomics.wait(control, 0, readerAt)
    }
    if (Atomics.compareExchange(states, chunk, free, ahead) !== free) continue
    try {
      parseChunk(chunk)
    } catch {
      new Int32Array(shared[2 + (chunk % slots) * 2]!).fill(0, 0, 2) // the reader will see why
    }
    Atomics.store(states, chunk, done)
    Atomics.notify(states, chunk)
  }
}
