// The faults a store can be asked to show, as one table: the weakest level that forbids each (all
// levels below it still hold), and a script that shows it with as few transactions as possible.
//
// A script is a schedule over transactions a, b, …:
//   a.begin  a.commit  a.abort   a.lose: tells the client it committed, but keeps nothing
//   a.r(x)         reads x as it was before the script began
//   a.r(x,b)       reads what b wrote to x last so far, committed or not; a.r(x,b1): first
//   a.r(x,initial) reads the initial state of x
//   a.w(x)         writes x
//   a.again(x,b)   a.r(x,b); of a list, what is there now with b's last element once more
//   a.p(x)         a.r(x), which puts the write that follows after the version it read; left out,
//                  by the toss of a coin, where that is the initial state, which precedes all
//   a.m(x)         a.r(x), only where the workload reads every key before it writes it
//   a.r(x,a1)      after writes of its own: sees only the first of them
//   a.miss(x)      a.r(x), and sees nothing of what it wrote itself
//   a.ahead(x)     reads what it will write to x next
//   a.guess(x)     reads a value that nobody writes
// Which transactions share a session is said by `sessions`, one string for each, in session order;
// where it is left out none do.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { implies, type LevelId } from '../levels/levels.ts'

export interface Fault {
  readonly name: string
  /** The weakest level of the chain that forbids it. */
  readonly forbiddenFrom: LevelId
  /** One beside the chain that forbids it too, though it implies no level of the chain that does. */
  readonly besideChain?: LevelId
  /** Whether cut isolation forbids it too. */
  readonly breaksCut?: true
  /** The same two on lists, where they differ: a list tells more than a register. */
  readonly onLists?: { readonly forbiddenFrom: LevelId; readonly breaksCut?: true }
  readonly meaning: string
  readonly sessions: readonly string[]
  readonly script: string
  /** Transactions that must do nothing but their script. */
  readonly alone?: string
  /** Prefers a key that nobody wrote before. */
  readonly unwritten?: boolean
  /** Set where a store that only answers cannot show it. */
  readonly needsPlan?: true
}

/** A fault as its table has it. */
export type Row<F> = Omit<F, 'sessions'> & { readonly sessions?: readonly string[] }

/** Each transaction has a session of its own unless the row says otherwise. */
export function withSessions<R extends Row<{ readonly script: string }>>(rows: readonly R[]) {
  const lettersOf = (script: string) => new Set(script.match(/\b[a-d](?=\.)/g))
  return rows.map((row) => ({
    ...row,
    sessions: row.sessions ?? [...lettersOf(row.script)].sort(),
  }))
}

/** Forbidden by every level, and by those alone that know real time. */
const BY_ALL = { forbiddenFrom: 'rc', breaksCut: true } as const
const BY_STRICT = { forbiddenFrom: 'sser', besideChain: 'strong-si' } as const

