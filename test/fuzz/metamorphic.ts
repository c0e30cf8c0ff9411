// Changes to a history that change nothing about it: other names for sessions, keys and values,
// transactions told in another order, clocks that run differently, transactions that have nothing
// to do with the rest, and things left out that no level looks at. Verdicts must stay, and so must
// the number of reads that show each pattern.

import { Random } from '../../src/base/random.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { Value } from '../../src/history/values.ts'
import { findAnomaly } from '../../src/levels/anomalies.ts'
import { WEAK_LEVELS } from '../../src/levels/levels.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { addDraft, type Draft, type DraftOp, type DraftTxn, draftOf } from '../small/draft.ts'
import { settle } from '../small/judge.ts'
import { anyHistory } from './histories.ts'
import type { Judge, Property } from './property.ts'

/** A draft, and how it is put into a history. */
interface Telling {
  readonly draft: Draft
  readonly session: (number: number) => Value
  /** Tells transactions of different sessions in any order. */
  readonly shuffled: boolean
}

type Change = (telling: Telling, random: Random) => Telling

const onDraft =
  (change: (draft: Draft, random: Random) => Draft): Change =>
  (telling, random) => ({ ...telling, draft: change(telling.draft, random) })

const mapTxns = (draft: Draft, change: (txn: DraftTxn) => DraftTxn): Draft => ({
  ...draft,
  sessions: draft.sessions.map((txns) => txns.map(change)),
})

const mapOps = (draft: Draft, change: (op: DraftOp) => DraftOp): Draft =>
  mapTxns(draft, (txn) => ({ ...txn, ops: txn.ops.map(change) }))

/** A name of its own for everything, of all kinds: 1 and "1" are two. */
function renamer(random: Random, taken: readonly Value[] = []): (name: Value) => Value {
  const names = new Map<Value, Value>()
  const used = new Set<Value>(taken)
  const make = (): Value => {
    const n = random.below(200)
    return random.pick<Value>([n, String(n), -1 - n, 2n ** 60n + BigInt(n), `k${n}`, 2 ** 31 + n])
  }
  return (name) => {
    if (!names.has(name)) {
      let fresh = make()
      while (used.has(fresh)) fresh = make()
      used.add(fresh)
      names.set(name, fresh)
    }
    return names.get(name)!
  }
}

function renameKeys(draft: Draft, random: Random): Draft {
  const rename = renamer(random)
  return mapOps(draft, (op) => ({ ...op, key: rename(op.key) }))
}

function renameValues(draft: Draft, random: Random): Draft {
  const { initial } = draft
  const rename = renamer(random, [initial ?? null])
  const change = (value: Value) => (value === initial ? value : rename(value))
  const changeRow = (row: Value | Value[]) => (Array.isArray(row) ? row.map(rename) : change(row))
  return mapOps(draft, (op) => {
    if (op.kind === 'list') return { ...op, list: op.list.map(rename) }
    if (op.kind === 'rows') return { ...op, rows: op.rows.map(changeRow) }
    return { ...op, value: change(op.value) }
  })
}

function stretchTime(draft: Draft, random: Random): Draft {
  const [factor, offset] = [1 + random.below(9), random.below(1000) - 500]
  const change = (time: number) => time * factor + offset
  const stretched = (txn: DraftTxn): DraftTxn => ({
    ...txn,
    ...(txn.start === undefined ? {} : { start: change(txn.start) }),
    ...(txn.finish === undefined ? {} : { finish: change(txn.finish) }),
  })
  const lead = draft.lead?.map(({ session, txn }) => ({ session, txn: stretched(txn) }))
  return mapTxns({ ...draft, ...(lead ? { lead } : {}) }, stretched)
}

/** Sessions of their own that write and read keys of their own, one version after another. */
function addUnrelated(draft: Draft, random: Random): Draft {
  const starts = draft.sessions.flat().flatMap(({ start }) => start ?? [])
  const leading = (draft.lead ?? []).flatMap(({ txn }) => txn.start ?? [])
  // Where nothing counts, nothing lacks its times.
  const counts = settle(draft)
  const timed = draft.sessions.flat().every(({ start }, i) => !counts[i] || start !== undefined)
  const length = 1 + random.below(4)
  const added = Array.from({ length: 1 + random.below(2) }, (_, n): DraftTxn[] => {
    const key = `unrelated ${n}`
    // Nobody may have finished before what leads starts.
    let clock = Math.max(Math.min(0, ...starts), ...leading)
    return Array.from({ length }, (_, i): DraftTxn => {
      const read: DraftOp = { kind: 'r', key, value: i }
      const write: DraftOp = { kind: 'w', key, value: i + 1 }
      const [start, finish] = [clock, clock + random.below(5)]
      clock = finish + random.below(2)
      const ops = i === 0 ? [write] : random.chance(0.5) ? [read, write] : [write]
      const aborted = i === length - 1 && random.chance(0.3)
      const status = aborted ? 'aborted' : 'committed'
      return { status, ops, ...(timed ? { start, finish } : {}) }
    })
  })
  // A value that is the initial one elsewhere would be another write of it here.
  const shift = typeof draft.initial === 'number' ? draft.initial + 1 : 0
  const moved = mapOps({ ...draft, sessions: added }, (op) =>
    op.kind === 'list' || op.kind === 'rows' ? op : { ...op, value: (op.value as number) + shift },
  )
  // What leads may have a session to itself, with the next number.
  const taken = Math.max(0, ...(draft.lead ?? []).map(({ session }) => session + 1))
  const own = Array.from({ length: Math.max(0, taken - draft.sessions.length) }, () => [])
  return { ...draft, sessions: [...draft.sessions, ...own, ...moved.sessions] }
}

