// The transactions of an example one operation after the other, with what each of them saw and what
// was committed by then. With times, operations are spread evenly between the start and the finish
// of their transaction; without, sessions take turns, and a read waits for the commit of what it
// saw, as long as somebody else can go on. So it is one way how it may have happened, not the only
// one; what was read and written is as recorded. Main function: buildReplay.

import { largest } from '../base/grow.ts'
import { inert } from '../base/inert.ts'
import { renderValue } from '../history/render-value.ts'
import type { Value } from '../history/values.ts'
import type { OpJson, TxnJson } from '../verdict/verdict-file.ts'
import { cutList } from './cut-list.ts'
import type { Example } from './example.ts'
import { cut, keyWord, plain } from './names.ts'

export type TxnState = 'waiting' | 'running' | 'committed' | 'aborted' | 'unknown'

/** One step: what a transaction does, and what that changes. */
export interface ReplayStep {
  txn: number
  /** Which of its operations, null for its end. */
  op: number | null
  text: string
  /** What is worth a second look: it saw something else than what was committed. */
  note: string
  state: TxnState
  /** A key as the transaction saw it, or wrote it: `x=1`. */
  saw: string | null
  wrote: string | null
  /** Keys that are something else from now on, for everybody: position in `keys`, and its value. */
  committed: [number, string][]
}

export interface Replay {
  /** Whether the order comes from recorded times. */
  timed: boolean
  txns: string[]
  keys: string[]
  /** What keys hold at first. */
  initial: string[]
  steps: ReplayStep[]
  /** Steps that are left out at the end. */
  left: number
}

const MAX_TXNS = 24
const MAX_STEPS = 300
const MAX_LIST = 48 // characters

type Held = Value | Value[]

/** An event to come: an operation, or the end of a transaction. */
interface Event {
  txn: number
  op: number | null
}

/** Null if there is nothing to replay. */
export function buildReplay(example: Example, initial: Value | false): Replay | null {
  const txns = example.txns.slice(0, MAX_TXNS)
  if (txns.length === 0) return null
  const timed = txns.every(
    ({ start, finish, status }) =>
      start !== undefined && (finish !== undefined || status !== 'committed'),
  )
  const events = timed ? orderByTime(txns) : takeTurns(txns)
  const total = txns.reduce((sum, { ops }) => sum + ops.length + 1, 0)
  return new Teller(example, txns, initial).tell(events.slice(0, MAX_STEPS), total, timed)
}

function eventsOf(txns: readonly TxnJson[], txn: number): Event[] {
  return [...txns[txn]!.ops.map((_, op): Event => ({ txn, op })), { txn, op: null }]
}

function orderByTime(txns: readonly TxnJson[]): Event[] {
  const last = largest(
    txns.map(({ start, finish }) => finish ?? start!),
    Number.NEGATIVE_INFINITY,
  )
  const placed = txns.flatMap(({ start, finish = last + 1 }, txn) => {
    const events = eventsOf(txns, txn)
    const step = (finish - start!) / events.length
    return events.map((event, i) => ({ event, at: start! + (i + 1) * step }))
  })
  return placed.sort((a, b) => a.at - b.at).map(({ event }) => event)
}

