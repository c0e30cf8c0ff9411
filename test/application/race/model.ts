// A small database in memory that blocks, refuses and deadlocks as PostgreSQL does at READ
// COMMITTED and REPEATABLE READ, for programs of reads and writes of rows: the reduction is
// compared with brute force on it. Main functions: play, randomProgram.

import {
  type Footprint,
  NOTHING,
  together,
  UNKNOWN,
} from '../../../src/application/race/footprint.ts'
import type { RunEvent } from '../../../src/application/race/trace.ts'
import type { Random } from '../../../src/base/random.ts'

export type Action = { kind: 'read' | 'write' | 'scan'; row: string } | { kind: 'commit' }

export interface Program {
  readonly level: 'rc' | 'rr'
  readonly actions: readonly Action[]
}

class Actor {
  next = 0
  waitsFor: string | null = null // row
  snapshot = -1 // commits it sees; -1: none taken
  own = new Map<string, string>() // row -> version it wrote
  seen: string[] = []
  touched: Footprint = NOTHING

  constructor(
    readonly name: string,
    readonly program: Program,
  ) {}

  get isDone(): boolean {
    return this.next >= this.program.actions.length
  }
}

class Store {
  readonly commits: ReadonlyMap<string, string>[] = [] // what each commit wrote
  readonly locks = new Map<string, Actor>() // row -> who has written it

  versionAt(row: string, commits: number): string {
    for (let i = commits - 1; i >= 0; i--) {
      const version = this.commits[i]!.get(row)
      if (version !== undefined) return version
    }
    return `${row}0`
  }
}

export interface Played {
  readonly events: RunEvent[]
  /** What everybody saw, and what is left: the same for equivalent schedules. */
  readonly outcome: string
  /** Who could be let go at each step. */
  readonly choices: string[][]
  readonly schedule: string[]
}

/** Follows a schedule, then lets go whoever is first. */
export function play(programs: ReadonlyMap<string, Program>, schedule: readonly string[]): Played {
  const actors = [...programs].map(([name, program]) => new Actor(name, program))
  const store = new Store()
  const events: RunEvent[] = []
  const choices: string[][] = []
  for (let step = 0; ; step++) {
    const free = actors.filter((actor) => !actor.isDone && actor.waitsFor === null)
    if (free.length === 0) break
    choices.push(free.map(({ name }) => name))
    const actor = free.find(({ name }) => name === schedule[step]) ?? free[0]!
    const footprints = [perform(actor, store)]
    const woke: string[] = []
    for (let again = true; again; ) {
      again = false
      for (const other of actors) {
        if (other === actor || other.waitsFor === null || store.locks.has(other.waitsFor)) continue
        footprints.push(perform(other, store))
        woke.push(other.name)
        again = true
      }
    }
    events.push({ actor: actor.name, woke, footprint: together(footprints) })
  }
  const saw = actors.map((actor) => `${actor.name}: ${actor.seen.join(' ')}`)
  const rows = [...new Set(store.commits.flatMap((commit) => [...commit.keys()]))].sort()
  const left = rows.map((row) => store.versionAt(row, store.commits.length))
  const outcome = [...saw, left.join(' ')].join('; ')
  return { events, outcome, choices, schedule: events.map(({ actor }) => actor) }
}

/** One statement, or the next attempt of one that waited. */
function perform(actor: Actor, store: Store): Footprint {
  const action = actor.program.actions[actor.next]!
  if (action.kind === 'commit') return commit(actor, store)
  const takesSnapshot = actor.snapshot < 0 && actor.program.level === 'rr'
  if (takesSnapshot) actor.snapshot = store.commits.length
  const commits = actor.program.level === 'rr' ? actor.snapshot : store.commits.length
  const rows: ReadonlyMap<string, ReadonlySet<string> | null> = new Map([
    ['t', action.kind === 'scan' ? null : new Set([action.row])],
  ])
  if (action.kind !== 'write') {
    const read = action.kind === 'scan' ? ['x', 'y', 'z'] : [action.row]
    const saw = read.map((row) => actor.own.get(row) ?? store.versionAt(row, commits))
    actor.seen.push(saw.join(','))
    actor.next++
    return { ...NOTHING, reads: rows, takesSnapshot }
  }
  const footprint = { ...NOTHING, writes: rows, takesSnapshot }
  actor.touched = together([actor.touched, footprint])
  const holder = store.locks.get(action.row)
  if (holder !== undefined && holder !== actor) {
    if (waitsIndirectly(holder, actor, store)) return refuse(actor, store, 'deadlock')
    actor.waitsFor = action.row
    return footprint
  }
  actor.waitsFor = null
  const latest = store.versionAt(action.row, store.commits.length)
  const isStale = latest !== store.versionAt(action.row, commits)
  if (isStale) return refuse(actor, store, 'serialization failure')
  store.locks.set(action.row, actor)
  const version = `${action.row}${actor.name}${actor.next}`
  actor.seen.push(`${actor.own.get(action.row) ?? latest}>${version}`)
  actor.own.set(action.row, version)
  actor.next++
  return footprint
}

function commit(actor: Actor, store: Store): Footprint {
  if (actor.own.size > 0) store.commits.push(actor.own)
  const { touched } = actor
  letGo(actor, store)
  actor.next++
  return { ...touched, ends: true, takesSnapshot: false }
}

/** Rolls back: the program goes on with its next transaction. */
function refuse(actor: Actor, store: Store, why: string): Footprint {
  actor.seen.push(why)
  letGo(actor, store)
  while (actor.program.actions[actor.next]!.kind !== 'commit') actor.next++
  actor.next++
  return UNKNOWN
}

function letGo(actor: Actor, store: Store): void {
  for (const [row, holder] of store.locks) if (holder === actor) store.locks.delete(row)
  actor.own = new Map()
  actor.touched = NOTHING
  actor.snapshot = -1
  actor.waitsFor = null
}

function waitsIndirectly(from: Actor, target: Actor, store: Store): boolean {
  for (let at: Actor | undefined = from; at !== undefined; ) {
    if (at === target) return true
    at = at.waitsFor === null ? undefined : store.locks.get(at.waitsFor)
  }
  return false
}

export function randomProgram(random: Random, size: number): Program {
  const actions: Action[] = []
  for (let i = 0; i < size; i++) {
    const row = ['x', 'y', 'z'][random.below(3)]!
    const kind = (['read', 'write', 'write', 'scan'] as const)[random.below(4)]!
    actions.push({ kind, row })
    if (random.below(3) === 0) actions.push({ kind: 'commit' })
  }
  if (actions.at(-1)!.kind !== 'commit') actions.push({ kind: 'commit' })
  return { level: random.below(2) === 0 ? 'rc' : 'rr', actions }
}

/** The outcomes of all schedules. */
export function everyOutcome(programs: ReadonlyMap<string, Program>): {
  outcomes: Set<string>
  count: number
} {
  const outcomes = new Set<string>()
  let count = 0
  const open: string[][] = [[]]
  for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) {
    const { choices, schedule, outcome } = play(programs, prefix)
    outcomes.add(outcome)
    count++
    for (let at = prefix.length; at < choices.length; at++) {
      for (const other of choices[at]!) {
        if (other !== schedule[at]) open.push([...schedule.slice(0, at), other])
      }
    }
  }
  return { outcomes, count }
}
