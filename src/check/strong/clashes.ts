// Replays an order and finds the pairs of writers it gets wrong: a version that was overwritten
// before everybody had read it, and, at si, two transactions that write a common key and overlap.
// All that is known is right in the order, so each such pair is open, and adding it to the solver
// rules this order out. Without any, the order is a proof. O(operations). Main function:
// findClashes.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import type { Access } from '../problem/access.ts'
import type { KnownEdges } from './known-edges.ts'

/** Versions between the one read and the latest that are reported, for each read. */
const MOST_BETWEEN = 16

/**
 * Local transactions in pairs; empty if the order is valid.
 *
 * @param order nodes, in a topological order of the known edges
 */
export function findClashes(
  known: KnownEdges,
  access: Access,
  order: Int32Array,
  deadline: Deadline,
): Int32Array {
  const { keyCount, versionTxn } = known.problem
  const { width, level } = known.shape
  const { readStart, readVersion, writeStart, writeKey, writeVersion, keyOfVersion } = access
  const latest = new Int32Array(keyCount).fill(NONE) // local key -> its latest version
  const below = new Int32Array(versionTxn.length) // version -> the one it replaced
  const holder = new Int32Array(keyCount).fill(NONE) // si: local key -> open transaction
  const clashes = new IntColumn(64)
  for (const node of order) {
    deadline.step(4)
    const txn = known.txnOf(node)
    if (txn < 0) continue // an instant
    const isBegin = width === 1 || node % 2 === 0
    const isCommit = width === 1 || node % 2 === 1
    for (let i = readStart[txn]!; isBegin && i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      if (version < 0) continue // who overwrites the initial state is known to follow
      let newer = latest[keyOfVersion[version]!]!
      for (let n = 0; newer !== version && n < MOST_BETWEEN; n++) {
        clashes.push(versionTxn[newer]!)
        clashes.push(versionTxn[version]!)
        newer = below[newer]!
      }
    }
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      if (level === 'si') {
        if (isBegin && holder[key] !== NONE) {
          clashes.push(holder[key]!)
          clashes.push(txn)
        }
        holder[key] = isBegin ? txn : NONE
      }
      if (!isCommit) continue
      below[writeVersion[i]!] = latest[key]!
      latest[key] = writeVersion[i]!
    }
  }
  return clashes.view()
}

/**
 * Further pairs that an order may get wrong next: each transaction of a clash with those that write
 * one of its keys shortly before or after it. They may well be settled already.
 *
 * @param within how many places before and after count
 */
export function findNeighbours(
  known: KnownEdges,
  access: Access,
  position: Int32Array,
  clashes: Int32Array,
  within: number,
  deadline: Deadline,
): Int32Array {
  const { keyStart, versionTxn } = known.problem
  const { writeStart, writeKey, writeVersion } = access
  const sorted = new Map<number, Int32Array>() // local key -> its versions in order of commit
  const sort = (key: number) => {
    const versions = new Int32Array(keyStart[key + 1]! - keyStart[key]!)
    deadline.step(16 * versions.length)
    for (let i = 0; i < versions.length; i++) versions[i] = keyStart[key]! + i
    const place = (version: number) => position[known.commit(versionTxn[version]!)]!
    versions.sort((a, b) => place(a) - place(b))
    sorted.set(key, versions)
    return versions
  }
  const pairs = new IntColumn(64)
  for (const txn of new Set(clashes)) {
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const versions = sorted.get(writeKey[i]!) ?? sort(writeKey[i]!)
      const at = versions.indexOf(writeVersion[i]!)
      deadline.step(1 + (at >> 3) + 2 * within)
      const end = Math.min(versions.length, at + within + 1)
      for (let other = Math.max(0, at - within); other < end; other++) {
        if (other === at) continue
        pairs.push(txn)
        pairs.push(versionTxn[versions[other]!]!)
      }
    }
  }
  return pairs.view()
}
