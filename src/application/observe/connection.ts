// One connection of the application's driver. Its statements pass through here, one after the other
// as the driver sends them anyway: each is held up if a hook wishes, sent with more columns in its
// answer, and recorded (session.ts) before the application sees what it asked for. Main class:
// Connection.

import {
  type DriverClient,
  type DriverQuery,
  type DriverResult,
  isFromServer,
  type QueryClass,
} from './driver.ts'
import { hideColumns, movePosition, nameAsAsked, onAnswer, queryFrom } from './driver-query.ts'
import { PreparedNames } from './prepared.ts'
import { Reuse } from './reuse.ts'
import { NOT_TOLD, Session, type Shared, type Statement, type Status } from './session.ts'
import { shapeOf } from './shape.ts'

/** SQLSTATEs of a name that there is not, and of one whose statement returns other types now. */
const [INVALID_NAME, FEATURE_NOT_SUPPORTED] = ['26000', '0A000']

/**
 * A class, and so is Taken: literals that V8 takes for long-lived are made where only a full
 * collection looks, and keep the query alive, which tripled the time of collecting garbage.
 */
class Job {
  constructor(
    readonly query: DriverQuery,
    /** As the application gave them. */
    readonly name: string | undefined,
    readonly asked: string,
    readonly statement: Statement,
  ) {}
}

export class Connection {
  private readonly queue: (() => void)[] = [] // what begins each statement that waits for its turn
  private isBusy = false
  /** Whether a statement failed of which the server is yet to say how it left the transaction. */
  private isUnsettled = false
  private readonly session: Session
  private readonly prepared: PreparedNames
  private readonly reuse: Reuse
  private readonly listener = (message: { status?: string }): void => {
    this.session.status = (message.status as Status | undefined) ?? this.session.status
    this.goOn()
  }

  private readonly onEnd = (): void => {
    this.goOn()
    if (!this.isBusy) this.session.lost()
  }

  constructor(
    readonly number: number,
    readonly client: DriverClient,
    private readonly Query: QueryClass,
    private readonly send: (...given: unknown[]) => unknown,
    private readonly shared: Shared,
  ) {
    this.session = new Session(number, shared, (text, values) => this.ask(text, values), true)
    this.prepared = new PreparedNames(client)
    this.reuse = new Reuse(client, shared.recorder.catalog)
    client.connection!.prependListener('readyForQuery', this.listener)
    client.once('end', this.onEnd)
  }

  stop(): void {
    this.client.connection?.removeListener('readyForQuery', this.listener)
    this.client.removeListener('end', this.onEnd)
    this.goOn()
  }

  get isInTransaction(): boolean {
    return this.session.isInTransaction
  }

  get openSession(): string | null {
    return this.session.openSession
  }

  /** Whether nobody between here and the server may hand the connection to another process. */
  private get isDirect(): boolean {
    return this.session.serverProcess === this.client.processID
  }

  /** As the driver's own `query`. */
  query(...given: unknown[]): unknown {
    const [config] = given
    if (config === null || config === undefined) return this.send(...given) // which throws
    const { hooks } = this.shared
    const actor = hooks.actor?.()
    const isNobody = hooks.actor !== undefined && actor === undefined
    const taken = queryFrom(this.Query, given)
    if (taken === null) {
      this.enqueue(() => this.passBy(given))
      return config
    }
    const { query, result } = taken
    if (query.callback && typeof query.callback !== 'function') return this.send(...given)
    const nobody = 'a statement of no actor'
    this.enqueue(() => (isNobody ? this.passOn(query, nobody) : this.start(query, actor)))
    return result
  }

  private enqueue(begin: () => void): void {
    this.queue.push(begin)
    if (!this.isBusy) this.next()
  }

  private next(): void {
    const begin = this.queue.shift()
    this.isBusy = begin !== undefined
    begin?.()
  }

  /** The next statement, which had to wait until the server said what became of a failed one. */
  private goOn(): void {
    if (!this.isUnsettled) return
    this.isUnsettled = false
    this.next()
  }

