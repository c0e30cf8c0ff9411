// Decides, before a simulation starts, where its faults will strike: which sessions, and which of
// their transactions give way to a script. Strikes are spread evenly over the run, with the order
// of faults and the sessions drawn at random, and no transaction serves two of them. All sessions
// meet their strikes in the same order, so waiting for one another never ends in a deadlock.

import { UsageError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import { NONE } from '../history/history.ts'
import type { FaultRequest } from './faults.ts'
import type { Program } from './program.ts'
import { type Script, scriptOf } from './script.ts'

/** What placing a script takes to know of it. */
export interface Placeable {
  readonly fault: { readonly name: string }
  readonly txnCount: number
  readonly sessionTxns: readonly (readonly number[])[] // session -> roles, in session order
}

export interface PlacedScript<S extends Placeable> {
  readonly script: S
  readonly sessions: readonly number[] // session of the script -> session of the program
  readonly txns: readonly number[] // role -> txn of the program that gives way to it
}

export type Strike = PlacedScript<Script>

/** Where the strikes are, in the order in which every session meets them. */
export function placeStrikes(
  program: Program,
  sessionTxns: readonly Int32Array[],
  requests: readonly FaultRequest[],
  random: Random,
): Strike[] {
  const scripts: Script[] = []
  for (const { fault, count } of requests) {
    const script = scriptOf(fault)
    checkFits(program, script)
    for (let i = 0; i < count; i++) scripts.push(script)
  }
  return placeScripts(scripts, sessionTxns, random)
}

/** Shuffles the scripts, and finds a place for each. */
export function placeScripts<S extends Placeable>(
  scripts: S[],
  sessionTxns: readonly Int32Array[],
  random: Random,
): PlacedScript<S>[] {
  random.shuffle(scripts)
  const free = new Int32Array(sessionTxns.length) // session -> transactions spoken for so far
  return scripts.map((script, rank) => {
    const share = (rank + random.unit()) / scripts.length
    const sessions = chooseSessions(script, sessionTxns, free, random)
    const txns = new Array<number>(script.txnCount).fill(NONE)
    sessions.forEach((session, i) => {
      const roles = script.sessionTxns[i]!
      const own = sessionTxns[session]!
      // As far into the session as into the run, but behind the strike before.
      const first = Math.max(free[session]!, Math.floor(share * (own.length - roles.length + 1)))
      roles.forEach((role, j) => {
        txns[role] = own[first + j]!
      })
      free[session] = first + roles.length
    })
    return { script, sessions, txns }
  })
}

/** Sessions with room for the script, those with the fewest strikes so far first. */
function chooseSessions(
  script: Placeable,
  sessionTxns: readonly Int32Array[],
  free: Int32Array,
  random: Random,
): number[] {
  const order = random.shuffle(Array.from(sessionTxns.keys()))
  order.sort((a, b) => free[a]! - free[b]!)
  const chosen: number[] = []
  for (const roles of script.sessionTxns) {
    const session = order.find(
      (s) => !chosen.includes(s) && free[s]! + roles.length <= sessionTxns[s]!.length,
    )
    if (session === undefined) {
      throw new UsageError(
        `there are not enough transactions for so many faults (no room for ${script.fault.name})`,
        'ask for more transactions or for fewer faults',
      )
    }
    chosen.push(session)
  }
  return chosen
}

function checkFits(program: Program, script: Script): void {
  const { name } = script.fault
  if (program.sessionCount < script.sessionCount) {
    const message = `${name} needs ${script.sessionCount} sessions, and there are ${program.sessionCount}`
    throw new UsageError(message, 'ask for more sessions')
  }
  if (program.keyCount < script.keyCount) {
    throw new UsageError(`${name} needs two keys, and there is one`, 'ask for more keys')
  }
  if (program.lightweight && !script.lightweight) {
    throw new UsageError(`${name} needs larger transactions than lightweight ones`)
  }
  if (program.disjointWrites && script.keyWriters.some((writers) => writers.size > 1)) {
    throw new UsageError(
      `${name} needs two sessions that write one key, and disjoint writes rule that out`,
    )
  }
}
