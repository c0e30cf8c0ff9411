// A history with a level per transaction, SQL or not (problem/mixed-problem.ts), as the engine
// decides it. Transactions keep their numbers, 0 being the initial one, which has no moments. Those
// that may take no part lie on chains of their own: nothing follows from them. O(n log n). Main
// function: ofRows.

import { IntColumn } from '../../base/grow.ts'
import { buildCsr } from '../../graph/csr.ts'
import { NONE } from '../../history/history.ts'
import { buildAccess } from '../problem/access.ts'
import { PC, SI } from '../problem/levels.ts'
import { findListOrder } from '../problem/list-order.ts'
import { IN, type MixedProblem, OUT } from '../problem/mixed-problem.ts'
import type { Versions } from '../problem/register-problem.ts'
import { layOutMoments } from './moments.ts'
import { Pairs } from './pairs.ts'
import { findInstants, type Problem } from './problem.ts'

const NEVER = new Float64Array(0)

export function ofRows(rows: MixedProblem): Problem {
  const { history, reads, txnOf, level, nodeCount: txnCount } = rows
  const { txns, starts, chain } = layOutChains(rows)
  const moments = layOutMoments(txns, starts, level, rows.inTime ? findInstants(rows) : NEVER)
  const { rowKey, localKey } = numberKeys(rows)
  const written = layOutVersions(rows, rowKey, moments.commit, chain)
  const readers = layOutReaders(rows, localKey, written, moments.commit)
  const lists = findListOrder(rows)
  const versions = {
    txnCount,
    keyCount: rowKey.length,
    keyOf: rowKey.map((key) => rows.keyOf[key]!),
    ...written,
    ...readers,
    appendFrom: lists.from,
    appendTo: lists.to,
    appendKey: lists.key,
  }
  return {
    ...versions,
    history,
    reads,
    txnOf,
    level,
    before: rows.before.map((node) => (node === 0 ? NONE : node)),
    moments,
    access: buildAccess(versions),
    hasSi: level.some((its, node) => its === SI && rows.state[node] !== OUT),
    pairs: new Pairs(rows, localKey, written),
  }
}

/** Sessions, without those that may take no part, and each of these by itself. */
function layOutChains({ history, nodeCount, txnOf, state }: MixedProblem) {
  const { txnSession, txnIndex } = history
  const session = (node: number) => txnSession[txnOf[node]!]!
  const certain: number[] = []
  const uncertain: number[] = []
  for (let node = 1; node < nodeCount; node++) {
    if (state[node] !== OUT) (state[node] === IN ? certain : uncertain).push(node)
  }
  certain.sort((a, b) => session(a) - session(b) || txnIndex[txnOf[a]!]! - txnIndex[txnOf[b]!]!)
  const txns = Int32Array.from([...certain, ...uncertain])
  const starts = new IntColumn(16)
  const chain = new Int32Array(nodeCount).fill(NONE) // txn -> chain
  for (let i = 0; i < txns.length; i++) {
    const isSame = i > 0 && i < certain.length && session(txns[i]!) === session(txns[i - 1]!)
    if (!isSame) starts.push(i)
    chain[txns[i]!] = starts.length - 1
  }
  starts.push(txns.length)
  return { txns, starts: starts.view(), chain }
}

/** Numbers the keys that somebody writes or may have passed over. */
function numberKeys({ keyOf, writerStart, fixedKey, openKey }: MixedProblem) {
  const localKey = new Int32Array(keyOf.length).fill(NONE)
  const rowKey = new IntColumn(64) // key -> key of the rows
  const note = (key: number) => {
    if (localKey[key] !== NONE) return
    localKey[key] = rowKey.length
    rowKey.push(key)
  }
  for (let key = 0; key < keyOf.length; key++) {
    if (writerStart[key + 1]! - writerStart[key]! > 1) note(key)
  }
  for (const key of fixedKey) note(key)
  for (const key of openKey) note(key)
  return { rowKey: rowKey.view(), localKey }
}

