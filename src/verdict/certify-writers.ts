// Verifies verdicts on histories in which values were written twice. A satisfied level says whom
// each read saw, and is proved under that choice like any other. A violated one has cases: each
// shows an anomaly where some reads saw some writers, in a history in which the other reads with a
// choice bind nobody; together they leave no choice open. Main function: certifyWriters.

import { Deadline } from '../base/deadline.ts'
import { BudgetExceeded } from '../base/errors.ts'
import { lowerBound } from '../base/search.ts'
import type { History, PossibleWriters } from '../history/history.ts'
import { assume, type Source, sizesOf } from '../history/writers.ts'
import type { Certification } from './certification.ts'
import { certifyPlain } from './certify-plain.ts'
import { addsUp, type Clash, coverChoices } from './cover-choices.ts'
import type { Anomaly, LevelResult } from './verdict.ts'

export function certifyWriters(
  history: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): Certification {
  const { verdict, sources, anomalies } = result
  const { writers } = history
  const refuse = (...problems: string[]): Certification => ({ problems, kind: null, anomalies })
  if (verdict === 'unknown') return refuse()
  if (writers === null)
    return refuse('every read tells whom it saw, so there is no writer to choose')
  if (result.level === 'mixed') return refuse('mixed levels need unique values')
  if (verdict === 'satisfied') {
    if (sources === undefined) return refuse('it does not say whom reads saw')
    const clash = clashOf(writers, sources)
    if (typeof clash === 'string') return refuse(clash)
    if (sources.length !== writers.reads.length) return refuse('it leaves open whom some reads saw')
    if (!isSum(writers, clash))
      return refuse('what it says that reads of counters saw does not add up')
    return certifyPlain(assume(history, sources), result, deadline)
  }
  if (sources !== undefined) return refuse('a violated level has no choice of writers')
  const clashes: Clash[] = []
  let kind: Certification['kind'] = 'reads'
  for (const anomaly of anomalies) {
    const clash = clashOf(writers, anomaly.given ?? [])
    if (typeof clash === 'string') return refuse(clash)
    clashes.push(clash)
    const certified = certifyCase(history, result, anomaly, deadline)
    if (certified.problems.length > 0) return refuse(...certified.problems)
    if (kind === 'reads' || certified.kind === 'cases') kind = certified.kind
  }
  try {
    if (coverChoices(sizesOf(writers), clashes, deadline, writers.sums) === null) {
      return refuse('the cases leave a choice of writers open')
    }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return refuse(error.message)
  }
  return { problems: [], kind, anomalies }
}

/** Whether all choices together add up where they must. */
function isSum({ sums, reads }: PossibleWriters, { choices, values }: Clash): boolean {
  if (sums === null) return true
  const chosen = new Int32Array(reads.length)
  choices.forEach((choice, i) => {
    chosen[choice] = values[i]!
  })
  return addsUp(sums, chosen)
}

/** Whether an anomaly shows in the case that it speaks of. */
export function certifyCase(
  history: History,
  result: LevelResult,
  anomaly: Anomaly,
  deadline: Deadline,
): Certification {
  const { given } = anomaly
  if (given === undefined) {
    const problems = [`${anomaly.name} does not say which writers it takes for granted`]
    return { problems, kind: null, anomalies: [anomaly] }
  }
  const alone = { ...result, anomalies: [anomaly] }
  return certifyPlain(assume(history, given), alone, deadline)
}

/** Sources as positions among the possible writers; in words what is wrong with them. */
export function clashOf(writers: PossibleWriters, sources: readonly Source[]): Clash | string {
  const { reads, group, start, writes } = writers
  const [choices, values]: [number[], number[]] = [[], []]
  for (const { read, write } of sources) {
    const choice = positionOf(reads, read)
    if (choice < 0) return 'it chooses a writer for a read that has no choice'
    const which = group[choice]!
    const value = writes.subarray(start[which]!, start[which + 1]!).indexOf(write)
    if (value < 0) return 'it chooses a writer that did not write what was read'
    choices.push(choice)
    values.push(value)
  }
  if (new Set(choices).size < choices.length) return 'it chooses two writers for one read'
  return { choices, values }
}

/** Where a number stands in ascending ones, -1 if it does not. */
function positionOf(ascending: Int32Array, wanted: number): number {
  const at = lowerBound(ascending, wanted)
  return ascending[at] === wanted ? at : -1
}
