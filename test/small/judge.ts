// The first half of the oracle: read consistency and the relations so, wr, ww, rt, each recomputed
// from operations and values. Transactions that take part are numbered 1, 2, … in the order of the
// draft; 0 is the initial transaction. Sets of transactions are bit masks, so at most 30 take part.

import type { Value } from '../../src/history/values.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'

/** The initial transaction. */
export const INIT = 0

export type Offence =
  | 'ThinAirRead'
  | 'AbortedRead'
  | 'FutureRead'
  | 'NotMyLastWrite'
  | 'NotMyOwnWrite'
  | 'IntermediateRead'
  | 'DuplicateElements'
  | 'IncompatibleOrder'
  | 'DuplicateRow'
  | 'VanishedRow'
  | 'LostCommit'
  | 'WrongVersion'

/** A sound read of another transaction's write, or of the initial state. */
export interface OuterRead {
  readonly op: number // in the draft, counted from 0 through all sessions
  readonly reader: number
  readonly key: string
  readonly from: number
  readonly elements: readonly string[] | null // of a list, without the reader's own
}

export interface Situation {
  readonly count: number // transactions that take part, the initial one included
  readonly txnOf: readonly number[] // transaction of the draft, counted from 0 -> number, or -1
  readonly offences: readonly { readonly op: number; readonly name: Offence }[]
  readonly reads: readonly OuterRead[] // in program order within each reader
  readonly writers: ReadonlyMap<string, number> // key -> who writes it, INIT included
  readonly users: ReadonlyMap<string, number> // key -> who reads or writes it
  readonly appends: ReadonlyMap<string, readonly (readonly string[])[]> // list -> txn -> elements
  readonly so: readonly number[] // txn -> its predecessors in session order
  readonly wr: readonly number[] // txn -> whom it reads from
  readonly ww: readonly number[] // txn -> who must precede it by an observed list or by versions
  readonly versions: ReadonlyMap<string, readonly number[]> // key -> writers, as versions have them
  readonly rt: readonly number[] | null // txn -> who finished before it started; null: no times
}

interface Write {
  readonly txn: number // in the draft
  readonly position: number // in program order
}

/** A key or value as text in which 1 and "1" differ. */
const text = (value: Value): string => (typeof value === 'string' ? `"${value}` : `${value}`)
const place = (key: Value, value: Value): string => `${text(key)} = ${text(value)}`

const isWrite = (op: DraftOp) => op.kind === 'w' || op.kind === 'append'

/** The counting rule: committed, or indeterminate and read by one that counts. */
export function settle(draft: Draft): boolean[] {
  const txns = draft.sessions.flat()
  const writes = findWrites(draft)
  const counts = txns.map((txn) => txn.status === 'committed')
  for (let changed = true; changed; ) {
    changed = false
    txns.forEach((txn, reader) => {
      if (!counts[reader]) return
      for (const op of txn.ops) {
        for (const value of valuesRead(op)) {
          const writer = writes.get(place(op.key, value))?.txn
          if (writer === undefined || counts[writer]) continue
          if (txns[writer]!.status !== 'indeterminate') continue
          counts[writer] = true
          changed = true
        }
      }
    })
  }
  return counts
}

function valuesRead(op: DraftOp): readonly Value[] {
  if (op.kind === 'rows') return op.rows.flat()
  return op.kind === 'list' ? op.list : op.kind === 'r' ? [op.value] : []
}

function findWrites(draft: Draft): Map<string, Write> {
  const writes = new Map<string, Write>()
  draft.sessions.flat().forEach((txn, number) => {
    txn.ops.forEach((op, position) => {
      if (op.kind === 'w' || op.kind === 'append') {
        writes.set(place(op.key, op.value), { txn: number, position })
      }
    })
  })
  return writes
}

