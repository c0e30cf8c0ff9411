// Jepsen's workloads that are no transactions of reads and writes, each with the check that its
// authors mean: what is asked of them is an invariant, not a level. Which of them a history is
// follows from the names of its operations. Main function: judgeWorkload.

import { InputError, UsageError } from '../../base/errors.ts'
import type { Form, JepsenOperation } from '../../formats/jepsen/forms.ts'
import type { WorkloadFinding, WorkloadKind, WorkloadOptions } from './asked.ts'
import { judgeBank } from './bank.ts'
import { judgeCounter } from './counter.ts'
import { judgeMonotonic } from './monotonic.ts'

export interface WorkloadVerdict {
  readonly workload: WorkloadKind
  readonly verdict: 'satisfied' | 'violated' | 'unknown'
  /** Why it is unknown. */
  readonly reason: string | null
  /** Reads that were judged. */
  readonly reads: number
  readonly findings: readonly WorkloadFinding[]
}

/** Throws InputError for what is none of these workloads. */
export function judgeWorkload(
  operations: readonly JepsenOperation[],
  options: WorkloadOptions = {},
): WorkloadVerdict {
  const workload = options.kind ?? findKind(operations)
  if (workload !== 'bank' && (options.total !== undefined || options.negativeBalances)) {
    throw new UsageError(`a ${workload} has no accounts`, 'totals and balances are of banks')
  }
  const { reads, findings } = judgeKind(workload, operations, options)
  const isKnown = reads > 0
  return {
    workload,
    verdict: findings.length > 0 ? 'violated' : isKnown ? 'satisfied' : 'unknown',
    reason: isKnown || findings.length > 0 ? null : 'nothing was read',
    reads,
    findings,
  }
}

function judgeKind(
  workload: WorkloadKind,
  operations: readonly JepsenOperation[],
  options: WorkloadOptions,
): Pick<WorkloadVerdict, 'reads' | 'findings'> {
  if (workload === 'counter') return judgeCounter(operations)
  return workload === 'bank' ? judgeBank(operations, options) : judgeMonotonic(operations)
}

function findKind(operations: readonly JepsenOperation[]): WorkloadKind {
  const names = new Set(operations.map(({ f }) => f))
  if (names.has('transfer')) return 'bank'
  const isRead = ({ f, type }: JepsenOperation) => f === 'read' && type === 'ok'
  const read = operations.find(isRead)?.value ?? null
  if (names.has('inc')) return 'monotonic'
  if (names.has('add') && (read === null || typeof read === 'bigint')) return 'counter'
  if (names.has('add') && Array.isArray(read) && read.every(isRow)) return 'monotonic'
  if (names.has('add') && Array.isArray(read)) {
    const message =
      'the operations :add and :read are of a set, which is judged by its reads and writes'
    throw new InputError('unknown-workload', message, null, 'ask isobar check FILE --level sser')
  }
  const known = [...names].slice(0, 5).map((name) => `:${name}`)
  throw new InputError(
    'unknown-workload',
    `operations ${known.join(', ')} are no workload that is known here`,
    null,
    'counters (:add, :read), banks (:transfer, :read) and monotonic values (:add or :inc, :read); ' +
      'isobar check judges transactions, registers and sets',
  )
}

const isRow = (form: Form) => form instanceof Map
