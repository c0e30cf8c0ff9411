// A client's requests by parts: statements that are prepared, portals of them with values, rows
// asked for. What the client prepares the server gets as it is. A portal is made of a statement of
// the proxy's own if that can be recorded, under the name that the client gives to the portal. Each
// is answered before the next is sent, so that several before one Sync are recorded one by one;
// they are one transaction, which the Sync ends. Main class: Extended.

import type { DriverResult } from '../observe/driver.ts'
import type { Probe } from '../observe/probe.ts'
import type { Session, Statement, Status } from '../observe/session.ts'
import { isFirst, type Shape } from '../observe/shape.ts'
import {
  Answer,
  expectReadable,
  LOST,
  NO_RESULT,
  PlainAnswer,
  ReadyAnswer,
  Rows,
} from './answers.ts'
import { AskFailed } from './ask.ts'
import { NO_DATA, readTag, readTypes, type ServerError, withoutColumns } from './backend.ts'
import {
  type Bind,
  bindTo,
  close,
  describe,
  execute,
  FLUSH,
  parse,
  readBind,
  readExecute,
  readNamed,
  readParse,
} from './frontend.ts'
import { valuesOf } from './values.ts'
import type { ReadText, Wire } from './wire.ts'

/** Statements of the proxy's own. */
const OWN = 'isobar_probe'

interface Prepared extends ReadText {
  /** Types of its parameters as the client named them. */
  readonly declared: readonly number[]
  /** As the server found them; null: not told yet. */
  found: readonly number[] | null
}

interface Portal {
  readonly statement: Statement
  /** What was added to it. */
  readonly probe: Probe | null
  readonly values: () => readonly unknown[]
  /** How many statements had been executed on the connection when it was last used. */
  at: number
  /** Whether what it did is recorded, or given up. */
  isTold: boolean
}

export class Extended {
  private readonly prepared = new Map<string, Prepared>()
  private readonly portals = new Map<string, Portal>()
  private executions = 0

  constructor(private readonly wire: Wire) {}

  private get session(): Session {
    return this.wire.session
  }

  /** Sends a part of a request. */
  private send(message: Buffer): void {
    this.wire.isSynced = false
    this.wire.toServer(message)
  }

  async parse(message: Buffer): Promise<void> {
    const { wire, prepared } = this
    const { name, text: bytes, types } = readParse(message)
    const made: Prepared = { ...wire.readText(bytes), declared: types, found: null }
    const statement = this.statementOf(made, [])
    // Best asked now: later it would be a part of the client's transaction.
    if (wire.isSynced && made.reason === null && (await this.learn(statement)) === REFUSED) return
    const before = prepared.get(name)
    prepared.set(name, made)
    const undo = () => {
      if (before === undefined) prepared.delete(name)
      else prepared.set(name, before)
    }
    wire.expect(new PlainAnswer(wire, '1', { undo }))
    this.send(message)
    const needsTypes = statement.shape.on !== null && parametersOf(statement.shape) > 0
    if (!needsTypes || (types.length > 0 && !types.includes(0))) return
    wire.expect(new PlainAnswer(wire, 'Tn', { isOurs: true, hear: hearTypes(made) }))
    this.send(describe('S', name))
  }

  async bind(message: Buffer): Promise<void> {
    const { wire, session, portals } = this
    const bind = readBind(message)
    const from = this.prepared.get(bind.statement)
    if (from === undefined) {
      portals.delete(bind.portal)
      wire.expect(new PlainAnswer(wire, '2'))
      return this.send(message)
    }
    const statement = this.statementOf(from, bind.answers)
    const reason =
      from.reason ?? misfit(statement.shape, from, bind) ?? (await this.learn(statement))
    if (reason === REFUSED || wire.isSkipping) return
    session.arrange(statement, reason)
    const { probe } = statement
    const values = () => valuesOf(bind, from.declared, from.found)
    portals.set(bind.portal, { statement, probe, values, at: this.executions, isTold: false })
    const undo = () => portals.delete(bind.portal)
    if (probe !== null) {
      wire.expect(new PlainAnswer(wire, '3', { isOurs: true }))
      wire.expect(new PlainAnswer(wire, '1', { isOurs: true, probe }))
      this.send(Buffer.concat([close('S', OWN), parse(OWN, probe.text, from.declared)]))
    }
    wire.expect(new PlainAnswer(wire, '2', { undo }))
    this.send(probe === null ? message : bindTo(bind, OWN, probe.hidden))
  }

