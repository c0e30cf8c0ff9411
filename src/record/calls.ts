// Calls from one thread to another, each with an answer: the name of what is called and plain data
// go there, what it returns or throws comes back. Errors that say something about the world arrive
// as what they were, so that whoever catches them can tell. If the other thread is gone, whoever
// waits for it is told. Main class: Calls.

import { DatabaseError, InputError, UsageError } from '../base/errors.ts'

/** One end of a channel between threads: a Worker, or in one its `parentPort`. */
export interface Port {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: Message) => void): unknown
}

/** What can be called from the other side. */
export type Served = Readonly<Record<string, (argument: never) => unknown>>

type Message =
  | {
      readonly kind: 'call'
      readonly id: number
      readonly name: string
      readonly argument: unknown
    }
  | { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: PlainError }

/** Nobody waits for an answer. */
const NO_ANSWER = 0

export class Calls {
  private lastId = NO_ANSWER
  private readonly waiting = new Map<number, Waiting>()
  private gone: Error | null = null

  constructor(
    private readonly port: Port,
    private readonly served: Served,
  ) {
    port.on('message', (message) => this.take(message))
  }

  /** Calls something there. Rejects with what it throws, or if the other thread is gone. */
  call<Result>(name: string, argument: unknown = null): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.gone) return reject(this.gone)
      const id = ++this.lastId
      this.waiting.set(id, { resolve, reject } as Waiting)
      this.port.postMessage({ kind: 'call', id, name, argument })
    })
  }

  /** Calls something there that returns nothing. */
  tell(name: string, argument: unknown = null): void {
    this.port.postMessage({ kind: 'call', id: NO_ANSWER, name, argument })
  }

  /** The other thread is gone: nobody answers any more. */
  end(why: Error): void {
    this.gone ??= why
    for (const { reject } of this.waiting.values()) reject(this.gone)
    this.waiting.clear()
  }

  private take(message: Message): void {
    if (message.kind === 'call') {
      void this.serve(message)
      return
    }
    const waiting = this.waiting.get(message.id)
    this.waiting.delete(message.id)
    if (message.kind === 'answer') waiting?.resolve(message.result)
    else waiting?.reject(errorOf(message.error))
  }

  private async serve({ id, name, argument }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const result = await this.served[name]!(argument as never)
      if (id !== NO_ANSWER) this.port.postMessage({ kind: 'answer', id, result })
    } catch (error) {
      if (id === NO_ANSWER) throw error // nobody else would hear of it
      this.port.postMessage({ kind: 'failure', id, error: plainError(error) })
    }
  }
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** An error as data: copied from thread to thread, one would lose its class. */
export interface PlainError {
  readonly name: string
  readonly message: string
  readonly hint: string | null
  readonly stack: string | undefined
  /** Of what could not be read or written. */
  readonly code: string
  readonly path: string | null
}

export function plainError(thrown: unknown): PlainError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack } = error
  const said = error as Partial<Pick<InputError, 'hint' | 'code' | 'path'>>
  return {
    ...{ name, message, stack },
    ...{ hint: said.hint ?? null, code: said.code ?? '', path: said.path ?? null },
  }
}

export function errorOf({ name, message, hint, stack, code, path }: PlainError): Error {
  if (name === 'DatabaseError') return new DatabaseError(message, hint)
  if (name === 'UsageError') return new UsageError(message, hint)
  if (name === 'InputError') {
    const error = new InputError(code, message, null, hint)
    error.path = path
    return error
  }
  const error = new Error(message)
  error.name = name
  if (stack !== undefined) error.stack = stack // where it was thrown
  return error
}
