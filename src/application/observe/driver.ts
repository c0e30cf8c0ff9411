// What is used of the driver, which is the application's own: pg, as Pool or Client. Described by
// its shape, so that any version and copy of it will do.

/** A query on its way, as pg's own class Query has it. */
export interface DriverQuery {
  text: string
  name: string | undefined
  values: unknown[] | null | undefined
  binary: boolean | undefined
  /** How to read cells; a list: the types of its values. */
  types?: unknown
  callback: ((error: unknown, result?: unknown) => void) | undefined
  /** pg reads it where the query is handed over; undefined: as the connection has it. */
  query_timeout?: number | undefined
  /** All that came back. */
  readonly _results?: unknown
  /** What was wrong with a row of the answer, which is told at its end. */
  readonly _canceledDueToError?: unknown
  submit(connection: unknown): unknown
  handleError(error: unknown, connection: unknown): unknown
  handleReadyForQuery(connection: unknown): unknown
  handleRowDescription(message: { fields: unknown[] }): void
  handleDataRow(message: { fields: unknown[] }): void
  handleCommandComplete(message: { text?: string }, connection: unknown): void
}

export type QueryClass = new (config: unknown, values?: unknown, callback?: unknown) => DriverQuery

/** As much of a Client of `pg` as is watched. */
export interface DriverClient {
  query(...given: unknown[]): unknown
  processID?: number | null
  /** Whether the server has done with what was asked last. */
  readonly readyForQuery?: boolean
  readonly connection?: {
    /** Name -> text of prepared statements that the server has. */
    readonly parsedStatements?: Readonly<Record<string, string | undefined>>
    prependListener(event: string, listener: (message: { status?: string }) => void): unknown
    removeListener(event: string, listener: (message: { status?: string }) => void): unknown
  }
  once(event: string, listener: () => void): unknown
  removeListener(event: string, listener: () => void): unknown
}

/** As much of a Pool of `pg` as is watched. */
export interface DriverPool {
  connect(...given: unknown[]): unknown
  query(...given: unknown[]): unknown
  on(event: string, listener: (...given: never[]) => void): unknown
  removeListener(event: string, listener: (...given: never[]) => void): unknown
}

/** What an application reads of an answer. */
export interface DriverResult {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: readonly unknown[]
  readonly fields?: readonly { readonly name: string }[]
}

/** Pools make clients; a client has a connection, before it is opened too. */
export function isPool(given: DriverPool | DriverClient): given is DriverPool {
  return 'totalCount' in given
}

/** The class of the driver's queries; null if it is not the one we know (such as pg-native). */
export function queryClassOf(client: DriverClient): QueryClass | null {
  const { Query } = client.constructor as { Query?: QueryClass }
  const isKnown = typeof Query?.prototype?.handleDataRow === 'function'
  return isKnown && client.connection ? Query : null
}

/** Whether an error came from the server, rather than from a connection that was lost. */
export function isFromServer(error: unknown): boolean {
  const { severity, code } = (error ?? {}) as { severity?: unknown; code?: unknown }
  const isFromIt = typeof severity === 'string' && typeof code === 'string'
  return isFromIt && severity !== 'FATAL' && severity !== 'PANIC'
}
