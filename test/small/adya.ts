// Adya's levels straight from their phenomena, for the tests: G0, G1a and reads of what nobody
// wrote, G1b, G1c, G-cursor, G-monotonic, G-single, G-update and G2-item, for some order of the
// versions of every key, tried one by one; lists show part of theirs. What a transaction does to
// itself is no matter of these levels, so its own writes are taken out of what it reads before
// that is judged. Also what Elle makes of the weakest two with session order and with real time.
// Main functions: isPl2, adyaProfile, orderedProfile.

import type { AdyaLevel } from '../../src/levels/levels.ts'
import type { Draft, DraftOp, DraftTxn } from './draft.ts'
import { GivenVersions, INIT, judge, type Offence, type Situation, settle } from './judge.ts'
import { closure, forEachOrder, isAcyclic, type Verdict } from './oracle.ts'

const INTERNAL: ReadonlySet<Offence> = new Set(['FutureRead', 'NotMyLastWrite', 'NotMyOwnWrite'])
const BROKEN: ReadonlySet<Offence> = new Set(['LostCommit', 'DuplicateRow', 'VanishedRow'])

interface Seen {
  readonly op: number // in the draft, counted from 0 through all sessions
  readonly reader: number
  readonly key: string
  readonly from: number
}

interface Dependency {
  readonly kind: 'wr' | 'ww' | 'rw'
  readonly from: number
  readonly to: number
  readonly key: string
  readonly op: number // of the read, -1 of ww
}

export type AdyaProfile = Record<AdyaLevel, boolean>

export function isPl2(draft: Draft): boolean {
  const situation = situationOf(draft)
  const reads = readsOf(draft, situation)
  if (reads === null) return false
  const before = situation.ww.slice()
  for (const { reader, from } of reads) before[reader]! |= 1 << from
  return isAcyclic(before)
}

/** Which of Adya's levels hold. */
export function adyaProfile(draft: Draft): AdyaProfile {
  const situation = situationOf(draft)
  const profile: AdyaProfile = {
    'pl-1': !hasDirtyWrites(draft, situation, situation.so),
    'pl-2': false,
    'pl-cs': false,
    'pl-2l': false,
    'pl-2+': false,
    'pl-3u': false,
    'pl-2.99': false,
  }
  const reads = readsOf(draft, situation)
  if (reads === null) return profile
  for (const orders of versionOrders(situation)) {
    const edges = dependenciesOf(reads, orders)
    if (
      !isAcyclicOn(
        situation.count,
        edges.filter(({ kind }) => kind !== 'rw'),
      )
    )
      continue
    profile['pl-2'] = true
    profile['pl-cs'] ||= !hasCursorCycle(situation, edges)
    profile['pl-2l'] ||= !hasMonotonicCycle(draft, situation, edges)
    profile['pl-2+'] ||= !hasSingleCycle(situation, edges)
    profile['pl-3u'] ||= !hasUpdateCycle(situation, edges)
    profile['pl-2.99'] ||= isAcyclicOn(situation.count, edges)
    // Such an order has none of the other cycles either.
    if (profile['pl-2.99']) break
  }
  return profile
}

/** Those of Elle's models that add session order, or real time as well, to PL-1 and PL-2. */
export const ORDERED_LEVELS = [
  'strong-session-pl-1',
  'strong-session-pl-2',
  'strong-pl-1',
  'strong-pl-2',
] as const

export function isOrdered(level: string): level is (typeof ORDERED_LEVELS)[number] {
  return (ORDERED_LEVELS as readonly string[]).includes(level)
}

export type OrderedProfile = Record<(typeof ORDERED_LEVELS)[number], Verdict>

