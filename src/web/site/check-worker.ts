// The worker as the page sees it: one question at a time, which can be taken back. A worker that is
// busy hears nothing, so taking back means to end it; the next question starts another. Main class:
// CheckWorker.

import { lacksPart } from './failure.ts'
import type { Answer, Progress, Request, Told } from './protocol.ts'

interface Pending {
  readonly id: number
  readonly resolve: (answer: Answer | null) => void
  readonly tell: (progress: Progress) => void
}

export class CheckWorker {
  private worker: Worker | null = null
  private pending: Pending | null = null
  private count = 0

  constructor() {
    this.start()
  }

  get isBusy(): boolean {
    return this.pending !== null
  }

  /** The answer; null if the question was taken back. A new question takes back the last. */
  ask(request: Request, tell: (progress: Progress) => void = () => {}): Promise<Answer | null> {
    this.cancel()
    const id = ++this.count
    return new Promise((resolve) => {
      this.pending = { id, resolve, tell }
      this.start().postMessage({ id, request })
    })
  }

  /** Takes back the question that is open, and with it what the worker knows. */
  cancel(): void {
    const { pending } = this
    if (!pending) return
    this.stop()
    pending.resolve(null)
  }

  private start(): Worker {
    if (this.worker) return this.worker
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<Told>) => this.hear(data))
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      const { pending } = this
      this.stop()
      // One whose script did not come has nothing to tell.
      if (!event.message) return pending?.resolve(lacksPart())
      pending?.resolve({
        kind: 'failed',
        message: `the check stopped: ${event.message}`,
        hint: 'the history may be too large for this browser: use the command line, isobar check',
        place: null,
      })
    })
    this.worker = worker
    return worker
  }

  private stop(): void {
    this.worker?.terminate()
    this.worker = null
    this.pending = null
  }

  private hear({ id, answer, progress }: Told): void {
    const { pending } = this
    if (pending?.id !== id) return
    if (progress) pending.tell(progress)
    if (!answer) return
    this.pending = null
    pending.resolve(answer)
  }
}
