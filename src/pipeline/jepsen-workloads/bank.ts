// A bank: money moves between accounts, so that every read of all of them, which is a transaction,
// shows the same total, and no account is overdrawn. A read that shows another total saw some
// transfer by half, which snapshots do not allow. One pass over the reads. Main function:
// judgeBank.

import { InputError } from '../../base/errors.ts'
import type { Form, JepsenOperation } from '../../formats/jepsen/forms.ts'
import type { WorkloadFinding, WorkloadOptions } from './asked.ts'

interface BankRead {
  readonly line: number
  readonly balances: readonly (readonly [Form, bigint])[]
  readonly missing: readonly Form[] // accounts without a balance
  readonly total: bigint
}

export function judgeBank(operations: readonly JepsenOperation[], options: WorkloadOptions) {
  const reads = operations.filter(({ f, type }) => f === 'read' && type === 'ok').map(readOf)
  const total = options.total ?? usualTotal(reads)
  const findings = reads.flatMap((read): WorkloadFinding[] => {
    const { line, missing } = read
    if (missing.length > 0) {
      return [{ name: 'NilBalance', line, says: `account ${missing.join(', ')} has no balance` }]
    }
    if (read.total !== total) {
      const says = `the accounts hold ${read.total} together, not ${total}`
      return [{ name: 'WrongTotal', line, says }]
    }
    const overdrawn = read.balances.filter(([, balance]) => balance < 0n)
    if (overdrawn.length === 0 || options.negativeBalances) return []
    const says = overdrawn.map(([account, balance]) => `account ${account} holds ${balance}`)
    return [{ name: 'NegativeBalance', line, says: says.join(', ') }]
  })
  return { reads: reads.length, findings }
}

function readOf({ value, line }: JepsenOperation): BankRead {
  if (!(value instanceof Map)) {
    throw new InputError('malformed', 'a read of a bank is a map of balances', { line, column: 1 })
  }
  const entries = [...(value as ReadonlyMap<Form, Form>)]
  const balances = entries.flatMap(([account, balance]) =>
    typeof balance === 'bigint' ? [[account, balance] as const] : [],
  )
  const missing = entries.filter(([, balance]) => typeof balance !== 'bigint').map(([key]) => key)
  const total = balances.reduce((sum, [, balance]) => sum + balance, 0n)
  return { line, balances, missing, total }
}

/** What most reads show, the first of them if they are as many. */
function usualTotal(reads: readonly BankRead[]): bigint {
  const counts = new Map<bigint, number>()
  for (const { total, missing } of reads) {
    if (missing.length === 0) counts.set(total, (counts.get(total) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? 0n
}