/** Without times, what is left of real time is session order, and no proof. */
export function orderedProfile(draft: Draft, sessionOrder = true): OrderedProfile {
  const situation = judge(draft, settle(draft), { sessionOrder })
  const { so, rt } = situation
  const both = rt === null ? so : so.map((mask, txn) => mask | rt[txn]!)
  const say = (holds: boolean, isTimeless: boolean): Verdict =>
    holds ? (isTimeless ? 'unknown' : 'satisfied') : 'violated'
  return {
    'strong-session-pl-1': say(!hasDirtyWrites(draft, situation, so), false),
    'strong-session-pl-2': say(hasNoFlowAgainst(draft, situation, so), false),
    'strong-pl-1': say(!hasDirtyWrites(draft, situation, both), rt === null),
    'strong-pl-2': say(hasNoFlowAgainst(draft, situation, both), rt === null),
  }
}

/** PL-2 with an order that joins reads and versions: for some order of these there is no cycle. */
function hasNoFlowAgainst(draft: Draft, situation: Situation, before: readonly number[]): boolean {
  const reads = readsOf(draft, situation)
  if (reads === null) return false
  for (const orders of versionOrders(situation)) {
    const edges = dependenciesOf(reads, orders).filter(({ kind }) => kind !== 'rw')
    const relation = relationOf(situation.count, edges)
    if (isAcyclic(relation.map((mask, txn) => mask | before[txn]!))) return true
  }
  return false
}

function situationOf(draft: Draft): Situation {
  return judge(draft, settle(draft), { sessionOrder: false })
}

/** Who read what from whom, own writes aside; null if some read is aborted, torn or of nothing. */
function readsOf(draft: Draft, situation: Situation): Seen[] | null {
  if (situation.offences.some(({ name }) => !INTERNAL.has(name))) return null
  const reads: Seen[] = [...situation.reads]
  const txns = draft.sessions.flat()
  const versions = new GivenVersions(draft, settle(draft))
  const places = txns.flatMap((txn, reader) => txn.ops.map((op) => ({ op, reader })))
  for (const { op: offending } of situation.offences) {
    const { op, reader } = places[offending]!
    const writer = writerOfForeignPart(txns, op, reader)
    if (writer === 'torn') return null
    // A version that is reported wrongly is no matter of its own writes.
    if (writer !== null && versions.isMisreported(op, writer)) return null
    const from = writer === null ? null : writer < 0 ? INIT : situation.txnOf[writer]!
    const key = keyText(op)
    if (from !== null) reads.push({ op: offending, reader: situation.txnOf[reader]!, key, from })
  }
  return reads
}

/** As judge.ts writes keys. */
const keyText = ({ key }: DraftOp) => (typeof key === 'string' ? `"${key}` : `${key}`)

/**
 * Whose version was read, own writes aside: -1 if the initial one, null if it shows only its own,
 * 'torn' if only part of one's writes.
 */
function writerOfForeignPart(
  txns: readonly DraftTxn[],
  op: DraftOp,
  reader: number,
): number | 'torn' | null {
  const read = op.kind === 'list' ? op.list : op.kind === 'r' ? [op.value] : []
  const writesOf = (txn: number) =>
    txns[txn]!.ops.flatMap((other) =>
      (other.kind === 'w' || other.kind === 'append') && other.key === op.key ? [other.value] : [],
    )
  const foreign = read.filter((value) => !writesOf(reader).includes(value))
  if (op.kind === 'r' && foreign.length === 0) return null
  let last = -1
  for (let i = 0; i < foreign.length; ) {
    last = txns.findIndex((_, txn) => writesOf(txn).includes(foreign[i]!))
    if (last < 0) return -1
    const whole = op.kind === 'list' ? writesOf(last) : writesOf(last).slice(-1)
    if (whole.some((value, j) => foreign[i + j] !== value)) return 'torn'
    i += whole.length
  }
  return last
}

