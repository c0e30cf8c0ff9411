// One exchange with the server: one or more prepared statements sent in a single message, and their
// answers. It goes through the pg driver, but skips what the driver does for the general case:
// descriptions of rows, parsing by type, a result object. bench/recording.ts shows what that buys.

import type { Client, Connection, Submittable } from 'pg'

export interface Statement {
  readonly name: string
  readonly text: string
}

export type Cells = readonly (string | null)[]

export interface Answer {
  /** First column of the first row, as text; null if it is NULL. */
  cell: string | null
  rowCount: number
  /** All rows, as text, where they are asked for; else those after the first. */
  rows: Cells[]
  /** The server's word on the last statement, e.g. `UPDATE 1`, `COMMIT`. */
  tag: string
}

/** Prepares statements on a connection; from then on they are known by name. */
export function prepare(client: Client, statements: readonly Statement[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = (wire: Wire) => {
      for (const { name, text } of statements) wire.parse({ name, text })
    }
    client.query(new Exchange(send, resolve, reject))
  })
}

/** Puts a prepared statement without parameters before what follows, if one is named. */
function runFirst(wire: Wire, first: string | null): void {
  if (first === null) return
  wire.bind({ statement: first, values: [] })
  wire.execute({})
}

/** Runs prepared statements one after another, up to the first that fails; answers for the last. */
export function execute(
  client: Client,
  first: string | null,
  name: string,
  values: Cells,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = (wire: Wire) => {
      runFirst(wire, first)
      wire.bind({ statement: name, values })
      wire.execute({})
    }
    client.query(new Exchange(send, resolve, reject))
  })
}

/** Runs a statement that is not prepared, behind one that is if `first` names it. */
export function query(
  client: Client,
  first: string | null,
  text: string,
  types: readonly number[],
  values: Cells,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = (wire: Wire) => {
      runFirst(wire, first)
      wire.parse({ name: '', text, types })
      wire.bind({ statement: '', values })
      wire.execute({})
    }
    client.query(new Exchange(send, resolve, reject, true))
  })
}

/** The driver's connection, as far as it is used here; its published types are older than it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  parse(statement: Statement & { types?: readonly number[] }): void
  bind(config: { statement: string; values: Cells }): void
  execute(config: object): void
  sync(): void
}

/** What the driver calls while the exchange goes on. */
class Exchange implements Submittable {
  private readonly answer: Answer = { cell: null, rowCount: 0, rows: [], tag: '' }
  private readonly send: (wire: Wire) => void
  private readonly resolve: (answer: Answer) => void
  private readonly reject: (error: Error) => void
  private readonly keepsRows: boolean

  constructor(
    send: (wire: Wire) => void,
    resolve: (answer: Answer) => void,
    reject: (error: Error) => void,
    keepsRows = false,
  ) {
    this.send = send
    this.resolve = resolve
    this.reject = reject
    this.keepsRows = keepsRows
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire
    wire.stream.cork()
    try {
      this.send(wire)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  handleDataRow(row: { fields: (string | null)[] }): void {
    const isFirst = this.answer.rowCount++ === 0
    if (isFirst) this.answer.cell = row.fields[0] ?? null
    if (this.keepsRows || !isFirst) this.answer.rows.push(row.fields)
  }

  handleCommandComplete(message: { text: string }): void {
    this.answer.tag = message.text
    const changed = /^(?:UPDATE|DELETE) (\d+)$/.exec(message.text)
    if (changed && !this.keepsRows) this.answer.rowCount = Number(changed[1])
  }

  handleReadyForQuery(): void {
    this.resolve(this.answer)
  }

  handleError(error: Error): void {
    this.reject(error)
  }

  handleRowDescription(): void {}

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}
}
