// Small histories as text that arrives in pieces: transactions of different sessions in any order
// that keeps each session's own, transactions of the native format pending before their outcome is
// told, lines of Plume text of several sessions in turn. Then a store that commits one transaction
// after another, some of which are told much too late: whole, or their last line, with audits that
// have seen others and ids of any size. Main functions: nativeLines, plumeLines, strayLines.

import type { Random } from '../../src/base/random.ts'
import type { Value } from '../../src/history/values.ts'
import { type Draft, type DraftTxn, spellsInitial } from '../small/draft.ts'

interface Arrival {
  readonly session: number
  readonly txn: DraftTxn
  readonly id: number
}

/** Transactions in an order of arrival, those that spell out the initial state first. */
function arrivalsOf(draft: Draft, random: Random): Arrival[] {
  const queues = draft.sessions.map((txns, session) => txns.map((txn) => ({ session, txn })))
  const arrivals: Arrival[] = []
  const take = (queue: { session: number; txn: DraftTxn }[]) => {
    arrivals.push({ ...queue.shift()!, id: arrivals.length + 1 })
  }
  for (const queue of queues) {
    while (queue[0] && spellsInitial(queue[0].txn, draft.initial)) take(queue)
  }
  for (;;) {
    const left = queues.filter((queue) => queue.length > 0)
    if (left.length === 0) return arrivals
    take(random.pick(left))
  }
}

export function nativeLines(draft: Draft, random: Random): string[] {
  const lines = [`{"isobar":1,"initial":${json(draft.initial ?? null)}}`]
  const open = new Map<number, string>() // session -> outcome to be told
  const tell = (session: number) => {
    const outcome = open.get(session)
    if (outcome !== undefined) lines.push(outcome)
    open.delete(session)
  }
  for (const { session, txn, id } of arrivalsOf(draft, random)) {
    tell(session)
    const ops = txn.ops.map((op) => `["${op.kind}",${json(op.key)},${json(valueIn(op))}]`).join(',')
    const about = `"session":${session},"ops":[${ops}]`
    if (random.chance(0.5) || spellsInitial(txn, draft.initial)) {
      lines.push(`{"id":${id},${about},"status":"${txn.status}"}`)
      continue
    }
    lines.push(`{"pending":${id},${about}}`)
    if (txn.status === 'indeterminate' && random.chance(0.5)) continue
    open.set(session, `{"outcome":${id},"status":"${txn.status}"}`)
    for (const other of [...open.keys()]) if (random.chance(0.3)) tell(other)
  }
  for (const session of [...open.keys()]) tell(session)
  return lines
}

/** Null if the format cannot tell it. */
export function plumeLines(draft: Draft, random: Random): string[] | null {
  if (draft.initial !== 0) return null
  const lines: string[] = []
  let open: string[][] = []
  for (const { session, txn, id } of arrivalsOf(draft, random)) {
    if (txn.status === 'indeterminate' || txn.ops.length === 0) return null
    const own: string[] = []
    for (const op of txn.ops) {
      const key = keyNumber(op.key)
      const value = valueIn(op)
      if (typeof value !== 'number') return null
      own.push(`${op.kind}(${key},${value},${session},${txn.status === 'aborted' ? -1 : id})`)
    }
    // Transactions of other sessions may begin before this one's last line.
    if (
      spellsInitial(txn, draft.initial) ||
      open.some((queue) => queue[0]!.endsWith(`,${session},`))
    )
      flush()
    const mine = own.map((line) => line)
    const clash = open.findIndex((queue) => sessionOf(queue[0]!) === session)
    if (clash >= 0) flush()
    open.push(mine)
    while (open.length > 2) step()
  }
  flush()
  return lines

  function step() {
    const queue = random.pick(open)
    lines.push(queue.shift()!)
    open = open.filter((other) => other.length > 0)
  }
  function flush() {
    while (open.length > 0) step()
  }
}

/** Some reads, and audits, see the version before the last. */
export function strayLines(random: Random, format: 'native' | 'plume'): string[] {
  const isPlume = format === 'plume'
  const versions = [[0], [0], [0]] // of each key
  const firstId = random.pick([0n, 2n ** 53n - 6n, 2n ** 60n])
  const told: { at: number; line: string }[] = []
  let value = 0
  for (let id = 1; id <= 14; id++) {
    const isAudit = !isPlume && random.chance(0.3)
    const isWriter = !isAudit && random.chance(0.6)
    const first = random.below(3)
    const ops = [first, (first + 1) % 3].flatMap((key) => {
      const known = versions[key]!
      const read = ['r', key, known.at(random.chance(0.15) ? -2 : -1) ?? 0] as const
      if (!isWriter) return [read]
      known.push(++value)
      return [...(isPlume ? [] : [read]), ['w', key, value] as const]
    })
    const late = random.chance(0.3) ? 4 + random.below(8) : 0
    const session = late > 0 ? 10 + id : random.below(3) // nobody follows one that is late
    if (isPlume) {
      const lines = ops.map(
        (op) => `${op.join(',').replace(',', '(')},${session},${firstId + BigInt(id)})`,
      )
      for (const [i, line] of lines.entries()) told.push({ at: id + (i === 0 ? 0 : late), line })
    } else {
      const times = `"start":${id * 10},"finish":${id * 10 + 5}`
      const about = `"id":${id},"session":${session},${times}${isAudit ? ',"audit":true' : ''}`
      told.push({ at: id + late, line: `{${about},"ops":${JSON.stringify(ops)}}` })
    }
  }
  const lines = told.sort((a, b) => a.at - b.at).map(({ line }) => line)
  return isPlume ? lines : ['{"isobar":1,"initial":0}', ...lines]
}

function sessionOf(line: string): number {
  return Number(line.slice(0, -1).split(',')[2])
}

function keyNumber(key: Value): number {
  return typeof key === 'number' ? key : String(key).charCodeAt(0)
}

function valueIn(op: DraftTxn['ops'][number]): Value {
  return (op as { value: Value }).value
}

function json(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