/** Every order of the versions of every key that begins with the initial one and that lists allow. */
function* versionOrders(situation: Situation): Generator<Map<string, number[]>> {
  const keys = [...situation.writers.keys()]
  const choices = keys.map((key) => {
    const writers: number[] = []
    for (let txn = 0; txn < situation.count; txn++) {
      if (txn !== INIT && (situation.writers.get(key)! >> txn) & 1) writers.push(txn)
    }
    return permutations(writers).filter((order) => isShown(situation, key, order))
  })
  const chosen = choices.map(() => 0)
  if (choices.some(({ length }) => length === 0)) return
  while (true) {
    yield new Map(keys.map((key, i) => [key, [INIT, ...choices[i]![chosen[i]!]!]]))
    let at = 0
    while (at < keys.length && ++chosen[at]! === choices[at]!.length) chosen[at++] = 0
    if (at === keys.length) return
  }
}

function isShown(situation: Situation, key: string, order: readonly number[]): boolean {
  const { appends, reads, versions } = situation
  const given = versions.get(key) ?? []
  if (given.some((txn, i) => i > 0 && order.indexOf(txn) < order.indexOf(given[i - 1]!))) {
    return false
  }
  const all = order.flatMap((txn) => appends.get(key)?.[txn] ?? [])
  return reads.every(
    (read) => read.key !== key || (read.elements ?? []).every((element, i) => element === all[i]),
  )
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [first, ...rest]),
  )
}

/** The direct serialization graph. */
function dependenciesOf(
  reads: readonly Seen[],
  orders: ReadonlyMap<string, readonly number[]>,
): Dependency[] {
  const edges: Dependency[] = []
  const add = (kind: Dependency['kind'], from: number, to: number, key: string, op: number) => {
    if (from !== to) edges.push({ kind, from, to, key, op })
  }
  for (const { reader, from, key, op } of reads) {
    add('wr', from, reader, key, op)
    const order = orders.get(key) ?? [INIT]
    const next = order[order.indexOf(from) + 1]
    if (next !== undefined) add('rw', reader, next, key, op)
  }
  for (const [key, order] of orders) {
    for (let i = 1; i < order.length; i++) add('ww', order[i - 1]!, order[i]!, key, -1)
  }
  return edges
}

function relationOf(count: number, edges: readonly Dependency[]): number[] {
  const before = new Array<number>(count).fill(0)
  for (const { from, to } of edges) before[to]! |= 1 << from
  return before
}

function isAcyclicOn(count: number, edges: readonly Dependency[]): boolean {
  return isAcyclic(relationOf(count, edges))
}

/** Whether the edge, together with a way back along others, is a cycle. */
function isClosed(count: number, edge: Dependency, others: readonly Dependency[]): boolean {
  const before = closure(relationOf(count, others))
  return ((before[edge.from]! >> edge.to) & 1) === 1
}

/** G-cursor: one anti-dependency and version orders, all of one key. */
function hasCursorCycle({ count }: Situation, edges: readonly Dependency[]): boolean {
  return edges.some((edge) => {
    const others = edges.filter(({ kind, key }) => kind === 'ww' && key === edge.key)
    return edge.kind === 'rw' && isClosed(count, edge, others)
  })
}

/** G-single: exactly one anti-dependency. */
function hasSingleCycle({ count }: Situation, edges: readonly Dependency[]): boolean {
  const others = edges.filter(({ kind }) => kind !== 'rw')
  return edges.some((edge) => edge.kind === 'rw' && isClosed(count, edge, others))
}

/** G-update: a cycle among those who write, and any one transaction. */
function hasUpdateCycle({ count, writers }: Situation, edges: readonly Dependency[]): boolean {
  let updates = 1 << INIT
  for (const mask of writers.values()) updates |= mask
  for (let txn = 0; txn < count; txn++) {
    const members = updates | (1 << txn)
    const inside = edges.filter(({ from, to }) => (members >> from) & (members >> to) & 1)
    if (!isAcyclicOn(count, inside)) return true
  }
  return false
}

/**
 * G-monotonic: with one transaction unfolded into its operations, one after the other, a cycle with
 * exactly one anti-dependency, by one of its reads.
 */
