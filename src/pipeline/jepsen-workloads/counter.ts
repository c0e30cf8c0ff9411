// A counter that starts at 0 and only grows: whatever is read lies between what had surely been
// added when the read began and what may have been added when it ended. An addition that failed was
// never made; one that nobody knows the outcome of may count from when it was asked for, or never.
// One pass over the events. Main function: judgeCounter.

import { InputError } from '../../base/errors.ts'
import type { JepsenOperation } from '../../formats/jepsen/forms.ts'
import type { WorkloadFinding } from './asked.ts'
import { type PairedOperation, pairOperations } from './pair-operations.ts'

export function judgeCounter(operations: readonly JepsenOperation[]) {
  const pairs = pairOperations(operations)
  const isFailed = ({ answer }: PairedOperation) => answer?.type === 'fail'
  const adds = pairs.filter((pair) => pair.asked.f === 'add' && !isFailed(pair))
  const isRead = ({ asked, answer }: PairedOperation) => asked.f === 'read' && answer?.type === 'ok'
  const reads = pairs.filter(isRead)
  const certain = new Float64Array(operations.length + 1) // place -> what an answer there adds
  const possible = certain.slice() // place -> what an invocation there may add
  for (const { asked, answer, start, finish } of adds) {
    const amount = amountOf(asked)
    possible[start]! += amount
    if (answer?.type === 'ok') certain[finish]! += amount
  }
  for (let place = 1; place < certain.length; place++) {
    certain[place]! += certain[place - 1]!
    possible[place]! += possible[place - 1]!
  }
  const findings: WorkloadFinding[] = []
  for (const { answer, start, finish } of reads) {
    const { value, line } = answer!
    const [least, most] = [certain[start]!, possible[finish]!]
    if (typeof value !== 'bigint') {
      throw new InputError('malformed', 'a counter was read as something else', { line, column: 1 })
    }
    if (Number(value) >= least && Number(value) <= most) continue
    const isLow = Number(value) < least
    findings.push({
      name: isLow ? 'LostIncrement' : 'UnknownIncrement',
      line,
      says: isLow
        ? `${value} was read, though ${least} had been added before`
        : `${value} was read, though no more than ${most} had been asked for`,
    })
  }
  return { reads: reads.length, findings }
}

function amountOf({ value, line }: JepsenOperation): number {
  const amount = typeof value === 'bigint' ? Number(value) : Number.NaN
  if (Number.isSafeInteger(amount) && amount >= 0) return amount
  const what = amount < 0 ? `${value} is added` : 'what is added is no integer'
  throw new InputError(
    'negative-counter',
    `${what}: a counter whose bounds can be told only grows`,
    { line, column: 1 },
    'where amounts may be negative, what lies between the bounds says nothing',
  )
}