function takeTurns(txns: readonly TxnJson[]): Event[] {
  const writers = new Map<string, number>() // key and value -> who wrote it
  txns.forEach(({ ops }, txn) => {
    for (const [verb, key, value] of ops) if (isWrite(verb)) writers.set(nameWrite(key, value), txn)
  })
  const queues = new Map<Value, Event[]>() // session -> what it has yet to do
  txns.forEach(({ session }, txn) => {
    queues.set(session, [...(queues.get(session) ?? []), ...eventsOf(txns, txn)])
  })
  const isDone = new Set<number>()
  const mustWait = ({ txn, op }: Event) => {
    if (op === null) return false
    const [verb, key, value] = txns[txn]!.ops[op]!
    if (verb !== 'r') return false
    const seen = Array.isArray(value) ? (value.at(-1) ?? null) : value
    const writer = writers.get(nameWrite(key, seen))
    return writer !== undefined && writer !== txn && !isDone.has(writer)
  }
  const ordered: Event[] = []
  const pending = [...queues.values()]
  while (ordered.length < MAX_STEPS && pending.some((queue) => queue.length > 0)) {
    const ready = pending.filter(([next]) => next && !mustWait(next))
    // Where all wait for each other, what was seen had not been committed.
    const turn = ready.length > 0 ? ready : pending.filter(({ length }) => length > 0).slice(0, 1)
    for (const queue of turn) {
      const event = queue.shift()!
      ordered.push(event)
      if (event.op === null) isDone.add(event.txn)
    }
  }
  return ordered
}

/** 1 and "1" differ. */
function nameOf(key: Value): string {
  return typeof key === 'string' ? `"${key}` : String(key)
}

function nameWrite(key: Value, value: OpJson[2]): string {
  return JSON.stringify([nameOf(key), textOf(value)])
}

class Teller {
  private readonly keys = new Map<string, number>() // name -> position
  private readonly names: string[] = []
  private readonly held: Held[] = [] // key -> what is committed
  private first: Held[] = [] // key -> what was there before anything was written
  private readonly written: ReadonlySet<string> // keys and values that somebody here writes
  private readonly ownWrites: Map<number, Value[]>[] // transaction -> key -> its writes

  constructor(
    private readonly example: Example,
    private readonly txns: readonly TxnJson[],
    private readonly initial: Value | false,
  ) {
    const written = new Set<string>()
    for (const { ops } of txns) {
      for (const [verb, key, value] of ops) if (isWrite(verb)) written.add(nameWrite(key, value))
    }
    this.written = written
    this.ownWrites = txns.map(() => new Map())
  }

  /** @param total of the events, of which only the first ones may be given */
  tell(events: readonly Event[], total: number, timed: boolean): Replay {
    this.findFirst(events)
    const initial = this.held.map((_, key) => this.show(key))
    const steps = events.map((event) => (event.op === null ? this.end(event.txn) : this.do(event)))
    return {
      timed,
      txns: this.txns.map(({ id }) => plain(id)),
      keys: this.names,
      initial,
      steps,
      left: total - events.length,
    }
  }

  private get isSql(): boolean {
    return this.example.tables !== null
  }

  private keyOf(key: Value): number {
    const name = nameOf(key)
    const known = this.keys.get(name)
    if (known !== undefined) return known
    this.keys.set(name, this.names.length)
    this.names.push(this.isSql ? cut(inert(String(key))) : cut(keyWord(key)))
    const isList = this.txns.some(({ ops }) =>
      ops.some(
        ([verb, other, value]) => other === key && (verb === 'append' || Array.isArray(value)),
      ),
    )
    this.held.push(isList ? [] : this.initial === false ? null : this.initial)
    return this.names.length - 1
  }

  /** What is read first and was written by nobody here, somebody else had left before. */
  private findFirst(events: readonly Event[]): void {
    const settled = new Set<number>()
    for (const { txn, op } of events) {
      if (op === null) continue
      const [verb, name, value] = this.txns[txn]!.ops[op]!
      const key = this.keyOf(name)
      if (verb !== 'r' || settled.has(key)) continue
      if (Array.isArray(value)) {
        const elements = value.flat()
        const end = elements.findIndex((element) => this.isOurs(name, element))
        this.held[key] = end < 0 ? elements : elements.slice(0, end)
      } else if (!this.isOurs(name, value)) this.held[key] = value
      else continue
      settled.add(key)
    }
    this.first = [...this.held]
  }

  private isOurs(key: Value, value: Value): boolean {
    return this.written.has(nameWrite(key, value))
  }