function shuffleSessions(draft: Draft, random: Random): Draft {
  const order = random.shuffle(draft.sessions.map((_, number) => number))
  const sessions = order.map((number) => draft.sessions[number]!)
  const lead = draft.lead?.map(({ session, txn }) => {
    const at = order.indexOf(session)
    return { session: at < 0 ? session : at, txn }
  })
  return { ...draft, sessions, ...(lead ? { lead } : {}) }
}

/** Indeterminate transactions that nobody observed, and what aborted transactions read. */
function leaveOutUnjudged(draft: Draft): Draft {
  // What does not count may pass session order on.
  if (draft.sessions.flat().some(({ after }) => after?.length)) return draft
  const counts = settle(draft)
  let number = 0
  const sessions = draft.sessions.map((txns) =>
    txns
      .filter(({ status }) => counts[number++] || status !== 'indeterminate')
      .map((txn) => {
        if (txn.status !== 'aborted') return txn
        return { ...txn, ops: txn.ops.filter(({ kind }) => kind === 'w' || kind === 'append') }
      }),
  )
  return { ...draft, sessions }
}

/** Every key may be written its initial value first, by a transaction of any session. */
function spellOut(draft: Draft, random: Random): Draft {
  const { initial } = draft
  if (initial === undefined || draft.lead) return draft
  const registers = draft.sessions.flat().flatMap(({ ops }) => {
    return ops.flatMap(({ kind, key }) => (kind === 'r' || kind === 'w' ? [key] : []))
  })
  const ops = [...new Set(registers)].map((key): DraftOp => ({ kind: 'w', key, value: initial }))
  if (ops.length === 0) return draft
  const session = random.below(draft.sessions.length + 1)
  return { ...draft, lead: [{ session, txn: { status: 'committed', ops } }] }
}

const CHANGES: Record<string, Change> = {
  'sessions renamed': (telling, random) => ({ ...telling, session: renamer(random) }),
  'keys renamed': onDraft(renameKeys),
  'values renamed': onDraft(renameValues),
  'clocks changed': onDraft(stretchTime),
  'unrelated transactions added': onDraft(addUnrelated),
  'unjudged things left out': onDraft(leaveOutUnjudged),
  'the initial state spelt out': onDraft(spellOut),
  'sessions told in another order': onDraft(shuffleSessions),
  'transactions told in another order': (telling) => ({ ...telling, shuffled: true }),
}

function build({ draft, session, shuffled }: Telling, random: Random): History {
  const builder = new HistoryBuilder(draft.initial, 32)
  const queue = draft.sessions.flatMap((txns, number) => txns.map(() => number))
  const next = draft.sessions.map((txns) => txns.values())
  const order = shuffled ? random.shuffle(queue) : queue
  const told = order.map((number) => ({ session: number, txn: next[number]!.next().value! }))
  addDraft(builder, [...(draft.lead ?? []), ...told], session)
  return builder.finish()
}

const isWeak = ({ level }: LevelResult) => WEAK_LEVELS.includes(level)

/**
 * What must not change: verdicts, and at weak levels how many reads show each pattern. Where there
 * are cycles in so ∪ wr, of those to show first the checker is free to choose, and what comes after
 * them is sought in what is left.
 */
function essence(results: readonly LevelResult[]): string[] {
  return results.map((result) => {
    const taps = isWeak(result)
      ? result.anomalies.flatMap(({ name, count }) => {
          const tap = findAnomaly(name)?.tap
          return tap ? [{ name, count, tap }] : []
        })
      : []
    const hasCycle = taps.some(({ tap }) => tap === 'g')
    const patterns = taps
      .filter(({ tap, name }) => !hasCycle || tap <= 'g' || name === 'NonRepeatableRead')
      .map(({ count, name }) => `${count} ${name}`)
    return [`${result.level} ${result.verdict}`, ...patterns.sort()].join(', ')
  })
}

/** The same for faults: their names and how often each is counted, at weak levels. */
function faults(results: readonly LevelResult[]): string[] {
  return results.map((result) => {
    const { level, verdict, anomalies } = result
    const isFree = anomalies.some(({ name }) => name === 'CircularInformationFlow')
    if (!isWeak(result) || isFree) return `${level} ${verdict}`
    const told = anomalies.map(({ count, name }) => `${count} ${name}`)
    return [`${level} ${verdict}`, ...told.sort()].join(', ')
  })
}

/** Some of the changes, in any order. */
function runMetamorphic(seed: number, judge: Judge): string | null {
  const random = new Random(seed ^ 0x3e7a)
  const { draft } = draftOf(anyHistory(seed))
  const plain: Telling = { draft, session: (number) => number, shuffled: false }
  const all = random.shuffle(Object.keys(CHANGES))
  const chosen = all.slice(0, random.pick([1, 1, 2, 3, all.length]))
  const before = build(plain, random)
  const after = build(
    chosen.reduce((telling, name) => CHANGES[name]!(telling, random), plain),
    random,
  )
  const told = (history: History) => [
    ...essence(judge(history, { byPattern: true })),
    ...faults(judge(history, {})),
  ]
  const [was, is] = [told(before), told(after)]
  const differs = was.findIndex((line, i) => line !== is[i])
  if (differs < 0) return null
  const texts = `${renderNotation(before)}\n${renderNotation(after)}`
  return `${chosen.join(', ')}: '${was[differs]}' became '${is[differs]}'\n${texts}`
}

export const METAMORPHIC: Property = { name: 'metamorphic', run: runMetamorphic }
