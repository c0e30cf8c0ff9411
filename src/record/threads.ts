// Sessions in other threads than that of the run: one thread feeds a server no faster than its own
// processor time allows, and leaves other processors idle. Each thread has a crew (crew.ts) with
// its own connections, its own part of the plan and its own recorder; it is told what to do by
// calls (calls.ts), and asks the run in the same way. If it dies, the run ends as an error, and
// what it had begun is indeterminate: the file has it as it was. Main class: ThreadCrew.

import { Worker } from 'node:worker_threads'
import { InternalError } from '../base/errors.ts'
import type { TakenKeys } from './audit.ts'
import { Calls, errorOf, type PlainError } from './calls.ts'
import type { Crew, Host, Opened, Orders } from './crew.ts'
import type { Reach } from './database.ts'
import type { RecorderPart } from './recorder.ts'
import type { Tally } from './session.ts'
import type { WorkOrder } from './work-order.ts'

/** What a thread begins with. */
export interface ThreadOrders {
  readonly orders: Orders
  /** Of `Places`. */
  readonly resting: SharedArrayBuffer
  /** It says, too, which of the threads it is. */
  readonly recorder: RecorderPart
  readonly work: WorkOrder
  readonly reach: Reach
}

/** Something as it goes between threads, where an error would lose its class. */
export type PlainOpened = { readonly count: number; readonly failure: PlainError | null }

export class ThreadCrew implements Crew {
  tally: Readonly<Tally> = { committed: 0, aborted: 0, indeterminate: 0, failures: new Map() }
  private readonly calls: Calls
  private isClosed = false
  private isGone = false

  /** @param worker as startThread starts it */
  constructor(
    private readonly worker: Worker,
    host: Host,
  ) {
    this.calls = new Calls(worker, {
      ensureKeys: (count: number) => host.ensureKeys(count),
      noteLoss: () => host.noteLoss(),
      fail: (error: PlainError) => host.fail(errorOf(error)),
      note: (tally: Tally) => {
        this.tally = tally
      },
    })
    const end = (why: Error) => {
      this.calls.end(why)
      this.isGone = true
      if (!this.isClosed) host.fail(why)
    }
    worker.once('error', end)
    worker.once('exit', () => end(new InternalError('a thread of the run has ended')))
  }

  async open(atOnce: number): Promise<Opened> {
    const { count, failure } = await this.calls.call<PlainOpened>('open', atOnce)
    return { count, failure: failure && errorOf(failure) }
  }

  async run(): Promise<void> {
    await this.calls.call('run')
  }

  async runLast(): Promise<void> {
    await this.calls.call('runLast')
  }

  rest(): Promise<TakenKeys> {
    return this.calls.call('rest')
  }

  goOn(): void {
    this.calls.tell('goOn')
  }

  stop(): void {
    this.calls.tell('stop')
  }

  /** Throws what a thread that is there could not write. */
  async close(): Promise<void> {
    if (this.isGone) return
    this.isClosed = true
    try {
      await this.calls.call('close')
    } finally {
      await this.worker.terminate()
    }
  }
}

/** The script that a build makes of crew-thread.ts, beside the one that this file becomes part of. */
const BUILT = 'crew-thread.cjs'

export function startThread(workerData: ThreadOrders): Worker {
  const here = import.meta.url
  const options = { workerData, execArgv: [], trackUnmanagedFds: false }
  if (!here.endsWith('.ts')) return new Worker(new URL(BUILT, here), options)
  // In the source tree a thread has to be told how to load TypeScript.
  const source = JSON.stringify(new URL('crew-thread.ts', here).href)
  const code = `import('tsx/esm/api').then(({ register }) => {
    register()
    return import(${source})
  })`
  return new Worker(code, { ...options, eval: true })
}