/** Judges every read and builds the relations, given who takes part (see `settle`). */
export function judge(
  draft: Draft,
  counts: readonly boolean[],
  options: { readonly sessionOrder: boolean },
): Situation {
  const txns = draft.sessions.flat()
  const txnOf: number[] = []
  let count = 1
  for (let txn = 0; txn < txns.length; txn++) txnOf.push(counts[txn] ? count++ : -1)
  const offences: { op: number; name: Offence }[] = []
  const reads: OuterRead[] = []
  const writes = findWrites(draft)
  const versions = new GivenVersions(draft, counts)
  let op = 0
  txns.forEach((txn, number) => {
    txn.ops.forEach((read, position) => {
      const id = op++
      if (!counts[number] || isWrite(read)) return
      if (read.kind === 'rows') {
        offences.push({ op: id, name: read.rows.length === 0 ? 'VanishedRow' : 'DuplicateRow' })
        return
      }
      const reader = { draft, txns, writes, counts, txn: number, position }
      const verdict = read.kind === 'list' ? judgeList(reader, read) : judgeRead(reader, read)
      if (verdict === 'internal') return
      if (typeof verdict === 'string') offences.push({ op: id, name: verdict })
      else if (versions.isMisreported(read, verdict.from)) {
        offences.push({ op: id, name: 'WrongVersion' })
      } else {
        const from = verdict.from < 0 ? INIT : txnOf[verdict.from]!
        const { elements } = verdict
        reads.push({ op: id, reader: txnOf[number]!, key: text(read.key), from, elements })
      }
    })
  })
  for (const op of findLosing(draft, txnOf, reads, options.sessionOrder)) {
    offences.push({ op, name: 'LostCommit' })
  }
  const wr = new Array<number>(count).fill(0)
  for (const read of reads) wr[read.reader]! |= 1 << read.from
  const appends = findAppends(draft, txnOf, count)
  const ordered = versions.orders(txnOf)
  return {
    count,
    txnOf,
    reads,
    writers: findWriters(draft, txnOf),
    users: findUsers(draft, txnOf),
    appends,
    so: sessionOrder(draft, txnOf, count, options.sessionOrder),
    wr,
    ww: joinVersions(listOrder(reads, appends, count, offences), ordered),
    versions: ordered,
    rt: realTime(txns, txnOf, count),
    offences,
  }
}

/** Sound reads of audits that miss what an acknowledged transaction did before. */
function findLosing(
  draft: Draft,
  txnOf: readonly number[],
  reads: readonly OuterRead[],
  sessionOrder: boolean,
): number[] {
  const txns = draft.sessions.flat()
  const sessionOf = draft.sessions.flatMap((session, s) => session.map(() => s))
  const numberOf = (node: number) => txnOf.indexOf(node)
  const precedes = (a: number, b: number) => {
    if (a === b || txnOf[a]! < 0 || txns[a]!.status !== 'committed') return false
    if (sessionOrder && sessionOf[a] === sessionOf[b]) return a < b
    return (txns[a]!.finish ?? Number.NaN) < (txns[b]!.start ?? Number.NaN)
  }
  const writes = (node: number, key: string) =>
    txns[numberOf(node)]!.ops.some((op) => isWrite(op) && text(op.key) === key)
  /** Whether the transaction saw the version before it wrote, or one built on it, and so on. */
  const isBuiltOn = (node: number, key: string, version: number) => {
    if (version === INIT) return true
    const below = new Set([node])
    for (const at of below) {
      if (at === INIT || !writes(at, key)) continue
      for (const read of reads) if (read.reader === at && read.key === key) below.add(read.from)
    }
    below.delete(node)
    return below.has(version)
  }
  return reads.flatMap(({ op, reader, key, from, elements }) => {
    const audit = numberOf(reader)
    if (!txns[audit]!.audit) return []
    const isMissed = txns.some((txn, t) => {
      const own = txn.ops.filter((each) => isWrite(each) && text(each.key) === key)
      if (own.length === 0 || !precedes(t, audit)) return false
      if (elements === null) return txnOf[t] !== from && isBuiltOn(txnOf[t]!, key, from)
      return own.some((each) => each.kind === 'append' && !elements.includes(text(each.value)))
    })
    return isMissed ? [op] : []
  })
}

