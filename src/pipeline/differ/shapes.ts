// The kinds of small histories that are searched: which operations there are, and what each of them
// may have seen: the initial state, or any write, wherever it stands. What nobody wrote is never
// read, and who aborts has written what somebody read. Main table: SHAPES.

import { HistoryBuilder } from '../../history/builder.ts'
import { ABORTED, COMMITTED, type History } from '../../history/history.ts'
import { choices } from './choices.ts'
import { type Bounds, KEYS, type Skeleton } from './skeletons.ts'
import { statementHistories } from './statements.ts'
import type { Interval } from './times.ts'

/** What the histories are made of among which a difference is sought. */
export type DifferShape = 'general' | 'mini' | 'append' | 'sql'

export interface Shape {
  readonly about: string
  readonly bounds: Omit<Bounds, 'ops' | 'hasSessions'>
  /** All histories of a skeleton. @param times of each transaction, if they count */
  histories(skeleton: Skeleton, times: readonly Interval[] | null): Iterable<History>
}

const KEY_NAMES = ['x', 'y', 'z']
const READ = 0
const kindOf = (code: number) => Math.floor(code / KEYS)
const keyOf = (code: number) => code % KEYS

export const SHAPES: Readonly<Record<DifferShape, Shape>> = {
  general: {
    about: 'reads and writes in any order',
    bounds: { kinds: 2 },
    histories: registerHistories,
  },
  mini: {
    about: 'at most two reads and two writes, each write after a read of its key',
    bounds: { kinds: 2, isSound: isMini },
    histories: registerHistories,
  },
  append: {
    about: 'appends to lists, and reads of whole lists',
    bounds: { kinds: 2 },
    histories: listHistories,
  },
  sql: {
    about: 'SELECT of all rows, INSERT and DELETE of one',
    bounds: { kinds: 3, keyless: [READ] },
    histories: statementHistories,
  },
}

function isMini(ops: readonly number[]): boolean {
  const counts = [0, 0]
  for (const [at, code] of ops.entries()) {
    const isRead = kindOf(code) === READ
    if (++counts[isRead ? 0 : 1]! > 2) return false
    const isBuilt = ops.slice(0, at).some((b) => kindOf(b) === READ && keyOf(b) === keyOf(code))
    if (!isRead && !isBuilt) return false
  }
  return true
}

/** An operation in its place. */
interface Placed {
  readonly txn: number
  readonly isRead: boolean
  readonly key: number
}

function place({ txns }: Skeleton): Placed[] {
  return txns.flatMap((codes, txn) =>
    codes.map((code) => ({ txn, isRead: kindOf(code) === READ, key: keyOf(code) })),
  )
}

/** Writes of a key are numbered from 1; a read gets any of the numbers, or the initial 0. */
function* registerHistories(
  skeleton: Skeleton,
  times: readonly Interval[] | null,
): Generator<History> {
  const ops = place(skeleton)
  const writers: number[][] = KEY_NAMES.map(() => [-1]) // key -> value -> transaction
  const written = ops.map(({ isRead, key, txn }) => (isRead ? 0 : writers[key]!.push(txn) - 1))
  const reads = ops.flatMap(({ isRead }, at) => (isRead ? [at] : []))
  const sizes = reads.map((at) => writers[ops[at]!.key]!.length)
  for (const seen of choices(sizes)) {
    const values = [...written]
    for (const [i, at] of reads.entries()) values[at] = seen[i]!
    const readFrom = reads.map((at) => writers[ops[at]!.key]![values[at]!]!)
    for (const aborted of abortions(skeleton, readFrom)) {
      const builder = lay(skeleton, aborted, times, 0)
      for (const [at, { txn, isRead, key }] of ops.entries()) {
        const name = KEY_NAMES[key]!
        if (isRead) builder.read(txn, name, values[at]!)
        else builder.write(txn, name, values[at]!)
      }
      yield builder.finish()
    }
  }
}

/** A read of a list gets any of its elements in any order. */
function* listHistories(skeleton: Skeleton, times: readonly Interval[] | null): Generator<History> {
  const ops = place(skeleton)
  const counts = KEY_NAMES.map(() => 0)
  const appended = ops.map(({ isRead, key }) => (isRead ? 0 : ++counts[key]!))
  const writerOf = new Map(ops.map(({ key, txn }, at) => [key * ops.length + appended[at]!, txn]))
  const lists = counts.map(arrangements)
  const reads = ops.flatMap(({ isRead }, at) => (isRead ? [at] : []))
  for (const seen of choices(reads.map((at) => lists[ops[at]!.key]!.length))) {
    const listAt = new Map(reads.map((at, i) => [at, lists[ops[at]!.key]![seen[i]!]!]))
    const readFrom = reads.flatMap((at) =>
      listAt.get(at)!.map((value) => writerOf.get(ops[at]!.key * ops.length + value)!),
    )
    for (const aborted of abortions(skeleton, readFrom)) {
      const builder = lay(skeleton, aborted, times, null)
      for (const [at, { txn, isRead, key }] of ops.entries()) {
        const name = KEY_NAMES[key]!
        if (isRead) builder.readList(txn, name, listAt.get(at)!)
        else builder.append(txn, name, appended[at]!)
      }
      yield builder.finish()
    }
  }
}

/** All orders of all subsets of 1 … count, the shortest first. */
function arrangements(count: number): number[][] {
  const all: number[][] = [[]]
  for (let from = 0; from < all.length; from++) {
    for (let value = 1; value <= count; value++) {
      if (!all[from]!.includes(value)) all.push([...all[from]!, value])
    }
  }
  return all
}

/** Which transactions abort: none; each that only writes, and was read by somebody else. */
function* abortions(
  { txns }: Skeleton,
  readFrom: readonly number[],
): Generator<ReadonlySet<number>> {
  yield new Set()
  for (const [txn, codes] of txns.entries()) {
    if (readFrom.includes(txn) && codes.every((code) => kindOf(code) !== READ)) {
      yield new Set([txn])
    }
  }
}

/** The transactions of a skeleton, without their operations. */
function lay(
  { txns, sessions }: Skeleton,
  aborted: ReadonlySet<number>,
  times: readonly Interval[] | null,
  initial: 0 | null,
): HistoryBuilder {
  const builder = new HistoryBuilder(initial, 16)
  const sessionOf = sessions.flatMap((count, i) => new Array<number>(count).fill(i))
  for (const txn of txns.keys()) {
    const session = builder.session(sessionOf[txn]! + 1)
    builder.addTxn(session, aborted.has(txn) ? ABORTED : COMMITTED)
    if (times === null) continue
    builder.setStart(txn, times[txn]!.start)
    builder.setFinish(txn, times[txn]!.finish)
  }
  return builder
}
