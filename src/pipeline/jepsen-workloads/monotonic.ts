// Values that only grow, in the two forms that Jepsen tests know. Rows (:add, then one :read of all
// of them by timestamp): values rise with timestamps, none is there twice, none that was added is
// lost, none is there whose insertion failed. Registers (:inc, and :read of several): transactions
// that saw a smaller value of a key come before those that saw a larger one, those of a process in
// their order, and that must not go round in a circle. O(n log n). Main function: judgeMonotonic.

import { InputError } from '../../base/errors.ts'
import { addTo, obtain } from '../../base/maps.ts'
import type { Form, JepsenOperation } from '../../formats/jepsen/forms.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findCyclic } from '../../graph/scc.ts'
import type { WorkloadFinding } from './asked.ts'

const MOST_TOLD = 8 // operations of a circle, or values

export function judgeMonotonic(operations: readonly JepsenOperation[]) {
  const done = operations.filter(({ type }) => type === 'ok')
  const reads = done.filter(({ f }) => f === 'read')
  return operations.some(({ f }) => f === 'inc')
    ? { reads: reads.length, findings: findCircles(done) }
    : { reads: reads.length, findings: judgeRows(operations, reads.at(-1)) }
}

function judgeRows(
  operations: readonly JepsenOperation[],
  last: JepsenOperation | undefined,
): WorkloadFinding[] {
  if (last === undefined) return []
  const { line, value } = last
  if (!Array.isArray(value)) {
    throw new InputError('malformed', 'the last read is no list of rows', { line, column: 1 })
  }
  const rows = (value as readonly Form[]).map((row) => ({
    value: fieldOf(row, 'val', line),
    time: fieldOf(row, 'sts', line),
  }))
  const findings: WorkloadFinding[] = []
  const find = (name: string, found: readonly unknown[], says: string) => {
    if (found.length === 0) return
    const told = found.slice(0, MOST_TOLD).join(', ')
    findings.push({ name, line, says: `${says}: ${told}${found.length > MOST_TOLD ? ' …' : ''}` })
  }
  const turned = rows.filter((row, i) => i > 0 && rows[i - 1]!.value >= row.value)
  const early = rows.filter((row, i) => i > 0 && rows[i - 1]!.time > row.time)
  const values = rows.map((row) => row.value)
  const there = new Set(values)
  const added = (wanted: string) =>
    operations.flatMap(({ f, type, value: row }) =>
      f === 'add' && type === wanted && row instanceof Map ? [fieldOf(row, 'val', line)] : [],
    )
  find(
    'TimestampOrder',
    early.map((row) => row.time),
    'rows are not by timestamp',
  )
  find(
    'NonMonotonicValue',
    turned.map((row) => row.value),
    'values do not rise with timestamps',
  )
  const twice = values.filter((each, i) => values.indexOf(each) < i)
  find('DuplicateValue', there.size < values.length ? twice : [], 'values are there twice')
  find(
    'LostInsert',
    added('ok').filter((each) => !there.has(each)),
    'values are lost',
  )
  find(
    'FailedInsert',
    added('fail').filter((each) => there.has(each)),
    'values failed to be added',
  )
  return findings
}

function fieldOf(row: Form, name: string, line: number): bigint {
  const value = row instanceof Map ? (row as ReadonlyMap<Form, Form>).get(name) : null
  if (typeof value === 'bigint') return value
  throw new InputError('malformed', `a row has no integer :${name}`, { line, column: 1 })
}

/** Operations that come before one another, one finding for each group of them. */
function findCircles(done: readonly JepsenOperation[]): WorkloadFinding[] {
  const seen = new Map<Form, Map<bigint, number[]>>() // key -> value -> operations
  const lastOf = new Map<bigint, number>() // process -> its latest operation
  const from: number[] = []
  const to: number[] = []
  const add = (earlier: number, later: number) => {
    from.push(earlier)
    to.push(later)
  }
  done.forEach(({ value, process }, at) => {
    const before = lastOf.get(process)
    if (before !== undefined) add(before, at)
    lastOf.set(process, at)
    if (!(value instanceof Map)) return
    for (const [key, each] of value as ReadonlyMap<Form, Form>) {
      if (typeof each !== 'bigint') continue
      const values = obtain(seen, key, () => new Map<bigint, number[]>())
      addTo(values, each, at)
    }
  })
  // Between two values of a key stands a node of its own, so that edges are as many as reads.
  let nodes = done.length
  for (const values of seen.values()) {
    const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    for (let i = 1; i < sorted.length; i++) {
      for (const earlier of sorted[i - 1]![1]) add(earlier, nodes)
      for (const later of sorted[i]![1]) add(nodes, later)
      nodes++
    }
  }
  const { componentOf, isCyclic } = findCyclic(buildCsr(nodes, from, to))
  const groups = new Map<number, number[]>()
  for (let at = 0; at < done.length; at++) {
    if (!isCyclic(at)) continue
    addTo(groups, componentOf[at]!, at)
  }
  return [...groups.values()].map((group) => {
    const lines = group.slice(0, MOST_TOLD).map((at) => done[at]!.line)
    const more = group.length > MOST_TOLD ? ' …' : ''
    const says = `each comes before the others, by what it saw: lines ${lines.join(', ')}${more}`
    return { name: 'NonMonotonicCycle', line: lines[0]!, says }
  })
}