  private statementOf({ text }: Prepared, answers: readonly number[]): Statement {
    const isBinary = answers.length === 1 && answers[0] === 1
    const format = isBinary ? 'binary' : 'text'
    return this.session.statement({ text, values: [], actor: undefined, format }, null)
  }

  /** Why a statement cannot be recorded; null if it can. */
  private async learn(statement: Statement): Promise<string | null | typeof REFUSED> {
    const { wire } = this
    try {
      return await wire.prepare(statement)
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
      this.session.broke()
      wire.toClient(error.raw)
      wire.isSkipping = true
      return REFUSED
    }
  }

  describe(message: Buffer): void {
    const { wire } = this
    const { kind, name } = readNamed(message)
    const prepared = kind === 'S' ? this.prepared.get(name) : undefined
    const probe = kind === 'P' ? (this.portals.get(name)?.probe ?? null) : null
    const hear = prepared === undefined ? undefined : hearTypes(prepared)
    wire.expect(
      probe === null ? new PlainAnswer(wire, 'Tn', { ...(hear && { hear }) }) : told(wire, probe),
    )
    this.send(message)
  }

  close(message: Buffer): void {
    const { kind, name } = readNamed(message)
    if (kind === 'S') this.prepared.delete(name)
    else this.portals.delete(name)
    this.wire.expect(new PlainAnswer(this.wire, '3'))
    this.send(message)
  }

  /** @param isLast whether a Sync is known to follow, so that nobody need wait for an answer */
  async execute(message: Buffer, isLast: boolean): Promise<void> {
    const { wire, session } = this
    const { portal: name, maxRows } = readExecute(message)
    const portal = this.portals.get(name)
    if (portal === undefined) session.countUnrecorded(null, 'a portal of an unknown statement')
    else this.begin(portal)
    const answer = wire.expect(new ExecuteAnswer(wire, portal ?? null, this))
    // Without rows of its own a statement is done at once, whatever the limit.
    const isHidden = portal?.probe?.visible === false
    this.send(isHidden ? execute(name) : maxRows === 0 ? message : execute(name, maxRows))
    if (isLast && portal?.statement.shape.words[0]?.value !== 'copy') return
    this.send(FLUSH)
    await answer.wait()
  }

  private begin(portal: Portal): void {
    const { session } = this
    const { statement } = portal
    // Its rows are as they were when it was bound, before what has been done since.
    const isLate = portal.at !== this.executions
    const isRead = statement.shape.kind === 'read'
    if (isRead && isLate && !portal.isTold && portal.probe !== null) {
      session.abandon(statement, 'a portal that was read later')
    }
    if (isRead && portal.isTold)
      session.countUnrecorded(statement.shape, 'a portal that was read on')
    if (!portal.isTold) session.send(statement)
    portal.at = ++this.executions
  }

  async sync(message: Buffer): Promise<void> {
    const done = (status: Status) => {
      if (status === 'I') this.portals.clear()
    }
    const answer = this.wire.expect(new ReadyAnswer(this.wire, done))
    this.send(message)
    await answer.wait()
  }

  /** A statement was done that may have taken prepared ones away. */
  forget({ words }: Shape): void {
    for (const i of words.keys()) {
      if (!isFirst(words, i)) continue
      const [first, second, third] = words.slice(i, i + 3).map(({ value }) => value)
      const name = first === 'deallocate' && second === 'prepare' ? third : second
      if (name === 'all' && (first === 'deallocate' || first === 'discard')) this.prepared.clear()
      else if (first === 'deallocate') this.prepared.delete(name ?? '')
    }
  }
}

const REFUSED = Symbol('the client was told of an error')

function parametersOf({ words }: Shape): number {
  const numbers = words
    .filter(({ kind }) => kind === 'parameter')
    .map(({ value }) => Number(value.slice(1)))
  return Math.max(0, ...numbers)
}

