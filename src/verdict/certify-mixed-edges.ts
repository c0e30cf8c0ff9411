// The rules for single edges where every transaction has a level of its own; certify-shape.ts has
// that for the chains they form. Main function: ruleProblem.

import { INDETERMINATE, NONE } from '../history/history.ts'
import { certifySession, listOrderProblem } from './certify-edges.ts'
import { foreignVersion } from './certify-reads.ts'
import { chainProblem, type LevelOf } from './certify-shape.ts'
import { placeOf, placeOfEvent } from './certify-witness.ts'
import type { Scope } from './prove-edges.ts'
import type { SqlRows } from './sql-rows.ts'
import { type Edge, INITIAL_TXN } from './verdict.ts'

/** What an argument rests on besides the history. */
export interface MixedContext {
  readonly rows: SqlRows
  readonly levelOf: LevelOf
  /** Whether the transaction took effect, under what is assumed. */
  counts(txn: number): boolean
  readonly scope: Scope
}

/** What is wrong with the edge itself, null if it holds whenever its premises do. */
export function ruleProblem(context: MixedContext, edge: Edge): string | null {
  const { from, to, kind } = edge
  if (!context.counts(from) || !context.counts(to)) return `${from} or ${to} does not count`
  if (from === to) return 'an edge leads from a transaction to itself'
  if (to === INITIAL_TXN && kind !== 'CO') return 'nothing precedes the initial state'
  if (edge.refutes && (kind !== 'WW' || edge.assumed)) return 'only version orders refute others'
  if (kind === 'SO') {
    const isBare = edge.premises.length === 0
    return isBare ? certifySession(context.rows.history, edge) : 'session order needs no reasons'
  }
  if (kind === 'WR' && edge.premises.length > 0) return 'a read needs no reasons'
  return PROBLEMS[kind](context, edge)
}

const PROBLEMS = {
  WR: readProblem,
  WW: versionsProblem,
  RW: overwriteProblem,
  CO: forcedProblem,
  RT: timeProblem,
}

/** Only who is known to have finished did so before somebody else started. */
function timeProblem({ rows, levelOf }: MixedContext, edge: Edge): string | null {
  const { from, to, premises } = edge
  const { txnStartTime, txnFinishTime, txnStatus } = rows.history
  if (levelOf(to) !== 'sser') return 'the level knows no real time'
  if (premises.length > 0) return 'real time needs no reasons'
  if (!txnStartTime || !txnFinishTime || from === INITIAL_TXN) return 'there are no times'
  if (txnStatus[from] === INDETERMINATE) return 'an indeterminate transaction has no finish'
  const holds = txnFinishTime[from]! < txnStartTime[to]!
  return holds ? null : `${from} did not finish before ${to} started`
}

/** What speaks against saying that the reader passed over the version of another. */
export function foreignAbsenceProblem(rows: SqlRows, { to, event, key }: Edge): string | null {
  if (event === undefined) return 'it names no statement'
  const problem = rows.absenceProblem(to, event, key)
  if (problem !== null) return problem
  return rows.ownVersion(event, key) === NONE ? null : `row ${key} is the reader's own`
}

function readProblem(context: MixedContext, edge: Edge): string | null {
  const { rows } = context
  const { history } = rows
  const { event, key, from, to, ops } = edge
  if (event !== undefined) {
    const problem = foreignAbsenceProblem(rows, edge)
    if (problem !== null) return problem
    const candidates = rows.candidates(event, key)
    if (!candidates.includes(from)) return `${from} left row ${key} as the statement wants it`
    const isAssumed = (known: Edge) =>
      known.kind === 'WR' && known.event === event && known.key === key && known.from === from
    return candidates.length === 1 || context.scope.assumes(isAssumed)
      ? null
      : 'nobody assumes that'
  }
  const read = ops[ops.length - 1] ?? NONE
  if (history.opTxn[read] !== to || history.opKey[read] !== key) return `${to} has no such read`
  if (rows.offenceOf(read) !== null) return `read ${read} is not sound`
  const version = foreignVersion(history, read)
  if (version === NONE) return `read ${read} is of its own write`
  const source = version < 0 ? INITIAL_TXN : history.opTxn[version]!
  return source === from ? null : `read ${read} is not from ${from}`
}

function versionsProblem(context: MixedContext, edge: Edge): string | null {
  const { from, to, key, premises } = edge
  const { rows } = context
  if (rows.lastWrite(from, key) === NONE || rows.lastWrite(to, key) === NONE) {
    return `${from} and ${to} do not both write ${key}`
  }
  if (from === INITIAL_TXN) return null
  if (edge.assumed) return context.scope.assumesOrder(from, to) ? null : 'nobody assumes that order'
  if (premises.length === 0) return listOrderProblem(rows.history, edge, edge.ops[2] ?? NONE)
  return chainProblem(rows.history, context.levelOf, premises, edge.refutes ? null : { from, to })
}

/** A reader that sees all that committed before its snapshot precedes who replaced what it read. */
function overwriteProblem(context: MixedContext, edge: Edge): string | null {
  const [seen, newer, ...rest] = edge.premises
  if (!seen || !newer || rest.length > 0) return 'it needs a read and a newer version'
  if (!['pc', 'si', 'ser', 'sser'].includes(context.levelOf(edge.from))) {
    return `a reader at ${context.levelOf(edge.from)} may miss what is committed`
  }
  const fits =
    seen.kind === 'WR' &&
    newer.kind === 'WW' &&
    seen.to === edge.from &&
    seen.from === newer.from &&
    newer.to === edge.to &&
    seen.key === edge.key &&
    newer.key === edge.key
  return fits ? null : 'its reasons are about something else'
}

/** t2 -> t1: somebody read a key from t1 though it saw t2, which writes it too. */
function forcedProblem(context: MixedContext, edge: Edge): string | null {
  const [seen, ...visible] = edge.premises
  const { rows } = context
  if (seen?.kind !== 'WR' || seen.from !== edge.to || seen.key !== edge.key) {
    return 'it needs a read of that version'
  }
  const reader = seen.to
  if (reader === edge.from || edge.from === INITIAL_TXN) return 'its reasons are about another'
  if (rows.lastWrite(edge.from, edge.key) === NONE) return `${edge.from} does not write ${edge.key}`
  let at = edge.from
  for (const step of visible) {
    if (step.from !== at || (step.kind !== 'SO' && step.kind !== 'WR')) return 'it sees it not'
    at = step.to
  }
  if (visible.length === 0 || at !== reader) return 'its reasons lead elsewhere'
  const level = context.levelOf(reader)
  // What happened before the reader is visible to it at every level from cc on.
  if (level !== 'rc' && level !== 'ra') return null
  const [step] = visible
  if (visible.length > 1 || !step) return `${level} does not look further than one step`
  if (level === 'ra') return null
  // Read committed: what it read before this; in SQL also its session, and the same statement.
  const isSql = rows.history.sql !== null
  if (step.kind === 'SO') return isSql ? null : 'rc knows no session order'
  const earlier = placeOfRead(rows, step)
  const later = placeOfRead(rows, seen)
  return earlier < later || (isSql && earlier === later) ? null : 'it read that later'
}

function placeOfRead(rows: SqlRows, { event, ops }: Edge): number {
  return event === undefined ? placeOf(rows, ops[ops.length - 1]!) : placeOfEvent(rows, event)
}
