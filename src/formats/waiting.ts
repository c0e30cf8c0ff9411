// Inputs that somebody else writes while we read: standard input and named pipes. They may stay
// silent for ever, so whoever waits for them is told about it now and then, and may give up by
// throwing. Main functions: chunksInTime, openPipe.

import { closeSync, constants, openSync, readSync, realpathSync } from 'node:fs'
import { Socket } from 'node:net'

const LOOK_MS = 100 // how often a silent input is looked at
const FIRST_BYTES = 1 << 16

/** Called now and then while an input is silent; what it throws ends the waiting. */
export type OnWait = () => void

/** The chunks as they come; calls `close` when they are given up. */
export async function* chunksInTime(
  chunks: AsyncIterator<Uint8Array>,
  onWait: OnWait | undefined,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  let giveUp: (error: unknown) => void = () => {}
  const timer = setInterval(() => {
    try {
      onWait?.()
    } catch (error) {
      giveUp(error)
    }
  }, LOOK_MS)
  try {
    for (;;) {
      const next = await Promise.race([
        chunks.next(),
        new Promise<never>((_, reject) => {
          giveUp = reject
        }),
      ])
      if (next.done) return
      yield next.value
    }
  } finally {
    clearInterval(timer)
    close()
  }
}

/** The chunks of a named pipe. It is opened without waiting for somebody to write to it. */
export async function* openPipe(
  path: string,
  onWait: OnWait | undefined,
): AsyncGenerator<Uint8Array> {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  let first: Uint8Array
  try {
    first = await firstOf(file, !isNamed(path), onWait)
  } catch (error) {
    closeSync(file)
    throw error
  }
  yield first
  const socket = new Socket({ fd: file, readable: true, writable: false })
  yield* chunksInTime(socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>, onWait, () =>
    socket.destroy(),
  )
}

/** What comes first, nothing if the pipe was closed without a byte. */
async function firstOf(
  file: number,
  hasWriter: boolean,
  onWait: OnWait | undefined,
): Promise<Uint8Array> {
  const buffer = new Uint8Array(FIRST_BYTES)
  let isOpened = hasWriter
  for (;;) {
    const length = readNow(file, buffer)
    // Nothing to read and nothing to wait for: nobody has opened the other end, or no longer.
    if (length !== null && (length > 0 || isOpened)) return buffer.subarray(0, length)
    isOpened ||= length === null
    onWait?.()
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS / 10))
  }
}

/** How many bytes there are; null if the other end is open but has not written any. */
function readNow(file: number, buffer: Uint8Array): number | null {
  try {
    return readSync(file, buffer, 0, buffer.length, null)
  } catch (error) {
    if ((error as { code?: string }).code === 'EAGAIN') return null
    throw error
  }
}

/** Pipes without a name, as a shell makes them, have somebody at the other end from the start. */
function isNamed(path: string): boolean {
  try {
    return !realpathSync(path).startsWith('/proc/')
  } catch {
    return false
  }
}