interface ReadContext {
  readonly draft: Draft
  readonly txns: readonly DraftTxn[]
  readonly writes: ReadonlyMap<string, Write>
  readonly counts: readonly boolean[]
  readonly txn: number
  readonly position: number
}

/** A writer of the draft (-1: the initial transaction), or what is wrong. */
type ReadVerdict = Offence | 'internal' | { from: number; elements: readonly string[] | null }

function judgeRead(context: ReadContext, op: DraftOp): ReadVerdict {
  const { draft, txns, writes, counts, txn, position } = context
  if (op.kind !== 'r') throw new Error('not a register read')
  const ownBefore = txns[txn]!.ops.slice(0, position).filter(
    (other) => other.kind === 'w' && text(other.key) === text(op.key),
  )
  if (draft.initial !== undefined && text(op.value) === text(draft.initial)) {
    return ownBefore.length > 0 ? 'NotMyOwnWrite' : { from: -1, elements: null }
  }
  const write = writes.get(place(op.key, op.value))
  if (write === undefined) return 'ThinAirRead'
  if (!counts[write.txn]) return 'AbortedRead'
  if (write.txn === txn) {
    if (write.position > position) return 'FutureRead'
    return ownBefore.at(-1) === txns[txn]!.ops[write.position] ? 'internal' : 'NotMyLastWrite'
  }
  if (ownBefore.length > 0) return 'NotMyOwnWrite'
  const overwritten = txns[write.txn]!.ops.slice(write.position + 1).some(
    (other) => other.kind === 'w' && text(other.key) === text(op.key),
  )
  return overwritten ? 'IntermediateRead' : { from: write.txn, elements: null }
}

function judgeList(context: ReadContext, op: DraftOp): ReadVerdict {
  const { txns, writes, counts, txn, position } = context
  if (op.kind !== 'list') throw new Error('not a list read')
  const sources = op.list.map((value) => writes.get(place(op.key, value)))
  if (sources.some((write) => write === undefined)) return 'ThinAirRead'
  const found = sources as Write[]
  if (found.some((write) => !counts[write.txn])) return 'AbortedRead'
  if (new Set(op.list.map(text)).size < op.list.length) return 'DuplicateElements'
  if (found.some((write) => write.txn === txn && write.position > position)) return 'FutureRead'
  // The reader's own appends so far are the tail, all of them, in order.
  const own = appendsOf(txns[txn]!.ops.slice(0, position), op.key)
  const elements = op.list.map(text)
  const rest = elements.slice(0, Math.max(0, elements.length - own.length))
  if (elements.slice(rest.length).join() !== own.join()) return 'NotMyOwnWrite'
  if (found.slice(0, rest.length).some((write) => write.txn === txn)) return 'NotMyOwnWrite'
  // What others appended shows up whole: all of a transaction's elements, side by side, in order.
  for (let at = 0; at < rest.length; ) {
    const whole = appendsOf(txns[found[at]!.txn]!.ops, op.key)
    if (rest.slice(at, at + whole.length).join() !== whole.join()) return 'IntermediateRead'
    at += whole.length
  }
  return { from: rest.length === 0 ? -1 : found[rest.length - 1]!.txn, elements: rest }
}

function appendsOf(ops: readonly DraftOp[], key: Value): string[] {
  return ops.flatMap((op) =>
    op.kind === 'append' && text(op.key) === text(key) ? [text(op.value)] : [],
  )
}

function findUsers(draft: Draft, txnOf: readonly number[]): Map<string, number> {
  const users = new Map<string, number>()
  draft.sessions.flat().forEach((txn, number) => {
    const own = txnOf[number]! < 0 ? 0 : 1 << txnOf[number]!
    const used = txn.uses ?? txn.ops.map(({ key }) => key)
    for (const key of used) users.set(text(key), (users.get(text(key)) ?? 0) | own)
  })
  return users
}

