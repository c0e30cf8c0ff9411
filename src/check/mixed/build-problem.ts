// The problem that the deciders of mixed levels work on: which transactions take part, what each
// statement saw of which row and from whom, and the conflicts, rows passed over although a version
// of them satisfies the predicate, with those who may have written the version seen instead. What
// no order can explain is an offence. An indeterminate transaction that nobody read and that has an
// offence cannot have committed, nor can one that read from such a transaction: the problem is
// built again without them, until nothing changes. O(n) plus, for every statement, the rows that
// its predicate can match. Main function: buildMixedProblem.

import { Deadline } from '../../base/deadline.ts'
import { UsageError } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import {
  type History,
  hasLists,
  INDETERMINATE,
  INITIAL,
  NONE,
  READ,
  READ_ROWS,
  WRITE,
} from '../../history/history.ts'
import { INSERT, looksThrough, type SqlEvents } from '../../history/sql-events.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { LevelId } from '../../levels/levels.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { INITIAL_TXN } from '../../verdict/verdict.ts'
import { CC, PC } from '../problem/levels.ts'
import { IN, MAYBE, type MixedOffence, type MixedProblem, OUT } from '../problem/mixed-problem.ts'
import { checkReads, OFFENCES, type ReadCheck } from '../reads/read-consistency.ts'
import { Matches, Predicates } from './matches.ts'
import { levelsOf } from './txn-levels.ts'
import { findPlaces, listWriters, type Writers } from './writers.ts'

/** @param level of all transactions; `mixed`: each at the level it ran at */
export function buildMixedProblem(
  history: History,
  level: LevelId,
  deadline: Deadline = Deadline.none(),
): MixedProblem {
  if (history.sql !== null && hasLists(history)) {
    const hint = 'record the lists in a history of their own'
    throw new UsageError('SQL statements and lists are not judged in one history', hint)
  }
  const state = classify(history)
  const txnCounts = Uint8Array.from(history.txnCounts, (_, txn) => (state[txn + 1] ? 1 : 0))
  const reads = checkReads({ ...history, txnCounts }, deadline)
  const predicates = history.sql && new Predicates(history.sql, deadline)
  while (true) {
    const problem = assemble(history, level, state, reads, predicates, deadline)
    const impossible = findImpossible(problem)
    if (impossible.length === 0) return problem
    for (const node of impossible) state[node] = OUT
  }
}

function classify(history: History): Uint8Array {
  const { txnCount, txnCounts, txnStatus } = history
  const state = new Uint8Array(txnCount + 1)
  // Nobody saw what they appended: without them no list reads otherwise.
  const canMatter = !hasLists(history)
  state[0] = IN
  for (let txn = 0; txn < txnCount; txn++) {
    if (txnCounts[txn]) state[txn + 1] = IN
    else if (canMatter && txnStatus[txn] === INDETERMINATE) state[txn + 1] = MAYBE
  }
  return state
}

/** Transactions that may count or not, but could not have read what they did. */
function findImpossible(problem: MixedProblem): number[] {
  const { state, readNode, fixedStart, fixedNode } = problem
  const nodes = new Set<number>()
  for (const { txn } of problem.offences) if (state[txn + 1] === MAYBE) nodes.add(txn + 1)
  for (let read = 0; read < problem.readCount; read++) {
    if (state[readNode[read]!] !== MAYBE) continue
    for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
      if (state[fixedNode[pair]!] === OUT) nodes.add(readNode[read]!)
    }
  }
  return [...nodes]
}

function assemble(
  history: History,
  level: LevelId,
  state: Uint8Array,
  reads: ReadCheck,
  predicates: Predicates | null,
  deadline: Deadline,
): MixedProblem {
  const writers = listWriters(history, state)
  const matches = history.sql && predicates && new Matches(history.sql, predicates, writers)
  const levels = levelsOf(history, level, state)
  const scan = new Scan(history, reads, writers, predicates, matches, levels)
  const nodeReadStart = new Int32Array(history.txnCount + 2)
  for (let txn = 0; txn < history.txnCount; txn++) {
    deadline.step(8)
    if (state[txn + 1] !== OUT) scan.visit(txn, deadline)
    nodeReadStart[txn + 2] = scan.readNode.length
  }
  return {
    history,
    reads,
    nodeCount: history.txnCount + 1,
    txnOf: Int32Array.from(state, (_, node) => (node === 0 ? INITIAL_TXN : node - 1)),
    state: state.slice(),
    level: levels,
    before: predecessors(history, state),
    inTime: level === 'sser',
    keyOf: Int32Array.from({ length: history.keyCount }, (_, key) => key),
    writerStart: writers.start,
    writerNode: writers.node,
    writerOp: writers.op,
    writerPlace: reads.versions && findPlaces(history, writers, reads.versions),
    nodeReadStart,
    ...scan.finish(),
  }
}

