// Reads that do not tell whom they saw, though values are unique. A compare-and-set that failed and
// did not say what it found saw anything but what it expected; a read of a counter whose total
// several sets of increments add up to saw each of those shares or not, so that they add up. Both
// become choices among possible writers (writers.ts). Main function: addOpenReads.

import { IntColumn } from '../base/grow.ts'
import { obtain, TupleMap } from '../base/maps.ts'
import { AGAIN, NOT_OPEN, OTHER, SHARE } from './expand-spans.ts'
import {
  ABORTED,
  type History,
  INITIAL,
  NONE,
  type PossibleWriters,
  type Sums,
  WRITE,
} from './history.ts'
import { groupByKey } from './layout.ts'
import type { LightOps } from './light.ts'
import { initialId, Likelihood, type Seen } from './writers.ts'

/** What the history in the making says of its open reads. */
export interface OpenReads {
  readonly open: Uint8Array // op -> NOT_OPEN, OTHER, SHARE or AGAIN
  readonly rest: ReadonlyMap<number, number> // span -> what its open shares add up to
}

/** The choices of all reads, with those that were there before. */
export function addOpenReads(
  history: History,
  { open, rest }: OpenReads,
  found: Seen,
  initial: number,
  known: PossibleWriters | null,
): PossibleWriters | null {
  if (open.every((each) => each === NOT_OPEN)) return known
  const choices = new Choices(history, known)
  const opener = new Opener(history, initial, found, choices)
  for (let op = 0; op < history.opCount; op++) {
    if (open[op] === OTHER) opener.openOther(op)
    else if (open[op] === SHARE) opener.openShare(op)
    else if (open[op] === AGAIN) opener.openAgain(op)
  }
  const writers = choices.finish()
  if (writers === null || rest.size === 0) return writers
  return { ...writers, sums: sumsOf(history, writers, open, rest) }
}

interface Choice {
  readonly read: number
  again: number // another read that sees the same, or NONE
  readonly group: number
  readonly likeliest: number
  readonly write: number // by whom it most likely was
}

/** Choices in the making. */
class Choices {
  private readonly all: Choice[] = []
  private readonly start = new IntColumn(16) // group -> its first entry
  private readonly writes = new IntColumn(16)
  private readonly likelihood: Likelihood

  constructor(history: History, known: PossibleWriters | null) {
    this.likelihood = new Likelihood(history)
    if (known === null) return
    for (let group = 0; group + 1 < known.start.length; group++) {
      this.addGroup(known.writes.subarray(known.start[group], known.start[group + 1]))
    }
    known.reads.forEach((read, i) => {
      const [group, likeliest] = [known.group[i]!, known.likeliest[i]!]
      const write = known.writes[known.start[group]! + likeliest]!
      this.all.push({ read, again: NONE, group, likeliest, write })
    })
  }

  addGroup(writes: ArrayLike<number>): number {
    this.start.push(this.writes.length)
    for (let i = 0; i < writes.length; i++) this.writes.push(writes[i]!)
    return this.start.length - 1
  }

  add(read: number, group: number): Choice {
    const from = this.start.data[group]!
    const to = group + 1 < this.start.length ? this.start.data[group + 1]! : this.writes.length
    const writes = Array.from(this.writes.data.subarray(from, to))
    const likeliest = this.likelihood.best(read, writes)
    const choice = { read, again: NONE, group, likeliest, write: writes[likeliest]! }
    this.all.push(choice)
    return choice
  }

  finish(): PossibleWriters | null {
    const { all } = this
    if (all.length === 0) return null
    this.start.push(this.writes.length)
    all.sort((a, b) => a.read - b.read)
    return {
      reads: Int32Array.from(all, ({ read }) => read),
      again: Int32Array.from(all, ({ again }) => again),
      group: Int32Array.from(all, ({ group }) => group),
      likeliest: Int32Array.from(all, ({ likeliest }) => likeliest),
      start: this.start.view(),
      writes: this.writes.view(),
      sums: null,
    }
  }
}

class Opener {
  private readonly others = new TupleMap<[key: number, value: number], number>() // group
  private readonly shares = new Map<number, number>() // key -> group
  private readonly latest = new Map<number, Choice>() // key -> choice of the last share of it
  private readonly byKey: Int32Array
  private readonly start: Int32Array

