// Histories of the shapes on which checkers of linearizability publish their figures, made anew: one
// register with compare-and-set and operations that time out, as Jepsen's logs of etcd have it, key-value
// stores to which clients append, and registers that are read and written. Operations take effect
// one after the other, ten apart in time, each somewhere in its interval. Main functions: etcdLog, writeStore.

import { closeSync, openSync, writeSync } from 'node:fs'
import { Random } from '../src/base/random.ts'

const APART = 10

interface Operation {
  readonly session: number
  readonly start: number
  readonly finish: number | null // null: nobody knows how it ended
  readonly f: 'read' | 'write' | 'cas'
  readonly value: string
  readonly isDone: boolean
}

/**
 * A log of Jepsen's register test, in EDN: five clients, five values, a third each reads, writes and
 * compare-and-sets. An operation that times out takes effect, later than it was asked for or never,
 * and its client goes on under another name.
 * @param stale how many of 100 reads show what was there some operations ago, as reads of a replica do
 */
export function etcdLog(seed: number, operations: number, timeouts: number, stale: number): string {
  const random = new Random(seed)
  const clients = 5
  const names = Array.from({ length: clients }, (_, client) => client)
  const states: (number | null)[] = [null]
  const late: { at: number; run: () => void }[] = []
  const all: Operation[] = []
  let state: number | null = null
  for (let at = 0; at < operations; at++) {
    for (const each of late.splice(0)) each.at <= at ? each.run() : late.push(each)
    const client = at % clients
    const session = names[client]!
    const start = APART * at - random.below(APART * 2)
    const end = APART * at + random.below(APART * 2)
    const f = random.pick(['read', 'write', 'cas'] as const)
    const [from, to] = [random.below(5), random.below(5)]
    const isLost = f !== 'read' && random.chance(timeouts / 100)
    const run = () => {
      if (f === 'write' || (f === 'cas' && state === from)) state = to
    }
    const isDone = f !== 'cas' || state === from
    const seen: number | null = random.chance(stale / 100) ? (states.at(-8) ?? null) : state
    const value = f === 'read' ? `${seen ?? 'nil'}` : f === 'write' ? `${to}` : `[${from} ${to}]`
    if (!isLost) run()
    else if (random.chance(0.6)) late.push({ at: at + 1 + random.below(12), run })
    if (isLost) names[client] = session + clients
    all.push({ session, start, finish: isLost ? null : end, f, value, isDone })
    states.push(state)
  }
  return events(all)
}

/** Invocations and completions in the order of time; of equal times, invocations first. */
function events(all: readonly Operation[]): string {
  const lines: { at: number; order: number; text: string }[] = []
  const last = APART * (all.length + 4)
  for (const { session, start, finish, f, value, isDone } of all) {
    const asked = f === 'read' ? 'nil' : value
    const type = finish === null ? 'info' : isDone ? 'ok' : 'fail'
    const tell = (at: number, order: number, type: string, value: string) => {
      lines.push({
        at,
        order,
        text: `{:type :${type}, :f :${f}, :value ${value}, :process ${session}}`,
      })
    }
    tell(start, 0, 'invoke', asked)
    tell(finish ?? last, 1, type, value)
  }
  lines.sort((a, b) => a.at - b.at || a.order - b.order)
  return `${lines.map(({ text }) => text).join('\n')}\n`
}

export interface Store {
  readonly operations: number
  readonly clients: number
  readonly keys: number
  /** How many values a register takes; none: each is written once. */
  readonly values?: number
  /** Writes append to lists. */
  readonly appends?: boolean
  /** One read, near the end, shows what was replaced the longest ago. */
  readonly isWrong: boolean
}

/** Writes a history of a key-value store, half of it reads, in the native format. */
export function writeStore(file: string, store: Store): void {
  const { operations, clients, keys, values, appends } = store
  const random = new Random(1)
  /** What a key held, the newest last; of equal values only the last time. */
  const held = Array.from({ length: keys }, () => new Set<number>())
  const newest = new Array<number>(keys).fill(0)
  let isRight = !store.isWrong
  const output = openSync(file, 'w')
  let lines = ['{"isobar":1,"initial":0}']
  for (let at = 0; at < operations; at++) {
    const key = random.below(keys)
    const past = held[key]!
    const isWrong = !isRight && at > 0.9 * operations && past.size > 2
    let op: unknown[]
    if (isWrong || random.chance(0.5)) {
      const shown = isWrong ? [...past].slice(0, 1) : appends ? [...past] : [newest[key]!]
      op = ['r', `k${key}`, appends ? shown : shown[0]]
      isRight ||= isWrong
    } else {
      const value = values === undefined ? at + 1 : random.below(values)
      past.delete(value)
      past.add(value)
      newest[key] = value
      op = [appends ? 'append' : 'w', `k${key}`, value]
    }
    const start = 2 * at - random.below(clients)
    const finish = 2 * at + random.below(clients)
    lines.push(JSON.stringify({ session: at % clients, start, finish, ops: [op] }))
    if (lines.length === 10_000) {
      writeSync(output, `${lines.join('\n')}\n`)
      lines = []
    }
  }
  if (lines.length > 0) writeSync(output, `${lines.join('\n')}\n`)
  closeSync(output)
}