/** Node -> the one before it in its session that is not OUT, else the initial one. */
function predecessors(history: History, state: Uint8Array): Int32Array {
  const { sessionCount, sessionTxnStart, sessionTxns } = history
  const before = new Int32Array(state.length)
  for (let session = 0; session < sessionCount; session++) {
    let last = 0
    for (let i = sessionTxnStart[session]!; i < sessionTxnStart[session + 1]!; i++) {
      const node = sessionTxns[i]! + 1
      before[node] = last
      if (state[node] !== OUT) last = node
    }
  }
  return before
}

class Scan {
  readonly readNode = new IntColumn(64)
  private readonly readEvent = new IntColumn(64)
  private readonly readOp = new IntColumn(64)
  private readonly fixedStart = new IntColumn(64)
  private readonly fixedKey = new IntColumn(64)
  private readonly fixedNode = new IntColumn(64)
  private readonly fixedOp = new IntColumn(64)
  private readonly openStart = new IntColumn(64)
  private readonly openRead = new IntColumn(64)
  private readonly openKey = new IntColumn(64)
  private readonly zeroStart = new IntColumn(64)
  private readonly zeroNode = new IntColumn(64)
  private readonly offences: MixedOffence[] = []
  private visited = 0 // versions, since the deadline was told
  private readonly anyCausal: boolean
  private readonly offenceOf: Int8Array // op -> its offence as a read, NONE if it has none
  private readonly ownTxn: Int32Array // key -> transaction that wrote it last in this scan
  private readonly ownOp: Int32Array // key -> that write
  private readonly ownKeys: number[] = [] // those that the current transaction wrote
  private readonly seenIn: Int32Array // key -> last statement with an operation on it

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly writers: Writers,
    private readonly predicates: Predicates | null,
    private readonly matches: Matches | null,
    private readonly levels: Uint8Array, // node -> level
  ) {
    this.anyCausal = levels.includes(CC)
    this.offenceOf = new Int8Array(history.opCount).fill(NONE)
    reads.offendingOp.forEach((op, i) => {
      this.offenceOf[op] = reads.offendingKind[i]!
    })
    this.ownTxn = new Int32Array(history.keyCount).fill(NONE)
    this.ownOp = new Int32Array(history.keyCount).fill(NONE)
    this.seenIn = new Int32Array(history.keyCount).fill(NONE)
  }

  visit(txn: number, deadline: Deadline): void {
    const { txnOpStart, sql } = this.history
    const end = txnOpStart[txn + 1]!
    let op = txnOpStart[txn]!
    this.ownKeys.length = 0
    if (sql) {
      for (let event = sql.txnEventStart[txn]!; event < sql.txnEventStart[txn + 1]!; event++) {
        while (op < sql.eventOpStart[event]!) this.visitRegister(txn, op++)
        const from = op
        while (op < end && sql.opEvent[op] === event) op++
        this.visitStatement(sql, txn, event, from, op)
        deadline.step(8 + this.visited)
        this.visited = 0
      }
    }
    while (op < end) this.visitRegister(txn, op++)
  }

  private visitRegister(txn: number, op: number): void {
    if (isWrite(this.history, op)) {
      this.noteWrite(txn, op)
    } else if (this.offenceOf[op] !== NONE) {
      this.offend(OFFENCES[this.offenceOf[op]!]!, txn, NONE, op)
    } else if (this.reads.opSource[op] !== NONE) {
      this.beginRead(txn, NONE, op)
      this.addFixed(op)
    }
  }

  private visitStatement(sql: SqlEvents, txn: number, event: number, from: number, end: number) {
    const { opKind, opKey } = this.history
    if (sql.eventKind[event] !== INSERT) {
      this.beginRead(txn, event, NONE)
      for (let op = from; op < end; op++) {
        this.seenIn[opKey[op]!] = event
        if (opKind[op] === READ) this.visitRow(sql, txn, event, op)
        else if (opKind[op] === READ_ROWS) this.offend('DuplicateRow', txn, event, op)
      }
      if (looksThrough(sql, event)) {
        this.visitOwnPassedOver(sql, txn, event)
        this.visitPassedOver(sql, txn, event)
      }
    }
    for (let op = from; op < end; op++) if (opKind[op] === WRITE) this.noteWrite(txn, op)
  }

  /** A row of which the statement names the version it saw. */
  private visitRow(sql: SqlEvents, txn: number, event: number, op: number): void {
    const { opKey, readFrom } = this.history
    const returned = sql.opReturned[op] === 1
    const row = readFrom[op] === NONE ? null : this.matches!.rowOf(opKey[op]!, readFrom[op]!)
    if (returned && row === null && readFrom[op] === INITIAL) {
      this.offend('ThinAirRead', txn, event, op)
      return
    }
    if (this.offenceOf[op] !== NONE) {
      this.offend(OFFENCES[this.offenceOf[op]!]!, txn, event, op)
      return
    }
    if (this.predicates!.satisfies(sql.eventPredicate[event]!, row) !== returned) {
      const isOwn = this.reads.opSource[op] === NONE
      this.offend(!returned && isOwn ? 'NotMyOwnWrite' : 'PredicateMismatch', txn, event, op)
    } else if (this.reads.opSource[op] !== NONE) {
      this.addFixed(op)
    }
  }

  /** Rows written before, which the statement must return if they satisfy its predicate. */
  private visitOwnPassedOver(sql: SqlEvents, txn: number, event: number): void {
    for (const key of this.ownKeys) {
      if (sql.keyTable[key] !== sql.eventTable[event] || this.seenIn[key] === event) continue
      const write = this.ownOp[key]!
      const row = this.matches!.rowOf(key, write)
      if (!this.predicates!.satisfies(sql.eventPredicate[event]!, row)) continue
      this.offences.push({ name: 'NotMyOwnWrite', txn, event, key, op: NONE, write })
    }
  }

  /**
   * Rows that the statement does not speak of, though some version satisfies its predicate. Where a
   * statement at pc, si or ser meets readers at cc, the others too: it saw the last version of each
   * before its snapshot, and whose that was is a cause of all that follows.
   */
  private visitPassedOver(sql: SqlEvents, txn: number, event: number): void {
    const { writers } = this
    const predicate = sql.eventPredicate[event]!
    const contested = this.anyCausal && this.levels[txn + 1]! >= PC
    const match = this.matches!.find(predicate, sql.eventTable[event]!, contested)
    for (let i = 0; i < match.keys.length; i++) {
      const key = match.keys[i]!
      if (this.seenIn[key] === event || this.ownTxn[key] === txn) continue
      const flags = match.writers[i]!
      this.visited += flags.length
      const first = writers.start[key]!
      const zeroStart = this.zeroNode.length
      let satisfying = NONE // a write that the statement should have returned
      for (let w = 0; w < flags.length; w++) {
        const node = writers.node[first + w]!
        if (node === txn + 1) continue
        if (!flags[w]) this.zeroNode.push(node)
        else if (satisfying === NONE) satisfying = writers.op[first + w]!
      }
      const zeroCount = this.zeroNode.length - zeroStart
      if (satisfying !== NONE && zeroCount === 1 && this.losesCommit(txn, event, key)) continue
      if (satisfying === NONE ? contested && zeroCount > 1 : zeroCount > 0) {
        this.zeroStart.push(zeroStart)
        this.openKey.push(key)
        this.openRead.push(this.readNode.length - 1)
        continue
      }
      this.zeroNode.length = zeroStart
      if (satisfying === NONE) continue
      this.offences.push({ name: 'VanishedRow', txn, event, key, op: NONE, write: satisfying })
    }
  }

  /** Whether an audit passed over the row in the only version it can have seen, and that is old. */
  private losesCommit(txn: number, event: number, key: number): boolean {
    const { lost } = this.reads
    if (lost === null || !this.history.txnAudit![txn]) return false
    const { start, node, op } = this.writers
    const only = node.indexOf(this.zeroNode.data[this.zeroNode.length - 1]!, start[key]!)
    const write = lost.find(txn, key, op[only]! < 0 ? INITIAL : op[only]!)
    if (write === NONE) return false
    this.zeroNode.length--
    this.offences.push({ name: 'LostCommit', txn, event, key, op: NONE, write })
    return true
  }

  private noteWrite(txn: number, op: number): void {
    const key = this.history.opKey[op]!
    if (this.ownTxn[key] !== txn) this.ownKeys.push(key)
    this.ownTxn[key] = txn
    this.ownOp[key] = op
  }

  private offend(name: AnomalyName, txn: number, event: number, op: number): void {
    const { opKey, readFrom } = this.history
    const write = this.reads.lostWrite.get(op) ?? readFrom[op]!
    this.offences.push({ name, txn, event, key: opKey[op]!, op, write })
  }

  private beginRead(txn: number, event: number, op: number): void {
    this.readNode.push(txn + 1)
    this.readEvent.push(event)
    this.readOp.push(op)
    this.fixedStart.push(this.fixedKey.length)
    this.openStart.push(this.openKey.length)
  }

  private addFixed(op: number): void {
    const source = this.reads.opSource[op]!
    this.fixedKey.push(this.history.opKey[op]!)
    this.fixedNode.push(source === INITIAL ? 0 : source + 1)
    this.fixedOp.push(op)
  }

  finish() {
    this.fixedStart.push(this.fixedKey.length)
    this.openStart.push(this.openKey.length)
    this.zeroStart.push(this.zeroNode.length)
    return {
      readCount: this.readNode.length,
      readNode: this.readNode.view(),
      readEvent: this.readEvent.view(),
      readOp: this.readOp.view(),
      fixedStart: this.fixedStart.view(),
      fixedKey: this.fixedKey.view(),
      fixedNode: this.fixedNode.view(),
      fixedOp: this.fixedOp.view(),
      openCount: this.openKey.length,
      openStart: this.openStart.view(),
      openRead: this.openRead.view(),
      openKey: this.openKey.view(),
      zeroStart: this.zeroStart.view(),
      zeroNode: this.zeroNode.view(),
      offences: this.offences,
    }
  }
}
