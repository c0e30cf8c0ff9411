// Runs commands of the built command line in a thread that stays for the next one. They have no
// standard input, directory, environment or signals of their own. Main function: runInThread.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Outcome } from './command.ts'

const PATIENCE_MS = 110_000

interface Thread {
  readonly port: MessagePort
  /** Set to 1 when a command has ended. */
  readonly ended: Int32Array
}

let thread: Thread | null = null

function startThread(): Thread {
  const { port1: port, port2: far } = new MessageChannel()
  const ended = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('thread-program.mjs', import.meta.url), {
    workerData: { port: far, ended },
    transferList: [far],
    execArgv: [],
  })
  worker.unref()
  port.unref()
  return { port, ended }
}

/** Waits as a process would be waited for, so that a test reads like what a user types. */
export function runInThread(args: readonly string[]): Outcome {
  thread ??= startThread()
  const { port, ended } = thread
  Atomics.store(ended, 0, 0)
  port.postMessage(args)
  if (Atomics.wait(ended, 0, 0, PATIENCE_MS) === 'timed-out') {
    thread = null
    throw new Error(`isobar ${args.join(' ')} has not ended after ${PATIENCE_MS} ms`)
  }
  return receiveMessageOnPort(port)!.message
}