  constructor(
    private readonly history: History,
    private readonly initial: number,
    private readonly found: Seen,
    private readonly choices: Choices,
  ) {
    const { byKey, start } = groupByKey(history)
    this.byKey = byKey
    this.start = start
  }

  /** A read that saw anything but what its operation expected. */
  openOther(read: number): void {
    const { history, found, choices } = this
    if (history.txnStatus[history.opTxn[read]!] === ABORTED) return // it is not judged
    const light = history.light as LightOps
    const expected = light.expected[light.opLight[read]!]!
    const key = history.opKey[read]!
    const [own, writes] = this.othersThan(key, expected, read)
    if (own !== NONE) return settle(history, found, read, own)
    const [only] = writes
    if (only === undefined) return settle(history, found, read, NONE)
    if (writes.length === 1) return settle(history, found, read, only)
    const group = obtain(this.others, [key, expected], () => choices.addGroup(writes))
    settle(history, found, read, choices.add(read, group).write)
  }

  /** The reader's own write that it saw, NONE if it saw none of its own; and all it may have seen. */
  private othersThan(key: number, expected: number, read: number): [number, number[]] {
    const { opKind, opValue, opTxn, txnIsInitial } = this.history
    const writes: number[] = expected === this.initial ? [] : [INITIAL]
    let own: number = NONE
    for (let slot = this.start[key]!; slot < this.start[key + 1]!; slot++) {
      const op = this.byKey[slot]!
      if (opKind[op] !== WRITE || txnIsInitial[opTxn[op]!]) continue
      if (opTxn[op] === opTxn[read] && op < read) own = op
      if (opValue[op] !== expected) writes.push(op)
    }
    // Seeing its own last write binds nobody, so no other choice could be better.
    return [own !== NONE && opValue[own] !== expected ? own : NONE, writes]
  }

  /** A read of a share, which was all there or not at all. */
  openShare(read: number): void {
    const { history, found, choices } = this
    const key = history.opKey[read]!
    const group = obtain(this.shares, key, () => {
      let last: number = NONE
      for (let slot = this.start[key]!; slot < this.start[key + 1]!; slot++) {
        if (history.opKind[this.byKey[slot]!] === WRITE) last = this.byKey[slot]!
      }
      return choices.addGroup([INITIAL, last])
    })
    const choice = choices.add(read, group)
    this.latest.set(key, choice)
    settle(history, found, read, choice.write)
  }

  /** The same read of the share once more, behind all that its total saw. */
  openAgain(read: number): void {
    const { history, found } = this
    const choice = this.latest.get(history.opKey[read]!)!
    choice.again = read
    settle(history, found, read, choice.write)
  }
}

/** The read saw that write, INITIAL or NONE; what it holds is what was written then. */
function settle(history: History, found: Seen, read: number, write: number): void {
  found.readFrom[read] = write
  found.readTxn[read] = write >= 0 ? history.opTxn[write]! : write
  if (write >= 0) history.opValue[read] = history.opValue[write]!
  else if (write === INITIAL) history.opValue[read] = initialId(history)
}

function sumsOf(
  history: History,
  writers: PossibleWriters,
  open: Uint8Array,
  rest: ReadonlyMap<number, number>,
): Sums {
  const { opSpan, size } = history.spans!
  const start = new IntColumn(16)
  const choice = new IntColumn(16)
  const totals: number[] = []
  const choiceOf = new Map(Array.from(writers.reads, (read, i) => [read, i]))
  for (let op = 0; op < history.opCount; op++) {
    const total = rest.get(opSpan[op]!)
    if (opSpan[op] === NONE || total === undefined) continue
    start.push(choice.length)
    totals.push(total)
    for (let each = op; each < op + size[opSpan[op]!]!; each++) {
      if (open[each] === SHARE) choice.push(choiceOf.get(each)!)
    }
  }
  start.push(choice.length)
  const weight = Float64Array.from(choice.view(), (each) => {
    const { group, start: first, writes } = writers
    return Number(String(history.valueOf(writes[first[group[each]!]! + 1]!)).slice(1))
  })
  return { start: start.view(), choice: choice.view(), weight, total: Float64Array.from(totals) }
}