/** The versions of each key, chain by chain; all but the initial one. */
function layOutVersions(
  { writerStart, writerNode }: MixedProblem,
  rowKey: Int32Array,
  commit: Int32Array,
  chain: Int32Array,
) {
  const keyStart = new Int32Array(rowKey.length + 1)
  const versionTxn = new IntColumn(64)
  const runStart = new Int32Array(rowKey.length + 1)
  const runFirst = new IntColumn(64)
  const keys = new Float64Array(writerNode.length) // writer -> what it is sorted by
  for (let key = 0; key < rowKey.length; key++) {
    const from = writerStart[rowKey[key]!]! + 1
    const end = Math.max(from, writerStart[rowKey[key]! + 1]!)
    // By commit, then node, as one number: sorting numbers is fast without a comparison of one's own.
    for (let i = from; i < end; i++) {
      keys[i] = (commit[writerNode[i]!]! + 1) * commit.length + writerNode[i]!
    }
    if (end > from + 1) keys.subarray(from, end).sort()
    runStart[key] = runFirst.length
    let last: number = NONE
    for (let i = from; i < end; i++) {
      const node = keys[i]! % commit.length
      if (chain[node] !== last) runFirst.push(versionTxn.length)
      last = chain[node]!
      versionTxn.push(node)
    }
    keyStart[key + 1] = versionTxn.length
  }
  runStart[rowKey.length] = runFirst.length
  runFirst.push(versionTxn.length)
  return {
    keyStart,
    versionTxn: versionTxn.view(),
    runStart,
    runFirst: runFirst.view(),
  }
}

/** Those who see snapshots and take part in any case, by the versions that they read. */
function layOutReaders(
  { level, state, readCount, readNode, fixedStart, fixedKey, fixedNode }: MixedProblem,
  localKey: Int32Array,
  written: Pick<Versions, 'keyStart' | 'versionTxn'>,
  commit: Int32Array,
) {
  const { keyStart, versionTxn } = written
  const keyCount = keyStart.length - 1
  const of = { version: new IntColumn(64), reader: new IntColumn(64) }
  const ofInitial = { key: new IntColumn(64), reader: new IntColumn(64) }
  const seen = new Int32Array(versionTxn.length).fill(NONE) // version -> its last reader
  const seenInitial = new Int32Array(keyCount).fill(NONE) // key -> last reader
  for (let read = 0; read < readCount; read++) {
    const reader = readNode[read]!
    if (level[reader]! < PC || state[reader] !== IN) continue
    for (let pair = fixedStart[read]!; pair < fixedStart[read + 1]!; pair++) {
      const key = localKey[fixedKey[pair]!]!
      if (fixedNode[pair] === 0) {
        if (seenInitial[key] === reader) continue
        seenInitial[key] = reader
        ofInitial.key.push(key)
        ofInitial.reader.push(reader)
        continue
      }
      const version = findVersion(written, commit, key, fixedNode[pair]!)
      if (seen[version] === reader) continue
      seen[version] = reader
      of.version.push(version)
      of.reader.push(reader)
    }
  }
  const readers = buildCsr(versionTxn.length, of.version.view(), of.reader.view())
  const initial = buildCsr(keyCount, ofInitial.key.view(), ofInitial.reader.view())
  return {
    readerStart: readers.start,
    reader: readers.target,
    initialStart: initial.start,
    initialReader: initial.target,
  }
}

/** The version of a key that a transaction wrote; it must have written it. */
export function findVersion(
  { keyStart, versionTxn }: Pick<Versions, 'keyStart' | 'versionTxn'>,
  commit: Int32Array,
  key: number,
  txn: number,
): number {
  let low = keyStart[key]!
  let high = keyStart[key + 1]! - 1
  while (low < high) {
    const mid = (low + high) >>> 1
    if (commit[versionTxn[mid]!]! < commit[txn]!) low = mid + 1
    else high = mid
  }
  return low
}