function findWriters(draft: Draft, txnOf: readonly number[]): Map<string, number> {
  const writers = new Map<string, number>()
  draft.sessions.flat().forEach((txn, number) => {
    for (const op of txn.ops) {
      const key = text(op.key)
      const lists =
        op.kind === 'list' ||
        op.kind === 'append' ||
        (op.kind === 'rows' && op.rows.some(Array.isArray))
      const known = writers.get(key) ?? (lists || draft.initial !== undefined ? 1 << INIT : 0)
      const writes = isWrite(op) && txnOf[number]! >= 0
      writers.set(key, known | (writes ? 1 << txnOf[number]! : 0))
    }
  })
  return writers
}

function findAppends(draft: Draft, txnOf: readonly number[], count: number) {
  const appends = new Map<string, string[][]>()
  draft.sessions.flat().forEach((txn, number) => {
    for (const op of txn.ops) {
      if (op.kind !== 'append' || txnOf[number]! < 0) continue
      const key = text(op.key)
      if (!appends.has(key))
        appends.set(
          key,
          Array.from({ length: count }, () => []),
        )
      appends.get(key)![txnOf[number]!]!.push(text(op.value))
    }
  })
  return appends
}

function sessionOrder(draft: Draft, txnOf: readonly number[], count: number, on: boolean) {
  const so = new Array<number>(count).fill(1 << INIT)
  so[INIT] = 0
  if (!on) return so
  const before = orderOfAll(draft)
  for (let t = 0; t < txnOf.length; t++) {
    for (let other = 0; other < txnOf.length; other++) {
      const counts = txnOf[t]! >= 0 && txnOf[other]! >= 0
      if (counts && (before[t]! >> other) & 1) so[txnOf[t]!]! |= 1 << txnOf[other]!
    }
  }
  return so
}

/** Transaction of the draft -> all before it: in its session, named by it, or by way of others. */
function orderOfAll(draft: Draft): number[] {
  const txns = draft.sessions.flat()
  const before = txns.map(({ after }) =>
    txns.reduce((mask, { id }, i) => (after?.includes(id ?? '') ? mask | (1 << i) : mask), 0),
  )
  let number = 0
  for (const { length } of draft.sessions) {
    for (let i = 0; i < length; i++, number++) if (i > 0) before[number]! |= 1 << (number - 1)
  }
  for (let via = 0; via < txns.length; via++) {
    for (let t = 0; t < txns.length; t++) {
      if ((before[t]! >> via) & 1) before[t]! |= before[via]!
    }
  }
  return before
}

/** Who precedes whom in an observed list; appends that nobody observed come after all observed. */
function listOrder(
  reads: readonly OuterRead[],
  appends: Situation['appends'],
  count: number,
  offences: { op: number; name: Offence }[],
): number[] {
  const ww = new Array<number>(count).fill(0)
  const ofLists = reads.filter((read) => read.elements !== null)
  const clashing = ofLists.filter((a) =>
    ofLists.some((b) => a.key === b.key && !arePrefixes(a.elements!, b.elements!)),
  )
  for (const read of clashing) offences.push({ op: read.op, name: 'IncompatibleOrder' })
  for (const [key, byTxn] of appends) {
    const ofKey = ofLists.filter((read) => read.key === key)
    if (ofKey.some((read) => clashing.includes(read))) continue
    const longest = ofKey.reduce<readonly string[]>(
      (best, read) => (read.elements!.length > best.length ? read.elements! : best),
      [],
    )
    const rank = (txn: number) => {
      const at = longest.indexOf(byTxn[txn]![0]!)
      return at < 0 ? longest.length : at
    }
    for (let a = 1; a < count; a++) {
      for (let b = 1; b < count; b++) {
        if (byTxn[a]!.length === 0 || byTxn[b]!.length === 0) continue
        if (rank(a) < rank(b)) ww[b]! |= 1 << a
      }
    }
  }
  return ww
}