function hasMonotonicCycle(
  draft: Draft,
  { count, txnOf }: Situation,
  edges: readonly Dependency[],
): boolean {
  const places = draft.sessions
    .flat()
    .flatMap((txn, at) => txn.ops.map((op) => ({ op, txn: txnOf[at]! })))
  for (let unfolded = 0; unfolded < count; unfolded++) {
    const own = places.flatMap(({ txn }, op) => (txn === unfolded ? [op] : []))
    const lastWrite = (key: string) =>
      own.findLast(
        (op) => /^(w|append)$/.test(places[op]!.op.kind) && keyText(places[op]!.op) === key,
      )
    const nodeOf = (op: number | undefined) =>
      op === undefined ? unfolded : count + own.indexOf(op)
    const end = (txn: number, op: number | undefined) => (txn === unfolded ? nodeOf(op) : txn)
    const before = new Array<number>(count + own.length).fill(0)
    for (let i = 1; i < own.length; i++) before[count + i]! |= 1 << (count + i - 1)
    for (const { kind, from, to, key, op } of edges) {
      if (kind === 'rw') continue
      const into = kind === 'wr' ? op : lastWrite(key)
      before[end(to, into)]! |= 1 << end(from, lastWrite(key))
    }
    const closed = closure(before)
    const isMissed = ({ kind, from, to, op }: Dependency) =>
      kind === 'rw' && from === unfolded && ((closed[nodeOf(op)]! >> to) & 1) === 1
    if (edges.some(isMissed)) return true
  }
  return false
}

/**
 * G0, and databases that are broken anyway: no order of the transactions has all appends to lists
 * in the order in which any read shows them, with none missing before the last one of others shown.
 */
function hasDirtyWrites(
  draft: Draft,
  situation: Situation,
  earlier: readonly number[], // txn -> who has to come before it
): boolean {
  if (situation.offences.some(({ name }) => BROKEN.has(name))) return true
  const txns = draft.sessions.flat()
  const { txnOf, versions } = situation
  const must = earlier.slice()
  for (const order of versions.values()) {
    for (let i = 1; i < order.length; i++) must[order[i]!]! |= 1 << order[i - 1]!
  }
  const appends = txns.flatMap((txn, at) =>
    txn.ops.flatMap((op) =>
      op.kind === 'append' && txnOf[at]! > 0
        ? [{ key: op.key, value: op.value, txn: txnOf[at]! }]
        : [],
    ),
  )
  const reads = txns.flatMap((txn, at) =>
    txn.ops.flatMap((op, i) => {
      if (op.kind !== 'list' || txnOf[at]! <= 0) return []
      const appended = (ops: readonly DraftOp[]) =>
        ops.flatMap((own) => (own.kind === 'append' && own.key === op.key ? [own.value] : []))
      const own = appended(txn.ops.slice(0, i))
      const list = op.list.slice(0, Math.max(0, op.list.length - own.length))
      // One that contradicts its own transaction shows nothing.
      const isSound =
        op.list.slice(list.length).join() === own.join() &&
        !appended(txn.ops).some((value) => list.includes(value))
      return isSound ? [{ key: op.key, list }] : []
    }),
  )
  let isFound = false
  forEachOrder(must, (before) => {
    const place = (txn: number) => before[txn]!.toString(2).replaceAll('0', '').length
    isFound = reads.every(({ key, list }) => {
      const all = appends.filter((append) => append.key === key)
      const shown = list.flatMap((value) => all.find((append) => append.value === value) ?? [])
      const places = shown.map(({ txn }) => place(txn))
      if (places.some((at, i) => i > 0 && at < places[i - 1]!)) return false
      // Whatever it does not show comes later, and so do its own, which are not in the list here.
      const isMissed = (append: (typeof all)[number]) =>
        !shown.includes(append) && place(append.txn) < (places.at(-1) ?? 0)
      return !all.some(isMissed)
    })
    return !isFound
  })
  return !isFound
}
