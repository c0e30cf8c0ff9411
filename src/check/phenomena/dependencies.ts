// The direct serialization graph of a few transactions, as far as orders of versions are known or
// decided: session order, reads-from, version orders, and from each reader to whoever replaced what
// it read. It grows as pairs of writers are decided and shrinks when that is taken back. Edges that
// may stand in a cycle as often as they like are strong; of weak ones, the anti-dependencies that a
// level counts, a forbidden cycle has one. At pl-2l each read is a node of its own, which whatever
// its transaction depended on before leads to. What is known costs O(operations), but for readers
// of a version that many may have replaced; pairs that are open are listed on demand. Sources:
// Adya's thesis (DSG, and USG for pl-2l); for psi Cerone, Bernardi and Gotsman, who characterise it
// as the absence of cycles with one anti-dependency. Main class: Dependencies.

import { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { type History, INITIAL, NONE } from '../../history/history.ts'
import type { AdyaLevel } from '../../levels/levels.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { Replacements } from './replacements.ts'

/** Levels that are decided by cycles with anti-dependencies. */
export type CycleLevel = Exclude<AdyaLevel, 'pl-1' | 'pl-2'> | 'psi'

export const WR = 0
export const WW = 1
export const RW = 2
export const SO = 3

/** The initial transaction, in place of a number among these transactions. */
export const INIT = -1

export interface DependencyEdge {
  readonly kind: typeof WR | typeof WW | typeof RW | typeof SO
  readonly from: number // node
  readonly to: number // node
  readonly key: number // NONE of SO
  readonly read: number // index into `reads` of WR and RW, else NONE
  readonly pair: number // the pair that WW is, or that RW rests on; NONE if it is known anyway
  readonly time: number // when that was decided; 0 for what is known
  readonly strong: boolean
}

export interface ItemRead {
  readonly op: number
  readonly reader: number
  readonly source: number // INIT for the initial state
  readonly key: number
  readonly node: number // the reader, or the node of the read itself
}

/** Two writers of common keys whose order is open. */
export interface Pair {
  readonly a: number
  readonly b: number
  readonly keys: readonly number[]
}

/** Readers times writers of one version, from which on only the first writers are noted. */
const MANY = 10_000
/** The same, from which on none are. */
const TOO_MANY = 1_000_000

/** The writers of a key. */
interface Writers {
  readonly all: readonly number[]
  readonly unshown: ReadonlySet<number> // those that no list shows
  readonly replacements: Replacements // of those
}

export class Dependencies {
  readonly txnCount: number
  nodeCount: number
  /** How many pairs of writers of a key are open, counted key by key. */
  openCount = 0
  readonly reads: ItemRead[] = []
  readonly pairs: Pair[] = []
  readonly edges: DependencyEdge[] = []
  readonly into: number[][] // node -> strong edges that lead there
  readonly out: number[][] // node -> strong edges that start there
  readonly weakInto: number[][] // node -> weak edges that lead there
  readonly txnAt: number[] // node -> its transaction, among these
  private readonly writes: Map<number, number>[] // txn -> key -> its last write
  private readonly readersOf = new Map<number, number[]>() // txn · keys + key -> reads
  private readonly writersOf = new Map<number, Writers>() // key -> its writers
  private isComplete = true // whether all that is known is there
  private readonly nodesAfter = new Map<number, { op: number; node: number }[]>() // pl-2l: of a txn

  /**
   * @param txns those of the history that it is about, ascending
   * @param places see placesOfWrites
   */
  constructor(
    readonly history: History,
    readonly readCheck: ReadCheck,
    readonly level: CycleLevel,
    readonly txns: Int32Array,
    private readonly places = placesOfWrites(history, readCheck),
    private readonly deadline = Deadline.none(),
  ) {
    this.txnCount = txns.length
    this.nodeCount = txns.length
    this.txnAt = Array.from(txns, (_, local) => local)
    this.writes = Array.from(txns, (txn) => this.writesOf(txn))
    this.collectReads()
    this.into = Array.from({ length: this.nodeCount }, () => [])
    this.out = Array.from({ length: this.nodeCount }, () => [])
    this.weakInto = Array.from({ length: this.nodeCount }, () => [])
    this.addSessions()
    this.addReads()
    this.findWriters()
    for (const [key, writers] of this.writersOf) this.addVersions(key, writers)
  }

  private writesOf(txn: number): Map<number, number> {
    const { txnOpStart, opKey } = this.history
    const writes = new Map<number, number>()
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (isWrite(this.history, op)) writes.set(opKey[op]!, op)
    }
    return writes
  }

  private collectReads(): void {
    const { txnOpStart, opKey } = this.history
    const { opSource } = this.readCheck
    const localOf = new Map(Array.from(this.txns, (txn, local) => [txn, local]))
    for (const [reader, txn] of this.txns.entries()) {
      this.deadline.step(4)
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const from = opSource[op]!
        const source = from === INITIAL ? INIT : localOf.get(from)
        if (source === undefined) continue
        const node = this.level === 'pl-2l' ? this.nodeCount++ : reader
        if (node !== reader) this.noteNode(reader, op, node)
        const key = opKey[op]!
        const at = source * this.history.keyCount + key
        const known = this.readersOf.get(at)
        if (known) known.push(this.reads.length)
        else this.readersOf.set(at, [this.reads.length])
        this.reads.push({ op, reader, source, key, node })
      }
    }
  }

  private noteNode(txn: number, op: number, node: number): void {
    const known = this.nodesAfter.get(txn)
    if (known) known.push({ op, node })
    else this.nodesAfter.set(txn, [{ op, node }])
    this.txnAt[node] = txn
  }

  /** From each to the next one of its session; there are none where sessions do not count. */
  private addSessions(): void {
    const { txnSession, txnIndex } = this.history
    const inOrder = this.txns.toSorted((a, b) => txnIndex[a]! - txnIndex[b]!)
    const localOf = new Map(Array.from(this.txns, (txn, local) => [txn, local]))
    const last = new Map<number, number>() // session -> its latest transaction
    const edge = { kind: SO, key: NONE, read: NONE, pair: NONE, time: 0, strong: true } as const
    for (const txn of inOrder) {
      const to = localOf.get(txn)!
      const from = last.get(txnSession[txn]!)
      if (from !== undefined) this.add({ ...edge, from, to })
      last.set(txnSession[txn]!, to)
    }
  }

  private addReads(): void {
    for (const [read, { op, reader, source, key }] of this.reads.entries()) {
      if (source === INIT) continue
      const edge = { kind: WR, from: source, key, read, pair: NONE, time: 0, strong: true } as const
      this.add({ ...edge, to: reader })
      for (const later of this.nodesOf(reader, op)) this.add({ ...edge, to: later })
    }
  }

  /** The nodes of reads that come after an operation of their transaction. */
  private nodesOf(txn: number, op: number): number[] {
    const nodes = this.nodesAfter.get(txn) ?? []
    return nodes.filter((other) => other.op > op).map(({ node }) => node)
  }

  private findWriters(): void {
    const found = new Map<number, number[]>()
    for (const [txn, writes] of this.writes.entries()) {
      for (const key of writes.keys()) {
        const known = found.get(key)
        if (known) known.push(txn)
        else found.set(key, [txn])
      }
    }
    const links = this.findReplacements()
    for (const [key, all] of found) {
      const places = this.placesOf(key, all)
      const unshown = new Set(all.filter((txn) => !places.has(txn)))
      const own = (links.get(key) ?? []).filter(
        ({ from, to }) => unshown.has(from) && unshown.has(to),
      )
      const replacements = new Replacements([...unshown], own)
      this.openCount += replacements.openCount
      this.writersOf.set(key, { all, unshown, replacements })
    }
  }

  /** key -> from whoever wrote a version to who read it and wrote the key too, each of these once. */
  private findReplacements(): Map<number, { from: number; to: number }[]> {
    const links = new Map<number, { from: number; to: number }[]>()
    const isDone = new Set<number>() // txn · keys + key
    for (const { reader, source, key } of this.reads) {
      const at = reader * this.history.keyCount + key
      if (source === INIT || !this.writes[reader]!.has(key) || isDone.has(at)) continue
      isDone.add(at)
      const known = links.get(key)
      if (known) known.push({ from: source, to: reader })
      else links.set(key, [{ from: source, to: reader }])
    }
    return links
  }

  /**
   * What is known of versions: the order that lists show, who replaced what it had read, and that
   * the initial state comes first.
   */
  private addVersions(key: number, { all, unshown, replacements }: Writers): void {
    const places = this.placesOf(key, all)
    const shown = all.filter((txn) => places.has(txn))
    shown.sort((a, b) => places.get(a)! - places.get(b)!)
    for (let i = 1; i < shown.length; i++) this.addOrder(shown[i - 1]!, shown[i]!, key, NONE, 0)
    for (const txn of unshown) if (shown.length > 0) this.addOrder(shown.at(-1)!, txn, key, NONE, 0)
    const next = [...shown, NONE]
    for (const [i, txn] of [INIT, ...shown].entries()) {
      const replacing = next[i] === NONE ? this.replacing(txn, key) : [next[i]!]
      for (const to of replacing) this.addOverwrites(txn, to, key, NONE, 0)
    }
    for (const { from, to } of replacements.links) {
      this.addOrder(from, to, key, NONE, 0)
      this.addOverwrites(from, to, key, NONE, 0)
    }
  }

  /** Which of those that no list shows are noted as replacing the last version that one shows. */
  private replacing(txn: number, key: number): Iterable<number> {
    const { unshown, replacements } = this.writersOf.get(key)!
    const readerCount = this.readersOfVersion(txn, key).length
    if (readerCount * unshown.size <= MANY) return unshown
    if (readerCount * replacements.roots.length <= TOO_MANY) return replacements.roots
    this.isComplete = false
    return []
  }

  /** Lists the pairs of writers whose order is open. */
  openPairs(): void {
    assert(this.isComplete, 'what is searched is known')
    const open = new Map<number, { a: number; b: number; keys: number[] }>()
    for (const [key, { unshown, replacements }] of this.writersOf) {
      const writers = [...unshown]
      for (const [i, a] of writers.entries()) {
        for (let j = i + 1; j < writers.length; j++) {
          const b = writers[j]!
          if (replacements.areOrdered(a, b)) continue
          const pair = open.get(a * this.txnCount + b)
          if (pair) pair.keys.push(key)
          else open.set(a * this.txnCount + b, { a, b, keys: [key] })
        }
      }
    }
    for (const pair of open.values()) this.pairs.push(pair)
  }

  /** Orders the versions of every key as the transactions are. */
  orderVersions(place: ArrayLike<number>): void {
    for (const [key, { all }] of this.writersOf) {
      const sorted = all.toSorted((a, b) => place[a]! - place[b]!)
      this.addOverwrites(INIT, sorted[0]!, key, NONE, 0)
      for (let i = 1; i < sorted.length; i++) {
        this.addOrder(sorted[i - 1]!, sorted[i]!, key, NONE, 0)
        this.addOverwrites(sorted[i - 1]!, sorted[i]!, key, NONE, 0)
      }
    }
  }

  /** Writers whose version has a known place -> which. */
  private placesOf(key: number, writers: readonly number[]): Map<number, number> {
    const known = new Map<number, number>()
    if (this.readCheck.versions === null) return known
    for (const txn of writers) {
      const place = this.places[this.writes[txn]!.get(key)!]!
      if (place !== NONE) known.set(txn, place)
    }
    return known
  }

  /** Whether a list shows what a transaction wrote, and so what comes next. */
  isShown(txn: number, key: number): boolean {
    return !this.writersOf.get(key)!.unshown.has(txn)
  }

  /** Decides a pair: its version orders, and what they make of those who read the older version. */
  decide(pair: number, isForward: boolean, time: number): void {
    const { a, b, keys } = this.pairs[pair]!
    const [from, to] = isForward ? [a, b] : [b, a]
    for (const key of keys) {
      this.addOrder(from, to, key, pair, time)
      this.addOverwrites(from, to, key, pair, time)
    }
  }

  /** Takes back every edge from this number on. */
  cutBack(edgeCount: number): void {
    while (this.edges.length > edgeCount) {
      const { from, to, strong } = this.edges.pop()!
      if (strong) {
        this.out[from]!.pop()
        this.into[to]!.pop()
      } else this.weakInto[to]!.pop()
    }
  }

  readersOfVersion(source: number, key: number): readonly number[] {
    return this.readersOf.get(source * this.history.keyCount + key) ?? []
  }

  /** Whether an anti-dependency counts, and if so whether as often as it likes. */
  overwriteKind({ reader, key }: ItemRead, to: number): 'strong' | 'weak' | 'none' {
    switch (this.level) {
      case 'pl-cs':
        return this.writes[reader]!.has(key) ? 'strong' : 'none'
      case 'pl-2l':
        return 'weak'
      case 'pl-2+':
      case 'psi':
        return this.shareWrites(reader, to) ? 'strong' : 'weak'
      case 'pl-3u':
        return this.writes[reader]!.size > 0 ? 'strong' : 'weak'
      case 'pl-2.99':
        return 'strong'
    }
  }

  private shareWrites(a: number, b: number): boolean {
    const others = this.writes[b]!
    for (const key of this.writes[a]!.keys()) if (others.has(key)) return true
    return false
  }

  private addOrder(from: number, to: number, key: number, pair: number, time: number): void {
    const edge = { kind: WW, from, key, read: NONE, pair, time, strong: true } as const
    this.add({ ...edge, to })
    for (const node of this.nodesOf(to, this.writes[to]!.get(key)!)) this.add({ ...edge, to: node })
  }

  private addOverwrites(source: number, to: number, key: number, pair: number, time: number): void {
    for (const read of this.readersOfVersion(source, key)) {
      const seen = this.reads[read]!
      if (seen.reader === to) continue
      const kind = this.overwriteKind(seen, to)
      if (kind === 'none') continue
      const strong = kind === 'strong'
      this.add({ kind: RW, from: seen.node, to, key, read, pair, time, strong })
    }
  }

  /** The strong edges, by node. */
  strongEdges(): Csr {
    const strong = this.edges.filter((edge) => edge.strong)
    const from = Int32Array.from(strong, (edge) => edge.from)
    const to = Int32Array.from(strong, (edge) => edge.to)
    return buildCsr(this.nodeCount, from, to)
  }

  private add(edge: DependencyEdge): void {
    this.deadline.step()
    const id = this.edges.length
    this.edges.push(edge)
    if (edge.strong) {
      this.out[edge.from]!.push(id)
      this.into[edge.to]!.push(id)
    } else this.weakInto[edge.to]!.push(id)
  }
}

/** A transaction's last write of a key -> where its version stands in the known order, or NONE. */
export function placesOfWrites({ opCount }: History, { versions }: ReadCheck): Int32Array {
  const places = new Int32Array(versions === null ? 0 : opCount).fill(NONE)
  versions?.order.forEach((write, place) => {
    places[write] = place
  })
  return places
}