  private do({ txn, op }: Event): ReplayStep {
    const [verb, name, value] = this.txns[txn]!.ops[op!]!
    const key = this.keyOf(name)
    const who = plain(this.txns[txn]!.id)
    const step = { txn, op, note: '', state: 'running' as const, committed: [] }
    if (!isWrite(verb)) {
      const saw = this.assign(key, value)
      return {
        ...step,
        text: `${who} reads ${saw}`,
        note: this.compare(txn, name, value),
        saw,
        wrote: null,
      }
    }
    const own = this.ownWrites[txn]!
    own.set(key, [...(own.get(key) ?? []), value as Value])
    const wrote = this.assign(key, value)
    const text =
      verb === 'append' ? `appends ${textOf(value)} to ${this.names[key]}` : `writes ${wrote}`
    return {
      ...step,
      text: `${who} ${text}`,
      saw: null,
      wrote: verb === 'append' ? `+${textOf(value)} to ${this.names[key]}` : wrote,
    }
  }

  /** What a read saw beside what was there for it to see; the rest of the world goes on as well. */
  private compare(txn: number, name: Value, saw: OpJson[2]): string {
    const key = this.keyOf(name)
    const mine = this.ownWrites[txn]!.get(key) ?? []
    const held = this.held[key]!
    if (Array.isArray(saw)) {
      const ours = (list: Held) =>
        textOf((Array.isArray(list) ? list : []).filter((each) => this.isOurs(name, each)))
      const there = [...(Array.isArray(held) ? held : []), ...mine]
      if (ours(saw.flat()) !== ours(there)) return `committed at this point: ${this.show(key)}`
      if (mine.length === 0) this.held[key] = saw.flat()
      return ''
    }
    const last = mine.at(-1)
    if (last !== undefined) {
      return textOf(last) === textOf(saw)
        ? 'its own write'
        : `though it wrote ${this.assign(key, last)}`
    }
    if (textOf(held) === textOf(saw)) return ''
    const isKnown = this.isOurs(name, saw) || textOf(saw) === textOf(this.first[key]!)
    if (isKnown) return `committed at this point: ${this.show(key)}`
    this.held[key] = saw
    return 'which somebody else wrote in between'
  }

  private end(txn: number): ReplayStep {
    const { id, status, rolledBack, observed } = this.txns[txn]!
    const step = { txn, op: null, note: '', saw: null, wrote: null }
    const who = plain(id)
    if (status === 'aborted') {
      const text = `${who} ${rolledBack ? 'rolls back' : 'aborts'}: what it wrote is gone`
      return { ...step, text, state: 'aborted', committed: [] }
    }
    if (status === 'indeterminate' && !observed) {
      const text = `${who} ends, and nobody knows how`
      return { ...step, text, state: 'unknown', committed: [] }
    }
    const committed: [number, string][] = []
    for (const [key, writes] of this.ownWrites[txn]!) {
      const held = this.held[key]!
      this.held[key] = Array.isArray(held) ? [...held, ...writes] : writes.at(-1)!
      committed.push([key, this.show(key)])
    }
    const what = committed.length > 0 ? `: ${committed.map(([, text]) => text).join(', ')}` : ''
    return { ...step, text: `${who} commits${what}`, state: 'committed', committed }
  }

  private show(key: number): string {
    return this.assign(key, this.held[key]!)
  }

  private assign(key: number, value: Held | OpJson[2]): string {
    const name = this.names[key]!
    if (Array.isArray(value)) {
      const parts = cutList(value.length, (at) => textOf(value[at]!), [], MAX_LIST)
      return `${name}=[${value.length === 0 ? '' : parts.join(' ')}]`
    }
    if (!this.isSql) return `${name}=${cut(textOf(value))}`
    return value === null ? `${name} as at first` : `${name}@${cut(textOf(value))}`
  }
}

function isWrite(verb: string): boolean {
  return verb === 'w' || verb === 'append'
}

function textOf(value: OpJson[2]): string {
  return Array.isArray(value) ? `[${value.map(textOf).join(' ')}]` : renderValue(value)
}