/** Another number of values than the server will ask for, in words that name the statement. */
function misfit(shape: Shape, { declared }: Prepared, { values }: Bind): string | null {
  const count = Math.max(parametersOf(shape), declared.length)
  return count === values.length ? null : 'a wrong number of values'
}

function hearTypes(prepared: Prepared): (letter: string, message: Buffer) => void {
  return (letter, message) => {
    if (letter === 't') prepared.found = readTypes(message)
  }
}

/** The description of a portal with more columns than the client knows of. */
function told(wire: Wire, probe: Probe): Answer {
  const hear = (_: string, message: Buffer) =>
    wire.toClient(probe.visible ? withoutColumns(message, probe.hidden) : NO_DATA)
  return new DescribedAnswer(wire, hear)
}

class DescribedAnswer extends PlainAnswer {
  constructor(
    wire: Wire,
    private readonly tell: (letter: string, message: Buffer) => void,
  ) {
    super(wire, 'Tn')
  }

  override take(letter: string, message: Buffer): boolean {
    this.tell(letter, message)
    return true
  }
}

type Tag = Pick<DriverResult, 'command' | 'rowCount'>

/** To an Execute: rows until it is done, has failed, or has given as many as were asked for. */
class ExecuteAnswer extends Answer {
  private readonly rows: Rows
  private readonly statement: Statement | null

  constructor(
    private readonly wire: Wire,
    private readonly portal: Portal | null,
    private readonly extended: Extended,
  ) {
    super()
    this.statement = portal === null || portal.isTold ? null : portal.statement
    this.rows = new Rows(wire, portal?.probe ?? null, this.statement?.cells ?? null)
  }

  override take(letter: string, message: Buffer): boolean {
    const { wire } = this
    if (letter === 'D') {
      this.rows.row(message)
      return false
    }
    if (letter === 'C') this.finish(readTag(message))
    else if (letter === 'I') this.finish(NO_RESULT)
    else if (letter === 's') this.suspend()
    wire.toClient(message)
    if (letter === 'G') {
      wire.copying = this
      this.wake()
    }
    return letter === 'C' || letter === 'I' || letter === 's'
  }

  private finish({ command, rowCount }: Tag): void {
    const { statement, portal } = this
    if (statement === null) return
    const { session } = this.wire
    session.status = statusAfter(session.status, statement.shape, command)
    this.tell(null, {
      command,
      rowCount: portal!.probe ? statement.cells.length : rowCount,
      rows: [],
    })
    this.extended.forget(statement.shape)
  }

  /** The rest may never be asked for: of a SELECT the rows so far were seen. */
  private suspend(): void {
    const { statement } = this
    if (statement === null) return
    const { session } = this.wire
    if (statement.probe !== null && (statement.shape.kind !== 'read' || statement.probe.grouped)) {
      session.abandon(statement, 'a portal that was read in parts')
    }
    statement.isCut = true
    session.status = statusAfter(session.status, statement.shape, '')
    this.tell(null, { ...NO_RESULT, rowCount: statement.cells.length })
  }

  private tell(error: unknown, result: DriverResult | null): void {
    const { statement, portal, rows } = this
    const { session } = this.wire
    portal!.isTold = true
    if (error === null) expectReadable(session, statement!, rows)
    statement!.values = portal!.values()
    session.finish(statement!, error, result)
  }

  override fail(error: ServerError, message: Buffer): void {
    this.rows.error(message)
    if (this.statement === null) this.wire.session.broke()
    else this.tell(error, null)
  }

  override lose(): void {
    if (this.statement !== null) this.tell(LOST, null)
  }
}

/**
 * How a statement left the connection, which the server says only at a Sync. Outside of a
 * transaction block all up to the Sync are one transaction.
 */
function statusAfter(status: Status, { kind, effect, words }: Shape, command: string): Status {
  if (command.startsWith('PREPARE TRANSACTION')) return 'I'
  if (kind === 'begin' || kind === 'savepoint') return 'T'
  if (kind === 'commit' || kind === 'rollback') {
    const chain = words.findIndex(({ value }) => value === 'chain')
    return chain > 0 && words[chain - 1]!.value !== 'no' ? 'T' : 'I'
  }
  return status === 'I' && effect === 'nothing' ? 'I' : status === 'E' ? 'E' : 'T'
}
