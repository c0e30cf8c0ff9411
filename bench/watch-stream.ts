// Writes Plume text to standard output for as long as somebody reads it: transactions of a store
// that commits one after another, in commit order, eight operations each, half of them reads of the
// newest version. Bounded memory: the newest version of each key. On request one read, near the
// end, misses what its own session wrote. Arguments: transactions, sessions, keys, stale.

import { Random } from '../src/base/random.ts'

const [transactions = 1e6, sessions = 20, keys = 10_000, stale = 0] = process.argv
  .slice(2)
  .map(Number)
// Whoever reads it may have seen enough.
process.stdout.on('error', () => process.exit(0))

const FLUSH_CHARS = 1 << 20
const OPS = 8

const newest = new Float64Array(keys)
const writer = new Int32Array(keys).fill(-1) // key -> session that wrote it last
const before = new Float64Array(keys) // key -> the version before that
const random = new Random(1)
let value = 0
let text = ''
let isTold = stale === 0

for (let txn = 0; txn < transactions; txn++) {
  const session = random.below(sessions)
  const written: number[] = []
  for (let op = 0; op < OPS; op++) {
    const key = random.below(keys)
    if (op % 2 === 0) {
      let seen = newest[key]!
      const isOwn = writer[key] === session && before[key]! > 0 && !written.includes(key)
      if (!isTold && txn > transactions * 0.9 && isOwn) {
        seen = before[key]!
        isTold = true
        process.stderr.write(`stale read in transaction ${txn}\n`)
      }
      text += `r(${key},${seen},${session},${txn})\n`
    } else {
      before[key] = newest[key]!
      newest[key] = ++value
      writer[key] = session
      written.push(key)
      text += `w(${key},${value},${session},${txn})\n`
    }
  }
  if (text.length < FLUSH_CHARS) continue
  const chunk = text
  text = ''
  await new Promise<void>((resolve) => {
    process.stdout.write(chunk, () => resolve())
  })
}
process.stdout.write(text)
