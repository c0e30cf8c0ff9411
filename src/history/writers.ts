// Values written twice, where that is allowed: a read of such a value may have seen any of its
// writers, or the initial state if the value is the initial one. The history says of each such read
// who it may have been, and who most likely was; deciders choose. A read behind an own write of
// that value has nothing to choose: seeing its own last write binds nobody, so no other choice
// could be better. Main functions: resolveDuplicates, assume.

import { UsageError } from '../base/errors.ts'
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
  type PossibleWriters,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from './history.ts'
import { groupByKey } from './layout.ts'
import { FOUND, INSERT } from './light.ts'

/** Whom a read is taken to have seen. */
export interface Source {
  readonly read: number
  /** A write op, or INITIAL. */
  readonly write: number
}

/** What reads saw: the write, and the transaction it belongs to. */
export interface Seen {
  readonly readFrom: Int32Array
  readonly readTxn: Int32Array
}

/** Writes of one value to one key. */
interface Group {
  readonly writes: number[]
  /** As the choices call it, NONE while no read has one among them. */
  number: number
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
  found: Seen,
  refuse: (first: number, second: number) => Error,
): PossibleWriters | null {
  const { opKind, opValue, opTxn, listStart, listValue, listFrom } = history
  found.readFrom.fill(NONE)
  found.readTxn.fill(NONE)
  const { byKey, start } = groupByKey(history)
  const choices: Choice[] = []
  const starts = new IntColumn(16)
  const writes = new IntColumn(16)
  const likelihood = new Likelihood(history)
  for (let key = 0; key < history.keyCount; key++) {
    const groups = groupByValue(history, byKey.subarray(start[key], start[key + 1]), refuse)
    const first = groups.get(initial)
    if (first !== undefined && opKind[first.writes[0]!] === WRITE) first.writes.push(INITIAL)
    let own: number = NONE // the write before, which may be the reader's own
    for (let slot = start[key]!; slot < start[key + 1]!; slot++) {
      const op = byKey[slot]!
      const kind = opKind[op]!
      const group = groups.get(opValue[op]!)
      if (kind === WRITE) own = op
      else if (kind === READ) {
        const binding = onlyWriter(history, op, own, initial)
        let write = binding ?? group?.writes[0] ?? (opValue[op] === initial ? INITIAL : NONE)
        if (binding === null && group !== undefined && group.writes.length > 1) {
          const likeliest = likelihood.best(op, group.writes)
          write = group.writes[likeliest]!
          if (group.number === NONE) {
            group.number = starts.length
            starts.push(writes.length)
            for (const each of group.writes) writes.push(each)
          }
          choices.push({ read: op, group: group.number, likeliest })
        }
        found.readFrom[op] = write
        found.readTxn[op] = write >= 0 ? opTxn[write]! : write
      } else if (kind === READ_LIST || kind === READ_ROWS) {
        // A row too many or too few is a finding whoever wrote it.
        const isList = isOfList(history, op)
        for (const list of Array.from(listsOf(history, op))) {
          for (let at = listStart[list]!; at < listStart[list + 1]!; at++) {
            const isFirst = !isList && listValue[at] === initial
            listFrom[at] = isFirst ? INITIAL : (groups.get(listValue[at]!)?.writes[0] ?? NONE)
          }
        }
      }
    }
  }
  if (choices.length === 0) return null
  starts.push(writes.length)
  choices.sort((a, b) => a.read - b.read)
  return {
    reads: Int32Array.from(choices, ({ read }) => read),
    again: new Int32Array(choices.length).fill(NONE),
    group: Int32Array.from(choices, ({ group }) => group),
    likeliest: Int32Array.from(choices, ({ likeliest }) => likeliest),
    start: starts.view(),
    writes: writes.view(),
    sums: null,
  }
}

/** Value -> who wrote it, of the operations of one key. */
function groupByValue(
  { opKind, opValue, opTxn, txnIsInitial }: History,
  ops: Int32Array,
  refuse: (first: number, second: number) => Error,
): Map<number, Group> {
  const groups = new Map<number, Group>()
  for (const op of ops) {
    const kind = opKind[op]!
    if (kind !== APPEND && (kind !== WRITE || txnIsInitial[opTxn[op]!])) continue
    const known = groups.get(opValue[op]!)
    if (known === undefined) groups.set(opValue[op]!, { writes: [op], number: NONE })
    else if (kind === APPEND) throw refuse(known.writes[0]!, op)
    else known.writes.push(op)
  }
  return groups
}

interface Choice {
  readonly read: number
  readonly group: number
  readonly likeliest: number
}

/**
 * The only one that a read can have seen, whoever else wrote the value; null if there is none.
 * @param own the last write of the key before the read, by whomever
 */
