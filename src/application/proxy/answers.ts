// Answers in the making: what the server says to a request, passed on to the client as it comes but
// for what was added, and told to the session when it is complete. Main classes: Answer,
// SimpleAnswer, ReadyAnswer.

import type { DriverResult } from '../observe/driver.ts'
import type { Cells, Probe } from '../observe/probe.ts'
import type { Session, Statement, Status } from '../observe/session.ts'
import {
  readError,
  readTag,
  type ServerError,
  withoutCells,
  withoutColumns,
  withPosition,
} from './backend.ts'

/** An answer that did not come: no error of the server's. */
export const LOST = new Error('the connection was lost')

/** What answers need of the wire (wire.ts) that they come by. */
interface Hearer {
  readonly session: Session
  /** What the client sends rows for. */
  copying: Answer | null
  toClient(message: Buffer): void
}

export abstract class Answer {
  /** Whether it is to a request of the proxy's own. */
  readonly isOurs: boolean = false
  /** Whether it ends with the server being ready, also after an error. */
  readonly endsReady: boolean = false
  /** Whether a transaction may end by it that no statement ends. */
  readonly endsTransaction: boolean = false
  private waiting: (() => void)[] = []
  private isOver = false

  /** Takes a message; whether it was the last one. */
  abstract take(letter: string, message: Buffer): boolean

  /** The server says that the request has failed. */
  fail(_error: ServerError, _message: Buffer): void {}

  /** An earlier request failed, and the server has ignored this one. */
  drop(): void {}

  /** The connection was lost before. */
  lose(): void {
    this.drop()
  }

  /** Until it is over, or the client has to say more. */
  wait(): Promise<void> {
    return this.isOver ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve))
  }

  end(): void {
    this.isOver = true
    this.wake()
  }

  wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

/** Rows of an answer on their way to the client, rid of what was added. */
export class Rows {
  /** False: cells that were added could not be read. */
  isReadable = true

  constructor(
    private readonly wire: Hearer,
    private readonly probe: Probe | null,
    /** Where what was added goes; null: nobody asks for it. */
    private readonly cells: Cells[] | null,
  ) {}

  describe(message: Buffer): void {
    const { probe } = this
    if (probe === null) this.wire.toClient(message)
    else if (probe.visible) this.wire.toClient(withoutColumns(message, probe.hidden))
  }

  row(message: Buffer): void {
    const { probe } = this
    if (probe === null) return this.wire.toClient(message)
    const { row, cells } = withoutCells(message, probe.hidden)
    if (cells === null) this.isReadable = false
    else this.cells?.push(cells)
    if (probe.visible) this.wire.toClient(row)
  }

  error(message: Buffer): void {
    this.wire.toClient(this.probe === null ? message : withPosition(message, this.probe))
  }
}

const UNREADABLE = 'rows that are not UTF-8'

/** Gives up recording a statement whose rows could not be read. */
export function expectReadable(session: Session, statement: Statement, rows: Rows): void {
  if (!rows.isReadable) session.abandon(statement, UNREADABLE)
}

export function statusOf(message: Buffer): Status {
  return String.fromCharCode(message[5]!) as Status
}

/** To a text with one statement or several: everything until the server is ready. */
export class SimpleAnswer extends Answer {
  override readonly endsReady = true
  private readonly results: DriverResult[] = []
  private readonly rows: Rows
  private error: ServerError | null = null

  constructor(
    private readonly wire: Hearer,
    private readonly statement: Statement,
    private readonly done: (isGood: boolean) => void,
  ) {
    super()
    this.rows = new Rows(wire, statement.probe, statement.cells)
  }

  override take(letter: string, message: Buffer): boolean {
    const { wire, rows } = this
    if (letter === 'T') rows.describe(message)
    else if (letter === 'D') rows.row(message)
    else if (letter === 'E') {
      this.error = readError(message)
      rows.error(message)
    } else {
      if (letter === 'C') this.results.push({ ...readTag(message), rows: [] })
      if (letter === 'Z') this.finish(statusOf(message))
      wire.toClient(message)
      if (letter === 'G') {
        wire.copying = this
        this.wake()
      }
    }
    return letter === 'Z'
  }

  private finish(status: Status): void {
    const { session } = this.wire
    const { statement, results, error } = this
    session.status = status
    expectReadable(session, statement, this.rows)
    const [first = NO_RESULT] = results
    // As the driver has it: several results are a list.
    const result = results.length > 1 ? (results as unknown as DriverResult) : first
    session.finish(statement, error, error === null ? result : null)
    this.done(error === null)
  }

  override lose(): void {
    this.wire.session.finish(this.statement, this.error ?? LOST, null)
  }
}

export const NO_RESULT: DriverResult = { command: '', rowCount: null, rows: [] }

/** To a Sync, or a call of a function: until the server is ready. */
export class ReadyAnswer extends Answer {
  override readonly endsReady = true
  override readonly endsTransaction = true
  private hasFailed = false

  constructor(
    private readonly wire: Hearer,
    private readonly done: (status: Status) => void,
  ) {
    super()
  }

  override take(letter: string, message: Buffer): boolean {
    if (letter === 'E') this.hasFailed = true
    if (letter === 'Z') {
      const status = statusOf(message)
      this.wire.session.synced(status, this.hasFailed)
      this.done(status)
    }
    this.wire.toClient(message)
    return letter === 'Z'
  }
}

/** To a request that is answered by one message, such as Bind; errors go to the client. */
export class PlainAnswer extends Answer {
  override readonly isOurs: boolean
  private readonly wire: Hearer
  private readonly probe: Probe | null
  private readonly last: string
  private readonly hear: (letter: string, message: Buffer) => void
  private readonly undo: () => void

  /**
   * @param last letters of messages that end it
   */
  constructor(
    wire: Hearer,
    last: string,
    given: {
      /** The client hears nothing of it. */
      isOurs?: boolean
      /** What was added to the statement. */
      probe?: Probe | null
      hear?: (letter: string, message: Buffer) => void
      /** Called when it was not done. */
      undo?: () => void
    } = {},
  ) {
    super()
    this.wire = wire
    this.last = last
    this.isOurs = given.isOurs ?? false
    this.probe = given.probe ?? null
    this.hear = given.hear ?? (() => {})
    this.undo = given.undo ?? (() => {})
  }

  override take(letter: string, message: Buffer): boolean {
    this.hear(letter, message)
    if (!this.isOurs) this.wire.toClient(message)
    return this.last.includes(letter)
  }

  override fail(_error: ServerError, message: Buffer): void {
    this.undo()
    this.wire.session.broke()
    this.wire.toClient(this.probe === null ? message : withPosition(message, this.probe))
  }

  override drop(): void {
    this.undo()
  }
}
