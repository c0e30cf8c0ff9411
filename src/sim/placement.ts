// Decides, before a simulation starts, where its faults will strike: which sessions, and which of
// their transactions give way to a script. Strikes are spread evenly over the run, with the order
// of faults and the sessions drawn at random, and no transaction serves two of them. All sessions
// meet their strikes in the same order, so waiting for one another never ends in a deadlock.

import { UsageError } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import { NONE } from '../history/history.ts'

/** Who runs what in a script. */
export interface Cast {
  readonly txnCount: number
  readonly txnSession: readonly number[] // role -> which of the script's sessions runs it
  readonly sessionTxns: readonly (readonly number[])[] // session -> roles, in session order
}

/** What placing a script takes to know of it. */
export interface Placeable extends Cast {
  readonly fault: { readonly name: string }
}

export interface PlacedScript<S extends Placeable> {
  readonly script: S
  readonly sessions: readonly number[] // session of the script -> session of the plan
  readonly txns: readonly number[] // role -> txn of the plan that gives way to it
}

/** The number of a role: a is 0. */
export function roleOf(letter: string): number {
  return letter.charCodeAt(0) - 'a'.charCodeAt(0)
}

/** From a string of roles for each session, in session order. */
export function castOf(sessions: readonly string[]): Cast {
  const sessionTxns = sessions.map((roles) => [...roles].map(roleOf))
  const txnSession: number[] = []
  sessionTxns.forEach((roles, session) => {
    for (const txn of roles) txnSession[txn] = session
  })
  return { txnCount: txnSession.length, txnSession, sessionTxns }
}

/** The scripts of the faults asked for, each as often as it is to strike. Throws UsageError. */
export function repeatScripts<F, S extends Placeable>(
  requests: readonly { readonly fault: F; readonly count: number }[],
  sessionCount: number,
  scriptOf: (fault: F) => S,
): S[] {
  return requests.flatMap(({ fault, count }) => {
    const script = scriptOf(fault)
    const { length } = script.sessionTxns
    if (sessionCount < length) {
      const message = `${script.fault.name} needs ${length} sessions, and there are ${sessionCount}`
      throw new UsageError(message, 'ask for more sessions')
    }
    return new Array<S>(count).fill(script)
  })
}

/** Shuffles the scripts; every session meets them in the order that is returned. */
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
