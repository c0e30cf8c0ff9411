// Fault scripts as data: parses the notation of faults.ts once, when the module is loaded.

import { assert } from '../base/errors.ts'
import { NONE } from '../history/history.ts'
import { FAULTS, type Fault } from './faults.ts'

export type StepVerb =
  | 'begin'
  | 'commit'
  | 'abort'
  | 'lose'
  | 'read'
  | 'again'
  | 'miss'
  | 'ahead'
  | 'guess'
  | 'write'

export interface ScriptStep {
  readonly txn: number // role: a is 0
  readonly verb: StepVerb
  readonly key: number // x is 0, y is 1; NONE if none
  /** Read: role whose write it sees, NONE for the state before the script, INITIAL for initial. */
  readonly from: number
  /** Read: which of that role's writes of the key, from 0; NONE for the last one so far. */
  readonly nth: number
  /** Whether a read must be there: always, to put a write in its place, or to suit the workload. */
  readonly need: 'always' | 'order' | 'shape'
}

export interface Script {
  readonly fault: Fault
  readonly txnCount: number
  readonly keyCount: number
  readonly sessionCount: number
  readonly txnSession: readonly number[] // role -> which of the script's sessions runs it
  readonly sessionTxns: readonly (readonly number[])[] // session -> roles, in session order
  readonly alone: ReadonlySet<number> // roles that do nothing but the script
  readonly keyWriters: readonly ReadonlySet<number>[] // key -> sessions that write it
  /** Whether each transaction reads and writes one key once at most. */
  readonly lightweight: boolean
  readonly steps: readonly ScriptStep[]
}

/** In `from`: the initial state. */
export const FROM_INITIAL = -2

const STEP =
  /^([a-d])\.(begin|commit|abort|lose|r|again|miss|ahead|guess|w|p|m)(?:\(([xy])(?:,(initial|[a-d])(\d)?)?\))?$/

const VERBS: Record<string, StepVerb> = { r: 'read', p: 'read', m: 'read', w: 'write' }

function role(letter: string): number {
  return letter.charCodeAt(0) - 'a'.charCodeAt(0)
}

function parseStep(text: string): ScriptStep {
  const match = STEP.exec(text)
  assert(match !== null, `a step of a fault script, not ${text}`)
  const [, txn = '', verb = '', key, from, nth] = match
  return {
    txn: role(txn),
    verb: VERBS[verb] ?? (verb as StepVerb),
    key: key === undefined ? NONE : key === 'x' ? 0 : 1,
    from: from === undefined ? NONE : from === 'initial' ? FROM_INITIAL : role(from),
    nth: nth === undefined ? NONE : Number(nth) - 1,
    need: verb === 'p' ? 'order' : verb === 'm' ? 'shape' : 'always',
  }
}

function parseScript(fault: Fault): Script {
  const steps = fault.script.split(' ').map(parseStep)
  const sessionTxns = fault.sessions.map((roles) => [...roles].map(role))
  const txnSession: number[] = []
  sessionTxns.forEach((roles, session) => {
    for (const txn of roles) txnSession[txn] = session
  })
  const keyCount = Math.max(...steps.map((step) => step.key)) + 1
  const keyWriters = Array.from({ length: keyCount }, () => new Set<number>())
  for (const step of steps) {
    if (step.verb === 'write') keyWriters[step.key]!.add(txnSession[step.txn]!)
  }
  return {
    fault,
    txnCount: txnSession.length,
    keyCount,
    sessionCount: sessionTxns.length,
    txnSession,
    sessionTxns,
    alone: new Set([...(fault.alone ?? '')].map(role)),
    keyWriters,
    lightweight: keyCount === 1 && isLightweight(steps),
    steps,
  }
}

/** No transaction does the same thing twice, or knows what it will write. */
function isLightweight(steps: readonly ScriptStep[]): boolean {
  if (steps.some(({ verb }) => verb === 'ahead')) return false
  const done = steps.map(({ txn, verb }) => `${txn} ${verb === 'again' ? 'read' : verb}`)
  return new Set(done).size === done.length
}

const SCRIPTS = new Map(FAULTS.map((fault) => [fault.name, parseScript(fault)]))

export function scriptOf(fault: Fault): Script {
  return SCRIPTS.get(fault.name)!
}