function onlyWriter(history: History, read: number, own: number, initial: number): number | null {
  const { light, opTxn, opValue } = history
  const which = light?.opLight[read] ?? NONE
  // An insert that succeeded found nothing, also where no value stands for that.
  const isInsert = which !== NONE && light!.kind[which] === INSERT && !light!.failed[which]
  if (isInsert && initial === NONE) return INITIAL
  const isOwn = own !== NONE && opTxn[own] === opTxn[read] && opValue[own] === opValue[read]
  return isOwn ? own : null
}

/** So many pairs of a read and a writer are compared; then a guess is as good as another. */
const MOST_COMPARED = 20_000_000

/** Finds who is the likeliest of those whom a read may have seen. */
export class Likelihood {
  private compared = 0

  constructor(private readonly history: History) {}

  /** Position among the writes. */
  best(read: number, writes: readonly number[]): number {
    this.compared += writes.length
    if (this.compared > MOST_COMPARED) return 0
    let [best, least] = [0, Number.POSITIVE_INFINITY]
    for (let i = 0; i < writes.length; i++) {
      const rank = unlikeliness(this.history, read, writes[i]!)
      if (rank < least) [best, least] = [i, rank]
    }
    return best
  }
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
  const [readTxn, opValue] = [history.readTxn.slice(), history.opValue.slice()]
  const nothing = initialId(history)
  const opLight = history.light?.opLight.slice()
  const failed = history.light?.failed.map((how) => (how ? FOUND : 0))
  const given = new Map(sources.map(({ read, write }) => [read, write]))
  let fresh = keyCount
  const see = (read: number, write: number | undefined) => {
    readFrom[read] = write ?? INITIAL
    readTxn[read] = write !== undefined && write >= 0 ? opTxn[write]! : INITIAL
    opValue[read] = write !== undefined && write >= 0 ? opValue[write]! : nothing
    if (write !== undefined) return
    opKey[read] = fresh++
    if (opLight) opLight[read] = NONE
  }
  const { reads, again } = history.writers
  reads.forEach((read, choice) => {
    see(read, given.get(read))
    if (again[choice] !== NONE) see(again[choice]!, given.get(read))
  })
  const assumed: History = {
    ...history,
    asTold: history,
    keyCount: fresh,
    opKey,
    readFrom,
    readTxn,
    opValue,
    valueOf: (op: number) => history.values.get(opValue[op]!),
    light: opLight ? { ...history.light!, opLight, failed: failed! } : null,
    spans: null,
    txnCounts: history.txnCounts.slice(),
    writers: null,
  }
  settleCounts(assumed)
  return assumed
}

/** The history in which only these reads have a choice; all others that have one bind nobody. */
export function chooseAmong(history: History, reads: readonly number[]): History {
  const writers = history.writers!
  const wanted = new Set(reads)
  const choices = Int32Array.from(writers.reads.keys()).filter((choice) =>
    wanted.has(writers.reads[choice]!),
  )
  const of = (column: Int32Array) => choices.map((choice) => column[choice]!)
  const [group, likeliest] = [of(writers.group), of(writers.likeliest)]
  const sources = Array.from(choices, (choice) =>
    sourceOf(writers, choice, writers.likeliest[choice]!),
  )
  const narrow = { ...writers, reads: of(writers.reads), group, likeliest }
  return { ...assume(history, sources), writers: narrow }
}

/** Id of what every key holds at first. */
export function initialId({ values, initial }: History): number {
  return values.of(initial === undefined ? null : initial)
}

/** choice -> how many writers it has. */
export function sizesOf({ group, start }: PossibleWriters): Int32Array {
  return group.map((each) => start[each + 1]! - start[each]!)
}

/** Whom a read is taken to have seen, by its choice and the position of the writer in its group. */
export function sourceOf(writers: PossibleWriters, choice: number, position: number): Source {
  const { reads, group, start, writes } = writers
  return { read: reads[choice]!, write: writes[start[group[choice]!]! + position]! }
}

/**
 * What is to be told of a history in which reads have a choice.
 * @param isOpen whether some do though values are unique
 */
export function warnOfChoices({ reads }: PossibleWriters, isOpen: boolean): string {
  const what = reads.length === 1 ? '1 read has' : `${reads.length} reads have`
  const why = isOpen
    ? 'totals of counters, or a cas that did not say what it found, do not tell whom they saw'
    : 'values were written twice'
  const remedy = isOpen
    ? 'registers and lists with unique values tell more'
    : 'with unique values each read would name its writer'
  return `${why}, so ${what} several possible writers: a level is satisfied if some choice of them satisfies it, and what one choice would show another may hide; ${remedy}`
}

/** Throws UsageError if a history that is to be shrunk does not tell whom each read saw. */
export function expectWriters({ writers }: History): void {
  if (writers === null) return
  throw new UsageError(
    'a history in which reads have several possible writers cannot be shrunk',
    'give every write a value of its own',
  )
}
