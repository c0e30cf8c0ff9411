// What follows from what is known and assumed about a few transactions: a small graph of moments
// (snapshot and commit of each, as in verdict/certify-mixed-edges.ts) that grows by the rules of
// the levels until nothing new follows or a circle closes, every step carrying its reasons as
// evidence. A state is copied for each case of a split. Meant for cores: everything here is
// quadratic in the number of transactions. Main class: Reasons.

import { INITIAL, NONE, WRITE } from '../../history/history.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { CC, IN, MAYBE, type MixedProblem, PC, RA, RC, RC_SQL, SI } from './problem.ts'

/** A row whose version a reader saw: whose, and by which edge. */
export interface Seen {
  readonly read: number
  readonly key: number
  readonly source: number // node
  readonly edge: Edge
}

interface Arc {
  readonly to: number // moment
  readonly edge: Edge | null // null: from a snapshot to its own commit
}

export class Reasons {
  /** A circle, once there is one. */
  cycle: Edge[] | null = null
  private readonly arcs = new Map<number, Arc[]>() // moment -> arcs
  private readonly versions = new Map<string, Edge>() // "a,b,key" -> WW edge
  private readonly derived = new Set<string>() // RW and CO edges, by what they rest on
  private readonly seen: Seen[] = []
  readonly chosen = new Map<number, number>() // conflict -> node

  /** @param common "a,b" -> a key that both write, shared by all copies */
  constructor(
    private readonly problem: MixedProblem,
    private readonly nodes: readonly number[],
    private readonly common = new Map<string, number>(),
  ) {}

  copy(): Reasons {
    const copy = new Reasons(this.problem, this.nodes, this.common)
    copy.cycle = this.cycle
    for (const [moment, arcs] of this.arcs) copy.arcs.set(moment, arcs.slice())
    for (const [pair, edge] of this.versions) copy.versions.set(pair, edge)
    for (const name of this.derived) copy.derived.add(name)
    copy.seen.push(...this.seen)
    for (const [conflict, node] of this.chosen) copy.chosen.set(conflict, node)
    return copy
  }

  /** Session order and what was read, before anything is assumed. */
  begin(): void {
    const { before, state } = this.problem
    const kept = new Set(this.nodes)
    for (const node of this.nodes) {
      if (node === 0) continue
      let previous = before[node]!
      while (previous !== 0 && !(kept.has(previous) && state[previous] === IN)) {
        previous = before[previous]!
      }
      if (state[node] === IN) this.add(sessionEdge(previous, node))
    }
    for (const node of this.nodes) if (state[node] === IN) this.enter(node)
    this.propagate()
  }

