// Writes Plume text to standard output for as long as somebody reads it: transactions of a store
// that commits one after another, in commit order, eight operations each, half of them reads of the
// newest version. Bounded memory: the newest version of each key. On request one read, near the
// end, misses what its own session wrote. Arguments: transactions, sessions, keys, stale.

import { Random } from '../src/base/random.ts'
import { Lines } from './scale-history.ts'

const [transactions = 1e6, sessions = 20, keys = 10_000, stale = 0] = process.argv
  .slice(2)
  .map(Number)

const OPS = 8

const newest = new Int32Array(keys)
const writer = new Int32Array(keys).fill(-1) // key -> session that wrote it last
const writtenIn = new Int32Array(keys).fill(-1) // key -> transaction that wrote it last
const before = new Int32Array(keys) // key -> the version before that
const random = new Random(1)
const lines = new Lines('/dev/stdout', 'a')
let value = 0
let isTold = stale === 0

try {
  for (let txn = 0; txn < transactions; txn++) transact(txn)
  lines.close()
} catch (error) {
  // Whoever reads it may have seen enough.
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
}

function transact(txn: number): void {
  const session = random.below(sessions)
  for (let op = 0; op < OPS; op++) {
    const key = random.below(keys)
    if (op % 2 === 0) {
      let seen = newest[key]!
      const isOwn = writer[key] === session && before[key]! > 0 && writtenIn[key] !== txn
      if (!isTold && txn > transactions * 0.9 && isOwn) {
        seen = before[key]!
        isTold = true
        process.stderr.write(`stale read in transaction ${txn}\n`)
      }
      lines.put('r', key, seen, session, txn)
    } else {
      before[key] = newest[key]!
      newest[key] = ++value
      writer[key] = session
      writtenIn[key] = txn
      lines.put('w', key, value, session, txn)
    }
  }
}
