// Fault scripts as data: parses the notation of faults.ts once, when the module is loaded. Main
// function: scriptsFor.

import { assert, UsageError } from '../base/errors.ts'
import { NONE } from '../history/history.ts'
import type { Plan } from '../workload/plan.ts'
import { FAULTS, type Fault, type FaultRequest } from './faults.ts'
import { castOf, type Placeable, repeatScripts, roleOf } from './placement.ts'

type Reading = 'read' | 'again' | 'miss' | 'ahead' | 'guess'
export type StepVerb = 'begin' | 'commit' | 'abort' | 'lose' | Reading | 'write'

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

export interface Script extends Placeable {
  readonly fault: Fault
  readonly keyCount: number
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

function parseStep(text: string): ScriptStep {
  const match = STEP.exec(text)
  assert(match !== null, `a step of a fault script, not ${text}`)
  const [, txn = '', verb = '', key, from, nth] = match
  return {
    txn: roleOf(txn),
    verb: VERBS[verb] ?? (verb as StepVerb),
    key: key === undefined ? NONE : key === 'x' ? 0 : 1,
    from: from === undefined ? NONE : from === 'initial' ? FROM_INITIAL : roleOf(from),
    nth: nth === undefined ? NONE : Number(nth) - 1,
    need: verb === 'p' ? 'order' : verb === 'm' ? 'shape' : 'always',
  }
}

function parseScript(fault: Fault): Script {
  const steps = fault.script.split(' ').map(parseStep)
  const cast = castOf(fault.sessions)
  const keyCount = Math.max(...steps.map((step) => step.key)) + 1
  const keyWriters = Array.from({ length: keyCount }, () => new Set<number>())
  for (const step of steps) {
    if (step.verb === 'write') keyWriters[step.key]!.add(cast.txnSession[step.txn]!)
  }
  return {
    ...cast,
    fault,
    keyCount,
    alone: new Set([...(fault.alone ?? '')].map(roleOf)),
    keyWriters,
    lightweight: keyCount === 1 && isLightweight(steps),
    steps,
  }
}

/** No transaction does the same thing twice, or knows what it will write. */
function isLightweight(steps: readonly ScriptStep[]): boolean {
  const kindOf = (verb: StepVerb) => (verb === 'again' ? 'read' : verb)
  return steps.every(({ txn, verb }, i) => {
    if (verb === 'ahead') return false
    return !steps.slice(0, i).some((step) => step.txn === txn && kindOf(step.verb) === kindOf(verb))
  })
}

const SCRIPTS = new Map(FAULTS.map((fault) => [fault.name, parseScript(fault)]))

export function scriptOf(fault: Fault): Script {
  return SCRIPTS.get(fault.name)!
}

/** The scripts of the faults asked for, if the plan has room for them. Throws UsageError. */
export function scriptsFor(plan: Plan, requests: readonly FaultRequest[]): Script[] {
  const scripts = repeatScripts(requests, plan.sessionCount, scriptOf)
  for (const { fault } of requests) checkFits(plan, scriptOf(fault))
  return scripts
}

function checkFits(plan: Plan, script: Script): void {
  const { name } = script.fault
  if (plan.keyCount < script.keyCount) {
    throw new UsageError(`${name} needs two keys, and there is one`, 'ask for more keys')
  }
  if (plan.lightweight && !script.lightweight) {
    throw new UsageError(`${name} needs larger transactions than lightweight ones`)
  }
  if (plan.disjointWrites && script.keyWriters.some((writers) => writers.size > 1)) {
    throw new UsageError(
      `${name} needs two sessions that write one key, and disjoint writes rule that out`,
    )
  }
}