function arePrefixes(a: readonly string[], b: readonly string[]): boolean {
  return a.every((element, i) => i >= b.length || element === b[i])
}

/** Closed intervals; an indeterminate transaction that counts never finishes. */
function realTime(txns: readonly DraftTxn[], txnOf: readonly number[], count: number) {
  const rt = new Array<number>(count).fill(1 << INIT)
  rt[INIT] = 0
  for (let t = 0; t < txns.length; t++) {
    if (txnOf[t]! < 0) continue
    const { start, finish, status } = txns[t]!
    if (start === undefined || (finish === undefined && status === 'committed')) return null
    for (let other = 0; other < txns.length; other++) {
      if (txnOf[other]! < 0 || txns[other]!.status === 'indeterminate') continue
      if (txns[other]!.finish! < start) rt[txnOf[t]!]! |= 1 << txnOf[other]!
    }
  }
  return rt
}

/** What the store itself says of versions. */
export class GivenVersions {
  private readonly txns: readonly DraftTxn[]

  constructor(
    private readonly draft: Draft,
    private readonly counts: readonly boolean[],
  ) {
    this.txns = draft.sessions.flat()
  }

  /** The version of what a transaction left of a key: as given, or as the first other reader says. */
  private versionOf(txn: number, key: string): number | undefined {
    const last = this.txns[txn]!.ops.findLast((op) => op.kind === 'w' && text(op.key) === key)
    if (last?.kind !== 'w') return undefined
    if (last.version !== undefined) return last.version
    const { value } = last
    return this.readers(txn, key).find((op) => text(op.value) === text(value))?.version
  }

  /** Reads of a key that have a version, by transactions that count, but for one. */
  private readers(except: number, key: string) {
    return this.txns.flatMap(({ ops }, t) =>
      ops.flatMap((op) =>
        op.kind === 'r' && op.version !== undefined && text(op.key) === key && t !== except
          ? this.counts[t]
            ? [op]
            : []
          : [],
      ),
    )
  }

  private writersOf(key: string): { txn: number; version: number }[] {
    return this.txns.flatMap((_, txn) => {
      const version = this.counts[txn] ? this.versionOf(txn, key) : undefined
      return version === undefined ? [] : [{ txn, version }]
    })
  }

  /** Whether a read that is sound otherwise reports another version than it saw. */
  isMisreported(op: DraftOp, from: number): boolean {
    if (op.kind !== 'r' || op.version === undefined) return false
    const key = text(op.key)
    if (from >= 0) return this.versionOf(from, key) !== op.version
    const written = (this.draft.lead ?? []).flatMap(({ txn }) =>
      txn.ops.flatMap((each) =>
        each.kind === 'w' && text(each.key) === key && each.version !== undefined
          ? [each.version]
          : [],
      ),
    )
    const { initial } = this.draft
    const read = this.readers(-1, key).filter(({ value }) => text(value) === text(initial!))
    const expected = [...written, ...read.map(({ version }) => version)][0]
    return expected !== op.version || this.writersOf(key).some((each) => each.version <= expected)
  }

  orders(txnOf: readonly number[]): Map<string, number[]> {
    const keys = this.txns.flatMap(({ ops }) => ops.map(({ key }) => text(key)))
    return new Map(
      [...new Set(keys)].map((key) => {
        const sorted = this.writersOf(key).toSorted((a, b) => a.version - b.version)
        return [key, sorted.map(({ txn }) => txnOf[txn]!)]
      }),
    )
  }
}

function joinVersions(ww: readonly number[], versions: Situation['versions']): number[] {
  const joined = ww.slice()
  for (const order of versions.values()) {
    for (let i = 1; i < order.length; i++) joined[order[i]!]! |= 1 << order[i - 1]!
  }
  return joined
}
