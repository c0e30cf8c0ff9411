// Values written twice, where that is allowed: a read of such a value may have seen any of its
// writers, or the initial state if the value is the initial one. The history says of each such read
// who it may have been, the likeliest first; deciders choose. A read behind an own write of that
// value has nothing to choose: seeing its own last write binds nobody, so no other choice could be
// better. Main functions: resolveDuplicates, assume.

import { IntColumn } from '../base/grow.ts'
import { settleCounts } from './counts.ts'
import {
  ABORTED,
  APPEND,
  type History,
  INITIAL,
  isOfList,
  listsOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from './history.ts'
import { INSERT } from './light.ts'

/** Reads of values that were written twice, each with its possible writers. */
export interface PossibleWriters {
  readonly reads: Int32Array // choice -> read op, ascending
  readonly start: Int32Array // choice -> its first entry in `writes`; one more at the end
  readonly writes: Int32Array // entry -> write op, or INITIAL; the likeliest of a choice first
}

/** Whom a read is taken to have seen. */
export interface Source {
  readonly read: number
  /** A write op, or INITIAL. */
  readonly write: number
}

/** What reads saw: the write, and the transaction it belongs to. */
interface Resolved {
  readonly readFrom: Int32Array
  readonly readTxn: Int32Array
}

/**
 * Resolves every read, to its likeliest writer where it has several.
 * @param initial id of the initial value, NONE if there is none
 * @param refuse makes the error for two appends of one element: lists stay unique
 * @returns null if no read has a choice
 */
export function resolveDuplicates(
  history: History,
  initial: number,
  found: Resolved,
  refuse: (first: number, second: number) => Error,
): PossibleWriters | null {
  const { opKind, opValue, opTxn, listStart, listValue, listFrom } = history
  found.readFrom.fill(NONE)
  found.readTxn.fill(NONE)
  const { byKey, start } = groupByKey(history)
  const choices: number[] = []
  const writersOf = new Map<number, readonly number[]>() // read with several -> them
  for (let key = 0; key < history.keyCount; key++) {
    const writers = new Map<number, number[]>() // value -> its writes
    for (let slot = start[key]!; slot < start[key + 1]!; slot++) {
      const op = byKey[slot]!
      const kind = opKind[op]!
      if (kind !== APPEND && (kind !== WRITE || history.txnIsInitial[opTxn[op]!])) continue
      const known = writers.get(opValue[op]!)
      if (known === undefined) writers.set(opValue[op]!, [op])
      else if (kind === APPEND) throw refuse(known[0]!, op)
      else known.push(op)
    }
    if (writers.has(initial) && opKind[writers.get(initial)![0]!] === WRITE) {
      writers.get(initial)!.push(INITIAL)
    }
    for (let slot = start[key]!; slot < start[key + 1]!; slot++) {
      const op = byKey[slot]!
      const kind = opKind[op]!
      if (kind === READ) {
        const known = writers.get(opValue[op]!) ?? (opValue[op] === initial ? [INITIAL] : [])
        const possible = writersFor(history, op, known, initial)
        const [first = NONE] = possible
        found.readFrom[op] = first
        found.readTxn[op] = first >= 0 ? opTxn[first]! : first
        if (possible.length < 2) continue
        choices.push(op)
        writersOf.set(op, possible)
      } else if (kind === READ_LIST || kind === READ_ROWS) {
        // A row too many or too few is a finding whoever wrote it.
        const isList = isOfList(history, op)
        for (const list of Array.from(listsOf(history, op))) {
          for (let at = listStart[list]!; at < listStart[list + 1]!; at++) {
            const isFirst = !isList && listValue[at] === initial
            listFrom[at] = isFirst ? INITIAL : (writers.get(listValue[at]!)?.[0] ?? NONE)
          }
        }
      }
    }
  }
  if (choices.length === 0) return null
  choices.sort((a, b) => a - b)
  const starts = new Int32Array(choices.length + 1)
  const writes = new IntColumn(2 * choices.length + 1)
  choices.forEach((read, choice) => {
    for (const write of writersOf.get(read)!) writes.push(write)
    starts[choice + 1] = writes.length
  })
  return { reads: Int32Array.from(choices), start: starts, writes: writes.view() }
}

function groupByKey({ opKey, opCount, keyCount }: History) {
  const start = new Int32Array(keyCount + 1) // key -> first slot in `byKey`
  for (let op = 0; op < opCount; op++) start[opKey[op]! + 1]!++
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const next = start.slice()
  const byKey = new Int32Array(opCount) // slot -> op, key by key
  for (let op = 0; op < opCount; op++) byKey[next[opKey[op]!]!++] = op
  return { byKey, start }
}

/** Those whom a read may have seen, the likeliest first. */
function writersFor(
  history: History,
  read: number,
  writes: readonly number[],
  initial: number,
): readonly number[] {
  const { light } = history
  const which = light?.opLight[read] ?? NONE
  // An insert that succeeded found nothing, also where no value stands for that.
  const isInsert = which !== NONE && light!.kind[which] === INSERT && !light!.failed[which]
  if (isInsert && initial === NONE) return [INITIAL]
  if (writes.length < 2) return writes
  const own = lastOwnWrite(history, read)
  if (own !== NONE && history.opValue[own] === history.opValue[read]) return [own]
  const rank = new Map(writes.map((write) => [write, unlikeliness(history, read, write)]))
  return writes.toSorted((a, b) => rank.get(a)! - rank.get(b)!)
}

/** The last write of the read's key before it in its transaction, or NONE. */
function lastOwnWrite(history: History, read: number): number {
  const { opTxn, opKind, opKey, txnOpStart } = history
  for (let op = read - 1; op >= txnOpStart[opTxn[read]!]!; op--) {
    if (opKey[op] === opKey[read] && opKind[op] === WRITE) return op
  }
  return NONE
}

const AFTERWARDS = 2 ** 40 // more than any distance that is not made of times
const NEVER = 2 ** 60

/** Small for whoever wrote last before the read began, by the clock or by the place in a session. */
function unlikeliness(history: History, read: number, write: number): number {
  const { opTxn, txnStatus, txnIndex, txnSession, txnStartTime, txnFinishTime } = history
  const reader = opTxn[read]!
  if (write === INITIAL) return AFTERWARDS / 2
  const writer = opTxn[write]!
  if (writer === reader || txnStatus[writer] === ABORTED) return NEVER
  const isLater = txnSession[writer] === txnSession[reader] && txnIndex[writer]! > txnIndex[reader]!
  if (isLater) return NEVER
  const finished = txnFinishTime?.[writer] ?? Number.NaN
  const began = txnStartTime?.[reader] ?? Number.NaN
  const gap = began - finished
  if (Number.isNaN(gap)) {
    const steps = txnIndex[reader]! - txnIndex[writer]!
    return steps >= 0 ? steps : AFTERWARDS - steps
  }
  return gap >= 0 ? 1 - 1 / (1 + gap) : AFTERWARDS + 1 - 1 / (1 - gap)
}

/**
 * The history in which these reads saw these writers, and all others that have a choice saw nothing
 * that binds anybody: each reads a key of its own which nobody writes. What such a history violates
 * is violated however the others are chosen, since a read only adds to what a level demands.
 */
export function assume(history: History, sources: readonly Source[]): History {
  if (history.writers === null) return history
  const { keyCount, opTxn } = history
  const [opKey, readFrom] = [history.opKey.slice(), history.readFrom.slice()]
  const readTxn = history.readTxn.slice()
  const opLight = history.light?.opLight.slice()
  const given = new Map(sources.map(({ read, write }) => [read, write]))
  let fresh = keyCount
  for (const read of history.writers.reads) {
    const write = given.get(read)
    readFrom[read] = write ?? INITIAL
    readTxn[read] = write !== undefined && write >= 0 ? opTxn[write]! : INITIAL
    if (write !== undefined) continue
    opKey[read] = fresh++
    if (opLight) opLight[read] = NONE
  }
  const assumed: History = {
    ...history,
    keyCount: fresh,
    opKey,
    readFrom,
    readTxn,
    light: opLight ? { ...history.light!, opLight } : null,
    txnCounts: history.txnCounts.slice(),
    writers: null,
  }
  settleCounts(assumed)
  return assumed
}

/** What is to be told of a history in which values were written twice. */
export function warnOfDuplicates({ reads }: PossibleWriters): string {
  const what = reads.length === 1 ? '1 read has' : `${reads.length} reads have`
  return `values were written twice, so ${what} several possible writers: a level is satisfied if some choice of them satisfies it, and what one choice would show another may hide; with unique values each read would name its writer`
}
