// A query of the driver's on its way: made of what the application handed over as the driver itself
// would, listened to where the driver tells it how it ended, and rid of the columns that were added
// to its answer. Main functions: queryFrom, onAnswer, hideColumns.

import type { DriverQuery, QueryClass } from './driver.ts'
import { isMade } from './join/join-probe.ts'
import type { Cells, Probe } from './probe.ts'

class Taken {
  constructor(
    readonly query: DriverQuery,
    /** What the application gets at once. */
    readonly result: unknown,
  ) {}
}

/** The driver's query; null for what is none of its own, such as cursors and streams. */
export function queryFrom(Query: QueryClass, given: readonly unknown[]): Taken | null {
  const [config, values, callback] = given
  if (config instanceof Query) {
    const query = config as DriverQuery
    if (!query.callback && typeof values === 'function') {
      query.callback = values as DriverQuery['callback']
    } else if (!query.callback && callback) query.callback = callback as DriverQuery['callback']
    return new Taken(query, query)
  }
  if (typeof (config as DriverQuery).submit === 'function') return null
  const query = new Query(config, values, callback)
  const { query_timeout } = config as DriverQuery
  if (query_timeout) query.query_timeout = query_timeout
  if (query.callback) return new Taken(query, undefined)
  const result = new Promise((resolve, reject) => {
    query.callback = (error, answer) => (error ? reject(error) : resolve(answer))
  }).catch((error) => {
    // As the driver does: a trace that leads to who asked.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  })
  return new Taken(query, result)
}

/**
 * Hears of the answer before the application does. The driver may tell twice: a query that took too
 * long is an error at once, and is answered later all the same.
 * @param done called when the application has seen it, whatever it did then
 */
export function onAnswer(
  query: DriverQuery,
  answered: (error: unknown, result: unknown) => void,
  done: () => void,
): void {
  const { handleError, handleReadyForQuery } = query
  let isOver = false
  const tell = (error: unknown, result: unknown, pass: () => unknown): unknown => {
    if (isOver) return pass()
    isOver = true
    try {
      answered(error, result)
    } finally {
      try {
        pass()
      } finally {
        done()
      }
    }
  }
  query.handleError = (error, connection) =>
    tell(query._canceledDueToError || error, null, () => handleError.call(query, error, connection))
  query.handleReadyForQuery = (connection) => {
    const pass = () => handleReadyForQuery.call(query, connection)
    // It goes on to say what was wrong with a row.
    return query._canceledDueToError ? pass() : tell(null, query._results ?? null, pass)
  }
}

/** Takes the added columns out of the answer. */
export function hideColumns(query: DriverQuery, probe: Probe, cells: Cells[]): void {
  const describe = query.handleRowDescription
  const take = query.handleDataRow
  query.handleRowDescription = (message) => {
    message.fields.length -= probe.hidden
    if (probe.visible) describe.call(query, message)
  }
  query.handleDataRow = (message) => {
    const added = message.fields.splice(-probe.hidden) as Cells
    cells.push(added)
    if (probe.addsRow && isMade(added)) hideCount(query)
    else if (probe.visible) take.call(query, message)
  }
}

/** The one row that came was made for what is told beside it. */
function hideCount(query: DriverQuery): void {
  const { handleCommandComplete } = query
  query.handleCommandComplete = (message, connection) => {
    query.handleCommandComplete = handleCommandComplete
    message.text = 'SELECT 0'
    handleCommandComplete.call(query, message, connection)
  }
}

/** An error points into the statement as it was sent; the application knows its own. */
export function movePosition(error: unknown, { at, length }: Probe): void {
  const placed = error as { position?: string }
  const position = Number(placed?.position)
  if (!(position > at)) return
  placed.position = String(Math.max(at + 1, position - length))
}

/** An error may name the prepared statement as it was sent; the application has its own name. */
export function nameAsAsked(error: unknown, sent: string, asked: string | undefined): void {
  const named = error as { message?: string }
  if (!named?.message?.includes(sent)) return
  named.message = named.message.replaceAll(`"${sent}"`, `"${asked ?? ''}"`)
}