export const FAULTS: readonly Fault[] = withSessions<Row<Fault>>([
  {
    name: 'thin-air-read',
    ...BY_ALL,
    meaning: 'a transaction reads a value that nobody ever wrote',
    script: 'a.begin a.guess(x) a.commit',
  },
  {
    name: 'future-read',
    ...BY_ALL,
    meaning: 'a transaction reads what it writes itself a moment later',
    script: 'a.begin a.ahead(x) a.w(x) a.commit',
    needsPlan: true,
  },
  {
    name: 'not-my-last-write',
    ...BY_ALL,
    meaning: 'a transaction writes a key twice and then reads the first of its two writes',
    script: 'a.begin a.p(x) a.w(x) a.w(x) a.r(x,a1) a.commit',
  },
  {
    name: 'not-my-own-write',
    ...BY_ALL,
    meaning: 'a transaction writes a key and then reads what was there before',
    script: 'a.begin a.p(x) a.w(x) a.miss(x) a.commit',
  },
  {
    name: 'dirty-read',
    forbiddenFrom: 'rc',
    meaning: 'two transactions read each other’s writes before they commit',
    script: 'a.begin b.begin a.p(x) a.w(x) b.r(x,a) b.p(y) b.w(y) b.commit a.r(y,b) a.commit',
  },
  {
    name: 'aborted-read',
    ...BY_ALL,
    meaning: 'a transaction reads a write that is rolled back',
    script: 'a.begin b.begin a.m(x) a.w(x) b.r(x,a) a.abort b.commit',
    alone: 'a',
  },
  {
    name: 'intermediate-read',
    ...BY_ALL,
    meaning: 'a transaction reads a write that its writer replaces before it commits',
    script: 'a.begin b.begin a.p(x) a.w(x) b.r(x,a1) a.w(x) a.commit b.commit',
  },
  {
    name: 'non-monotonic-read',
    forbiddenFrom: 'rc',
    meaning: 'a transaction sees one of another’s writes, then a version that the other replaced',
    sessions: ['ab', 'c'],
    script:
      'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x,a) b.w(x) b.p(y) b.w(y) b.commit ' +
      'c.begin c.r(y,b) c.r(x,a) c.commit',
  },
  {
    name: 'non-repeatable-read',
    forbiddenFrom: 'ra',
    breaksCut: true,
    meaning: 'a transaction reads one key twice and finds another transaction’s write in between',
    script: 'b.begin b.r(x) a.begin a.p(x) a.w(x) a.commit b.r(x,a) b.commit',
  },
  {
    name: 'fractured-read',
    forbiddenFrom: 'ra',
    meaning: 'a transaction sees one of another’s two writes and misses the other',
    script: 'b.begin a.begin b.r(x) a.p(x) a.w(x) a.p(y) a.w(y) a.commit b.r(y,a) b.commit',
  },
  {
    name: 'session-order-violation',
    forbiddenFrom: 'ra',
    meaning: 'a session does not find what it wrote itself a moment ago',
    sessions: ['ab'],
    script: 'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x) b.commit',
  },
  {
    name: 'stale-initial-read',
    forbiddenFrom: 'ra',
    meaning: 'a session finds a key that it wrote in its initial state',
    sessions: ['ab'],
    script: 'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x,initial) b.commit',
    alone: 'b',
    unwritten: true,
  },
  {
    name: 'lost-write',
    forbiddenFrom: 'ra',
    onLists: { forbiddenFrom: 'rc' },
    meaning: 'a committed write disappears for good, and its own session writes on without it',
    sessions: ['ab', 'c'],
    script: 'a.begin a.p(x) a.w(x) a.lose b.begin b.r(x) b.w(x) b.commit c.begin c.r(x,b) c.commit',
    alone: 'a',
  },
  {
    name: 'causality-violation',
    forbiddenFrom: 'cc',
    meaning: 'a transaction sees an effect and misses its cause',
    script:
      'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x,a) b.p(y) b.w(y) b.commit ' +
      'c.begin c.r(y,b) c.r(x) c.commit',
  },
  {
    name: 'duplicate-delivery',
    forbiddenFrom: 'cc',
    onLists: BY_ALL,
    meaning: 'a write is applied a second time, after a newer one that a session has seen already',
    sessions: ['ab', 'cd'],
    script:
      'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x,a) b.w(x) b.commit ' +
      'c.begin c.r(x,b) c.commit d.begin d.again(x,a) d.commit',
  },
  {
    name: 'long-fork',
    forbiddenFrom: 'pc',
    meaning: 'two readers see two independent writes in opposite orders',
    script:
      'a.begin b.begin a.p(x) a.w(x) b.p(y) b.w(y) a.commit b.commit ' +
      'c.begin d.begin c.r(x,a) d.r(x) c.r(y) d.r(y,b) c.commit d.commit',
  },
  {
    name: 'lost-update',
    forbiddenFrom: 'si',
    besideChain: 'psi',
    meaning: 'two transactions replace the same version, and the first one’s update is lost',
    script: 'a.begin b.begin a.r(x) b.r(x) a.w(x) b.w(x) a.commit b.commit',
  },
  {
    name: 'write-skew',
    forbiddenFrom: 'ser',
    meaning: 'two transactions read both keys, and each replaces what the other one read',
    script: 'a.begin b.begin a.r(x) a.r(y) b.r(x) b.r(y) a.w(x) b.w(y) a.commit b.commit',
  },
  {
    name: 'stale-read',
    ...BY_STRICT,
    meaning: 'a transaction misses a write that was complete before it began',
    script: 'a.begin a.p(x) a.w(x) a.commit b.begin b.r(x) b.commit',
  },
  {
    name: 'real-time-violation',
    ...BY_STRICT,
    meaning: 'a transaction sees the later of two writes that followed each other, not the earlier',
    script:
      'c.begin a.begin a.p(x) a.w(x) a.commit b.begin b.p(y) b.w(y) b.commit ' +
      'c.r(y,b) c.r(x) c.commit',
  },
])

/** Whether a level forbids a fault, on registers or on lists. */
export function forbids(level: LevelId, fault: Fault, onLists: boolean): boolean {
  const { forbiddenFrom, breaksCut } = (onLists && fault.onLists) || fault
  if (level === 'ci') return breaksCut === true
  const { besideChain } = fault
  return implies(level, forbiddenFrom) || (besideChain !== undefined && implies(level, besideChain))
}

/** A fault, of a store of any kind, and how often it is to strike. */
export interface Requested<F> {
  readonly fault: F
  readonly count: number
}
export type FaultRequest = Requested<Fault>

/** Where a fault struck: numbers of transactions (in their roles a, b, …) and keys (x, y). */
export interface FaultStrike {
  readonly fault: string
  readonly txns: readonly number[]
  readonly keys: readonly number[]
}

export function findFault(name: string): Fault {
  const fault = FAULTS.find((known) => known.name === name)
  if (fault) return fault
  const names = FAULTS.map((known) => known.name)
  throw new UsageError(`unknown fault "${name}"`, hintFor(name, names))
}

/** Parses `lost-update:3,write-skew`. */
export function parseFaults(text: string): FaultRequest[] {
  return parseFaultList(text, findFault)
}

/** As parseFaults, with faults of any kind. */
export function parseFaultList<F>(text: string, find: (name: string) => F): Requested<F>[] {
  return text.split(',').map((part) => {
    const [name = '', times, ...rest] = part.trim().split(':')
    const fault = find(name)
    const count = times === undefined ? 1 : Number(times)
    if (rest.length > 0 || !/^\d+$/.test(times ?? '1') || count < 1 || count > 1e6) {
      throw new UsageError(`bad fault "${part.trim()}"`, `write it as ${name} or ${name}:3`)
    }
    return { fault, count }
  })
}
