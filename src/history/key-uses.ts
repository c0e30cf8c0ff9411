// Which keys transactions use, for real time that counts key by key (ser+lin): as the history was
// told, not as it was spelled out. Whoever increments or reads a counter uses the counter, whatever
// shares that touches, and a range read uses every integer key from its first to its last, those
// too that nobody writes: in `s1: range(1,9,[])` / `s2: r(3,null)` both use key 3. Of these it is
// enough to name the keys that are used otherwise and where ranges begin, because two ranges that
// have a key in common have the beginning of one of them in common. O(operations, and keys of
// ranges). Main functions: usesOf, usersOfKeys, shareKey.

import { BudgetExceeded } from '../base/errors.ts'
import { IntColumn } from '../base/grow.ts'
import { type History, NONE } from './history.ts'
import { IntegerKeys, type NamedKey } from './integer-keys.ts'
import { RANGE, type SpanOps } from './spans.ts'

/** Keys of ranges, all together; more are not gone through. */
const MOST_USES = 50_000_000

export interface KeyUses {
  readonly start: Int32Array // txn -> its first entry; one more at the end
  readonly key: Int32Array // entry -> key that it uses; the same may come again
  readonly keyCount: number
}

const SPELLED = new WeakMap<History, KeyUses>()

/** Throws BudgetExceeded if ranges have too many keys. */
export function usesOf(history: History): KeyUses {
  const told = history.asTold ?? history
  const { spans, txnOpStart: start, opKey: key, keyCount } = told
  if (spans === null) return { start, key, keyCount }
  const known = SPELLED.get(told)
  if (known !== undefined) return known
  const uses = spellOut(told, spans)
  SPELLED.set(told, uses)
  return uses
}

function spellOut(told: History, spans: SpanOps): KeyUses {
  const { txnCount, txnOpStart, opKey, values } = told
  const { keys, keyCount } = integerKeys(told, spans)
  const start = new Int32Array(txnCount + 1)
  const used = new IntColumn(told.opCount)
  const use = (key: number) => used.push(key)
  for (let txn = 0; txn < txnCount; txn++) {
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const span = spans.opSpan[op]!
      if (span === NONE) use(opKey[op]!)
      else if (spans.kind[span] !== RANGE) use(spans.key[span]!)
      else {
        const [first, last] = [values.get(spans.first[span]!), values.get(spans.last[span]!)]
        keys.forEach(first as number, last as number, use)
      }
      if (span !== NONE) op += spans.size[span]! - 1
    }
    start[txn + 1] = used.length
    if (used.length > MOST_USES) {
      throw new BudgetExceeded(`range reads tell of more than ${MOST_USES} keys together`)
    }
  }
  return { start, key: used.view(), keyCount }
}

/** The integer keys that there are, and where ranges begin: keys of their own if they are none. */
function integerKeys({ keys, keyCount, values }: History, spans: SpanOps) {
  const named: NamedKey[] = []
  const names = new Set<unknown>()
  for (let key = 0; key < keyCount; key++) {
    const name = keys.get(key)
    if (typeof name === 'number' || typeof name === 'bigint') {
      names.add(name)
      named.push({ name, key })
    }
  }
  let count = keyCount
  spans.kind.forEach((kind, span) => {
    if (kind !== RANGE) return
    const name = values.get(spans.first[span]!) as number
    if (!names.has(name)) named.push({ name, key: count++ })
    names.add(name)
  })
  return { keys: new IntegerKeys(named), keyCount: count }
}

/** For each key that several use, those that count. */
export function usersOfKeys(history: History): Int32Array[] {
  const { txnCount, txnCounts } = history
  const { start: from, key: used, keyCount } = usesOf(history)
  const last = new Int32Array(keyCount).fill(NONE) // key -> who used it last, of those gone through
  const forEachUse = (visit: (key: number, txn: number) => void) => {
    last.fill(NONE)
    for (let txn = 0; txn < txnCount; txn++) {
      if (!txnCounts[txn]) continue
      for (let at = from[txn]!; at < from[txn + 1]!; at++) {
        const key = used[at]!
        if (last[key] !== txn) visit(key, txn)
        last[key] = txn
      }
    }
  }
  const start = new Int32Array(keyCount + 1)
  forEachUse((key) => {
    start[key + 1]!++
  })
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const users = new Int32Array(start[keyCount]!)
  const next = start.slice()
  forEachUse((key, txn) => {
    users[next[key]!++] = txn
  })
  const found: Int32Array[] = []
  for (let key = 0; key < keyCount; key++) {
    const txns = users.subarray(start[key], start[key + 1])
    if (txns.length > 1) found.push(txns)
  }
  return found
}

/** Whether two transactions use a common key. */
export function shareKey(history: History, a: number, b: number): boolean {
  const { start, key } = usesOf(history)
  const keys = new Set(key.subarray(start[a], start[a + 1]))
  return key.subarray(start[b], start[b + 1]).some((each) => keys.has(each))
}
