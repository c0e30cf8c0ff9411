// Linearizability of transactions that take effect at one instant, by brute force: tries every
// order that agrees with real time, with and without each that is indeterminate, and does what they
// say. Intervals are closed: equal instants overlap. Main functions: isAtomic, randomAtomicTxns,
// everyOneKeyHistory, buildAtomicHistory.

import { Random } from '../../src/base/random.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { ABORTED, COMMITTED, type History, INDETERMINATE } from '../../src/history/history.ts'

export type AtomicOp = readonly ['r' | 'w', key: string, value: number]

export interface AtomicTxn {
  readonly ops: readonly AtomicOp[]
  readonly status: 'committed' | 'indeterminate' | 'aborted'
  readonly start: number
  readonly finish: number // means nothing unless it committed
}

const STATUS = { committed: COMMITTED, indeterminate: INDETERMINATE, aborted: ABORTED }

export function isAtomic(txns: readonly AtomicTxn[]): boolean {
  return canGoOn(
    txns.filter(({ status }) => status !== 'aborted'),
    new Map(),
  )
}

function canGoOn(left: readonly AtomicTxn[], state: ReadonlyMap<string, number>): boolean {
  if (left.every(({ status }) => status === 'indeterminate')) return true
  return left.some((next) => {
    const others = left.filter((txn) => txn !== next)
    const isLate = others.some((txn) => txn.status === 'committed' && txn.finish < next.start)
    const after = isLate ? null : perform(next.ops, state)
    return after !== null && canGoOn(others, after)
  })
}

/** What the operations make of the state, null if a read sees something else. */
function perform(
  ops: readonly AtomicOp[],
  state: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> | null {
  const after = new Map(state)
  for (const [kind, key, value] of ops) {
    if (kind === 'w') after.set(key, value)
    else if ((after.get(key) ?? 0) !== value) return null
  }
  return after
}

/** Transactions of a store that mostly works: some reads are invented, some times are shifted. */
export function randomAtomicTxns(seed: number): AtomicTxn[] {
  const random = new Random(seed)
  const keys = ['x', 'y', 'z'].slice(0, 1 + random.below(3))
  const isOneKeyEach = random.chance(0.6)
  const wildness = random.pick([0, 0.05, 0.2])
  const state = new Map(keys.map((key) => [key, [0]]))
  const txns: AtomicTxn[] = []
  let value = 0
  const count = 2 + random.below(6)
  for (let i = 0; i < count; i++) {
    const status = random.chance(0.75)
      ? 'committed'
      : random.pick(['indeterminate', 'indeterminate', 'aborted'] as const)
    const isDone = status === 'committed' || (status === 'indeterminate' && random.chance(0.6))
    const only = random.pick(keys)
    const ops: AtomicOp[] = []
    const own = new Map<string, number>()
    for (let op = random.pick([1, 1, 2, 3]); op > 0; op--) {
      const key = isOneKeyEach ? only : random.pick(keys)
      const known = state.get(key)!
      if (random.chance(0.5)) {
        const seen = random.chance(wildness) ? random.pick([...known, 99]) : known.at(-1)!
        ops.push(['r', key, own.get(key) ?? seen])
      } else {
        own.set(key, ++value)
        ops.push(['w', key, value])
      }
    }
    if (isDone) for (const [key, written] of own) state.get(key)!.push(written)
    const middle = i * 2 + (random.chance(0.3) ? random.below(11) - 5 : 0)
    txns.push({ ops, status, start: middle - random.below(4), finish: middle + random.below(4) })
  }
  return txns
}

const INTERVALS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [1, 2],
  [2, 2],
] as const

/** Every history of three reads, writes, and reads before writes of one key, at three instants. */
export function* everyOneKeyHistory(): Generator<AtomicTxn[]> {
  const choicesOf = (own: number): AtomicTxn[] =>
    INTERVALS.flatMap(([start, finish]) => {
      const made = (ops: AtomicOp[]) => ({ ops, status: 'committed' as const, start, finish })
      const others = [0, 1, 2, 3].filter((value) => value !== own)
      const reads = others.map((value): AtomicOp => ['r', 'x', value])
      const write: AtomicOp = ['w', 'x', own]
      const lost = { ...made([write]), status: 'indeterminate' as const, finish: start }
      return [
        made([write]),
        ...(finish === 2 ? [lost] : []),
        ...reads.map((read) => made([read])),
        ...reads.map((read) => made([read, write])),
      ]
    })
  const [one, two, three] = [1, 2, 3].map(choicesOf)
  for (const [i, a] of one!.entries()) {
    // What comes earlier in the list of the second is met with both of them exchanged.
    for (const b of two!.slice(i)) {
      for (const c of three!) if (isTelling([a, b, c])) yield [a, b, c]
    }
  }
}

/** Something begins at once, else it is another history, later; and what is read was written. */
function isTelling(txns: readonly AtomicTxn[]): boolean {
  const written = txns.map(({ ops }, i) => (ops.at(-1)![0] === 'w' ? i + 1 : 0))
  const isWritten = ({ ops }: AtomicTxn) => {
    const [kind, , value] = ops[0]!
    return kind === 'w' || value === 0 || written.includes(value)
  }
  return txns.some(({ start }) => start === 0) && txns.every(isWritten)
}

/** Each in a session of its own. */
export function buildAtomicHistory(txns: readonly AtomicTxn[], duplicateValues = false): History {
  const builder = new HistoryBuilder(0)
  txns.forEach(({ ops, status, start, finish }, i) => {
    const txn = builder.addTxn(builder.session(i), STATUS[status])
    builder.setStart(txn, start)
    if (status === 'committed') builder.setFinish(txn, finish)
    for (const [kind, key, value] of ops) {
      if (kind === 'r') builder.read(txn, key, value)
      else builder.write(txn, key, value)
    }
  })
  return builder.finish(null, duplicateValues)
}