  /** Cursors, streams, COPY: unrecorded. What comes behind them the driver itself holds back. */
  private passBy(given: readonly unknown[]): void {
    const own = given[0] as { text?: unknown; cursor?: { text?: unknown } }
    this.pass(own.text ?? own.cursor?.text, 'a cursor, a stream or COPY')
    try {
      this.send(...given)
    } finally {
      this.next()
    }
  }

  /** Statements that nobody asked for, or nobody can read: unrecorded. */
  private passOn(query: DriverQuery, reason: string): void {
    this.pass(query.text, reason)
    onAnswer(
      query,
      () => {},
      () => this.next(),
    )
    this.send(query)
  }

  private pass(text: unknown, reason: string): void {
    this.session.countPassed(text, reason)
    if (typeof text === 'string') this.reuse.follow(shapeOf(text))
    else this.reuse.forget()
  }

  /** Understands a statement whose turn it is, and has it sent as soon as that may be. */
  private start(query: DriverQuery, actor: string | undefined): void {
    const { session } = this
    const { name } = query
    const asked = (!query.text && name ? this.prepared.textOf(name) : null) ?? query.text
    if (typeof asked !== 'string') return this.passOn(query, 'a statement without text')
    const text = this.shared.hooks.rewrite?.(asked, actor) ?? asked
    query.text = text
    const format = query.binary ? 'unreadable' : 'text'
    const statement = session.statement(
      { text, values: query.values ?? [], actor, format },
      this.client.processID ?? null,
    )
    const job = new Job(query, name, asked, statement)
    if (session.isPrepared(statement)) this.submit(job)
    else {
      session.prepare(statement).then(
        () => this.submit(job),
        // What we ask failed: the application's own statement is sent as it is.
        () => this.submit(job, NOT_TOLD),
      )
    }
  }

  /** Something of our own, between the application's statements. */
  private ask(text: string, values: readonly string[] = []): Promise<(string | null)[][]> {
    const types = { getTypeParser: () => (cell: string) => cell }
    return new Promise((resolve, reject) => {
      const query = new this.Query({ text, values: [...values], rowMode: 'array', types })
      query.callback = (error, result) => {
        if (error) reject(error)
        else resolve((result as DriverResult).rows as (string | null)[][])
      }
      this.send(query)
    })
  }

  /** @param reason why it cannot be recorded; null: it may be that it can */
  private submit(job: Job, reason: string | null = null): void {
    const { query, statement } = job
    onAnswer(
      query,
      (error, result) => {
        this.finish(job, error ?? null, result as DriverResult | null)
        // Among several statements, some may have ended a transaction or begun one.
        this.isUnsettled = isFromServer(error) && this.client.readyForQuery === false
      },
      () => {
        if (!this.isUnsettled) this.next()
      },
    )
    const refusal = query.name ? this.prepared.refuse(query.name, job.asked) : null
    if (refusal !== null) {
      process.nextTick(() => query.handleError(refusal, this.client.connection))
      return
    }
    this.session.arrange(statement, reason)
    this.session.send(statement)
    const { probe } = statement
    if (probe !== null) {
      query.text = probe.text
      hideColumns(query, probe, statement.cells)
    }
    if (query.name && query.text !== job.asked) query.name = this.prepared.nameFor(query.text)
    else if (probe !== null && this.isDirect) query.name = this.reuse.nameFor(query, statement)
    this.send(query)
  }

  private finish(job: Job, error: unknown, result: DriverResult | null): void {
    const { query, statement } = job
    if (job.name) this.prepared.note(job.name, job.asked, query, error === null)
    if (error !== null) this.failed(job, error)
    else this.reuse.follow(statement.shape)
    query.text = job.asked
    query.name = job.name
    // It may have changed while the statement waited for its turn.
    statement.values = query.values ?? []
    this.session.finish(statement, error, result)
  }

  /** Makes the error one of the statement that the application knows. */
  private failed({ query, name, statement }: Job, error: unknown): void {
    if (statement.probe !== null) movePosition(error, statement.probe)
    if (query.name) nameAsAsked(error, query.name, name)
    // The driver drops what it cannot fill with values; the server, what has changed.
    const { code } = error as { code?: unknown }
    const isStale = code === INVALID_NAME || code === FEATURE_NOT_SUPPORTED
    if (isStale || !isFromServer(error)) this.reuse.forget()
    else this.reuse.follow(statement.shape)
  }
}