  /** The reads of a transaction that takes part. */
  private enter(node: number): void {
    const { nodeReadStart, fixedStart, openStart, zeroStart, zeroNode } = this.problem
    for (let read = nodeReadStart[node]!; read < nodeReadStart[node + 1]!; read++) {
      for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
        const source = this.problem.fixedNode[pair]!
        const edge = this.readEdge(pair, source, node)
        this.see({ read, key: this.problem.fixedKey[pair]!, source, edge })
      }
      for (let conflict = openStart[read]!; conflict < openStart[read + 1]!; conflict++) {
        const only = zeroNode[zeroStart[conflict]!]!
        const isOnly = zeroStart[conflict + 1]! - zeroStart[conflict]! === 1
        // That an indeterminate transaction took effect is said by a case, if by one only.
        if (isOnly && this.takesPart(only)) this.choose(conflict, only, false)
      }
    }
  }

  /** The statement of a conflict saw that transaction's version. */
  choose(conflict: number, source: number, assumed: boolean): Edge {
    const { openRead, openKey } = this.problem
    const read = openRead[conflict]!
    const key = openKey[conflict]!
    const edge = this.absenceEdge(conflict, source, assumed)
    this.chosen.set(conflict, source)
    this.count(source)
    this.see({ read, key, source, edge })
    return edge
  }

  /** An indeterminate transaction that was read from took effect, and so did those it read from. */
  private count(source: number): void {
    const { state, before } = this.problem
    if (state[source] !== MAYBE || this.derived.has(`in ${source}`)) return
    this.derived.add(`in ${source}`)
    for (const other of this.nodes) {
      if (other === 0 || other === source || !this.takesPart(other)) continue
      for (const [a, b] of [
        [other, source],
        [source, other],
      ] as const) {
        let previous = before[b]!
        while (previous !== 0 && previous !== a) previous = before[previous]!
        if (previous === a) this.add(sessionEdge(a, b))
      }
    }
    this.add(sessionEdge(0, source))
    this.enter(source)
  }

  takesPart(node: number): boolean {
    return this.problem.state[node] === IN || this.derived.has(`in ${node}`)
  }

  private see(seen: Seen): void {
    this.seen.push(seen)
    this.count(seen.source)
    this.add(seen.edge)
  }

  /** Whose versions of a key matter here: the transactions of the core that write it. */
  writers(key: number): number[] {
    const { writerStart, writerNode } = this.problem
    const found: number[] = []
    for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
      const node = writerNode[i]!
      if (node === 0 || (this.nodes.includes(node) && this.takesPart(node))) found.push(node)
    }
    return found
  }

  /** Pairs of versions whose order decides what a reader missed, and is not known. */
  openPairs(): [a: number, b: number, key: number][] {
    const pairs = new Map<string, [number, number, number]>()
    for (const { source, key, read } of this.seen) {
      const reader = this.problem.readNode[read]!
      if (source === 0 || this.problem.level[reader]! < PC) continue
      for (const writer of this.writers(key)) {
        if (writer === 0 || writer === source || writer === reader) continue
        if (this.orderOf(source, writer, key) || this.orderOf(writer, source, key)) continue
        const [a, b] = source < writer ? [source, writer] : [writer, source]
        pairs.set(`${a},${b}`, [a, b, key])
      }
    }
    for (const [a, b, key] of this.rivals()) pairs.set(`${a},${b}`, [a, b, key])
    return [...pairs.values()]
  }

  /** Two writers of a key, one of them at si: who came first was visible to it. Not ordered yet. */
  private rivals(): [a: number, b: number, key: number][] {
    const pairs: [number, number, number][] = []
    for (const a of this.nodes) {
      for (const b of this.nodes) {
        if (a === 0 || a >= b || !this.takesPart(a) || !this.takesPart(b)) continue
        if (this.problem.level[a] !== SI && this.problem.level[b] !== SI) continue
        const key = this.commonKey(a, b)
        if (key === NONE || this.orderOf(a, b, key) || this.orderOf(b, a, key)) continue
        pairs.push([a, b, key])
      }
    }
    return pairs
  }

  /** Rivals that something else has put in order. */
  private orderRivals(): boolean {
    let grown = false
    for (const [x, y, key] of this.rivals()) {
      for (const [a, b] of [
        [x, y],
        [y, x],
      ] as const) {
        const path = this.cycle === null ? this.findPath(2 * a + 1, 2 * b + 1) : null
        if (path === null) continue
        const edge = this.versionEdge(a, b, key, path)
        this.versions.set(`${a},${b},${key}`, edge)
        this.add(edge)
        grown = true
      }
    }
    return grown
  }

  private orderOf(a: number, b: number, key: number): Edge | null {
    return this.versions.get(`${a},${b},${key}`) ?? this.versions.get(`${a},${b}`) ?? null
  }

  /** A key that both write, NONE if there is none. */
  private commonKey(a: number, b: number): number {
    const pair = a < b ? `${a},${b}` : `${b},${a}`
    const known = this.common.get(pair)
    if (known !== undefined) return known
    const key = a === 0 || b === 0 ? NONE : this.findCommonKey(a, b)
    this.common.set(pair, key)
    return key
  }

  private findCommonKey(a: number, b: number): number {
    const { writerStart, writerNode, history } = this.problem
    for (let key = 0; key < history.keyCount; key++) {
      let found = 0
      for (let i = writerStart[key]!; i < writerStart[key + 1]!; i++) {
        if (writerNode[i] === a || writerNode[i] === b) found++
      }
      if (found === 2) return key
    }
    return NONE
  }

  /** a commits before b: holds only in this case. */
  assume(a: number, b: number, key: number): Edge {
    const edge = this.versionEdge(a, b, key, [])
    edge.assumed = true
    this.versions.set(`${a},${b}`, edge)
    this.add(edge)
    return edge
  }

  propagate(): void {
    for (let grown = true; grown && this.cycle === null; ) {
      grown = this.orderRivals()
      for (let i = 0; i < this.seen.length && this.cycle === null; i++) {
        const seen = this.seen[i]!
        const reader = this.problem.readNode[seen.read]!
        const isWeak = this.problem.level[reader]! <= CC
        for (const writer of this.writers(seen.key)) {
          if (writer === seen.source || writer === reader || this.cycle !== null) continue
          const name = `${i},${writer}`
          if (this.derived.has(name)) continue
          const edge = isWeak
            ? this.forced(seen, reader, writer)
            : this.overwritten(seen, reader, writer)
          if (edge === null) continue
          this.derived.add(name)
          this.add(edge)
          grown = true
        }
      }
    }
  }

  /** A reader at pc, si, ser precedes who replaced what it read. */
  private overwritten(seen: Seen, reader: number, writer: number): Edge | null {
    if (writer === 0) return null
    const newer = this.newer(seen.source, writer, seen.key)
    if (newer === null) return null
    const write = this.writeOf(writer, seen.key)
    const read = seen.edge.event === undefined ? [seen.edge.ops.at(-1)!] : []
    return edgeOf('RW', reader, writer, seen.key, [...read, write], [seen.edge, newer])
  }

  private newer(a: number, b: number, key: number): Edge | null {
    const known = this.orderOf(a, b, key)
    if (known !== null) return known.key === key ? known : this.versionEdge(a, b, key, [], true)
    if (a === 0) return this.versionEdge(a, b, key, [])
    const path = this.findPath(2 * a + 1, 2 * b + 1)
    if (path === null) return null
    const edge = this.versionEdge(a, b, key, path)
    this.versions.set(`${a},${b},${key}`, edge)
    this.add(edge) // says more than the path if b is at si: it saw a
    return edge
  }

  /** A reader at rc, ra, cc that saw the writer: the writer commits before what was read. */
  private forced(seen: Seen, reader: number, writer: number): Edge | null {
    if (writer === 0) return null
    const visible = this.visibility(seen, reader, writer)
    if (visible === null) return null
    const read = seen.edge.event === undefined ? [seen.edge.ops.at(-1)!] : []
    const old = seen.source === 0 ? [] : [this.writeOf(seen.source, seen.key)]
    const ops = [this.writeOf(writer, seen.key), ...read, ...old]
    return edgeOf('CO', writer, seen.source, seen.key, ops, [seen.edge, ...visible])
  }

  private visibility(seen: Seen, reader: number, writer: number): Edge[] | null {
    const level = this.problem.level[reader]!
    const { txnSession, txnIndex } = this.problem.history
    const [w, r] = [writer - 1, reader - 1]
    const isBefore = txnSession[w] === txnSession[r] && txnIndex[w]! < txnIndex[r]!
    if (level !== RC && isBefore) return [sessionEdge(writer, reader)]
    const steps = this.seen.filter((other) => {
      if (other.source !== writer || this.problem.readNode[other.read] !== reader) return false
      if (level === RA || level === CC) return true
      return other.read < seen.read || (level === RC_SQL && other.read === seen.read)
    })
    if (steps.length > 0) return [steps[0]!.edge]
    return level === CC ? this.findCauses(writer, reader) : null
  }

  /** A path of session order and reads, at least one step. */
  private findCauses(from: number, to: number): Edge[] | null {
    const isCause = ({ kind }: Edge) => kind === 'SO' || kind === 'WR'
    return this.search(2 * from + 1, 2 * to + 1, isCause)
  }

  private findPath(from: number, to: number): Edge[] | null {
    return this.search(from, to, () => true)
  }

  /** Shortest way between two moments, breadth first. */
  private search(from: number, to: number, fits: (edge: Edge) => boolean): Edge[] | null {
    const cameBy = new Map<number, { moment: number; edge: Edge | null }>()
    const queue = [from]
    for (const moment of queue) {
      for (const arc of this.arcs.get(moment) ?? []) {
        if (cameBy.has(arc.to) || (arc.edge && !fits(arc.edge))) continue
        cameBy.set(arc.to, { moment, edge: arc.edge })
        if (arc.to === to) return backTrack(cameBy, from, to)
        queue.push(arc.to)
      }
    }
    return null
  }

  /** Adds an edge as arcs between moments, and notes the circle if it closes one. */
  private add(edge: Edge): void {
    if (this.cycle !== null) return
    const [from, to] = [nodeOf(edge.from), nodeOf(edge.to)]
    for (const node of [from, to]) this.addMoments(node)
    const start = edge.kind === 'RW' && !this.leavesFromCommit(from, to) ? 2 * from : 2 * from + 1
    const end = this.arrivesAtSnapshot(edge, from, to, start) ? 2 * to : 2 * to + 1
    const back = end === start ? [] : this.findPath(end, start)
    this.arcs.get(start)!.push({ to: end, edge })
    if (back !== null) this.cycle = [edge, ...back]
  }

  private addMoments(node: number): void {
    if (this.arcs.has(2 * node)) return
    this.arcs.set(2 * node, [{ to: 2 * node + 1, edge: null }])
    this.arcs.set(2 * node + 1, [])
    if (this.hasSnapshot(node)) return
    // One moment: its commit leads back to what is called its snapshot.
    this.arcs.get(2 * node + 1)!.push({ to: 2 * node, edge: null })
  }

  private hasSnapshot(node: number): boolean {
    return this.problem.level[node] === PC || this.problem.level[node] === SI
  }

  private leavesFromCommit(from: number, to: number): boolean {
    if (!this.hasSnapshot(from)) return true
    return this.problem.level[from] === SI && this.commonKey(from, to) !== NONE
  }

  private arrivesAtSnapshot(edge: Edge, from: number, to: number, start: number): boolean {
    if (edge.kind === 'SO' || edge.kind === 'WR') return true
    if (this.problem.level[to] !== SI || start !== 2 * from + 1) return false
    return this.commonKey(from, to) !== NONE
  }

  private readEdge(pair: number, source: number, reader: number): Edge {
    const { history, fixedKey, fixedOp } = this.problem
    const read = fixedOp[pair]!
    const ops = source === 0 ? [read] : [history.readFrom[read]!, read]
    return edgeOf('WR', source, reader, fixedKey[pair]!, ops, [])
  }

  private absenceEdge(conflict: number, source: number, assumed: boolean): Edge {
    const { openRead, openKey, readNode, readEvent } = this.problem
    const read = openRead[conflict]!
    const key = openKey[conflict]!
    const ops = source === 0 ? [] : [this.writeOf(source, key)]
    const edge = edgeOf('WR', source, readNode[read]!, key, ops, [])
    edge.event = readEvent[read]!
    if (assumed) edge.assumed = true
    return edge
  }

  private versionEdge(a: number, b: number, key: number, path: Edge[], assumed = false): Edge {
    const ops = [...(a === 0 ? [] : [this.writeOf(a, key)]), this.writeOf(b, key)]
    const edge = edgeOf('WW', a, b, key, ops, path)
    if (assumed) edge.assumed = true
    return edge
  }

  /** The last write of the key by a node. */
  private writeOf(node: number, key: number): number {
    const { history } = this.problem
    const txn = node - 1
    for (let op = history.txnOpStart[txn + 1]! - 1; op >= history.txnOpStart[txn]!; op--) {
      if (history.opKey[op] === key && history.opKind[op] === WRITE) return op
    }
    return INITIAL
  }
}

const txnOf = (node: number) => (node === 0 ? INITIAL_TXN : node - 1)
const nodeOf = (txn: number) => (txn === INITIAL_TXN ? 0 : txn + 1)

function edgeOf(
  kind: Edge['kind'],
  from: number,
  to: number,
  key: number,
  ops: number[],
  premises: Edge[],
): Edge {
  return { from: txnOf(from), to: txnOf(to), kind, key, ops, premises }
}

function sessionEdge(from: number, to: number): Edge {
  return edgeOf('SO', from, to, NONE, [], [])
}

function backTrack(
  cameBy: Map<number, { moment: number; edge: Edge | null }>,
  from: number,
  to: number,
): Edge[] {
  const path: Edge[] = []
  let at = to
  do {
    const { moment, edge } = cameBy.get(at)!
    if (edge !== null) path.unshift(edge)
    at = moment
  } while (at !== from)
  return path
}
