import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { COMMITTED, type History, INITIAL, NONE, READ, WRITE } from '../../src/history/history.ts'
import { resolveByNewest } from '../../src/history/resolve-newest.ts'

type Op = readonly [kind: 'r' | 'w', key: number, value: number | bigint]

/** A history of one session, two operations a transaction. */
function build(ops: readonly Op[]): History {
  const builder = new HistoryBuilder(0)
  const session = builder.session(1)
  ops.forEach(([kind, key, value], i) => {
    if (i % 2 === 0) builder.addTxn(session, COMMITTED)
    if (kind === 'r') builder.read(i >> 1, key, value)
    else builder.write(i >> 1, key, value)
  })
  return builder.finish()
}

/** By the letter: the write of that value to that key. */
function writeOf({ opKind, opKey, opValue, opCount }: History, op: number): number {
  if (opKind[op] !== READ) return NONE
  if (opValue[op] === 0) return INITIAL
  for (let other = 0; other < opCount; other++) {
    const isWrite = opKind[other] === WRITE && opValue[other] === opValue[op]
    if (isWrite && opKey[other] === opKey[op]) return other
  }
  return NONE
}

function resolve(history: History) {
  const { opCount } = history
  const found = { readFrom: new Int32Array(opCount), readTxn: new Int32Array(opCount) }
  return { found, isDone: resolveByNewest(history, 0, found) }
}

const WIDE = 2n ** 60n

describe('reads of the newest version', () => {
  test('every read finds its write, be it newest, older, later, on another key or nowhere', () => {
    const op = fc.tuple(fc.boolean(), fc.nat(3), fc.nat(12), fc.boolean())
    fc.assert(
      fc.property(fc.array(op, { minLength: 2, maxLength: 40 }), (steps) => {
        let written = 0
        const ops = steps.map(([isRead, key, value, isWide]): Op => {
          const n = isRead ? value : ++written
          return [isRead ? 'r' : 'w', key, isWide === (n % 3 === 0) && n > 0 ? WIDE + BigInt(n) : n]
        })
        const history = build(ops)
        const { found, isDone } = resolve(history)
        expect(isDone).toBe(true)
        for (let i = 0; i < history.opCount; i++) {
          const write = writeOf(history, i)
          expect(found.readFrom[i]).toBe(write)
          expect(found.readTxn[i]).toBe(write >= 0 ? history.opTxn[write] : write)
        }
        expect(history.readFrom).toEqual(found.readFrom)
      }),
    )
  })

  test('a value that is written to two keys is left to others', () => {
    const ops: Op[] = [
      ['w', 1, 5],
      ['w', 2, 5],
      ['r', 1, 5],
      ['r', 2, 5],
    ]
    expect(resolve(build(ops)).isDone).toBe(false)
    expect([...build(ops).readFrom]).toEqual([NONE, NONE, 0, 1])
    ops[1] = ['w', 2, 6]
    expect(resolve(build(ops)).isDone).toBe(true)
    expect([...build(ops).readFrom]).toEqual([NONE, NONE, 0, NONE])
  })

  test('values far beyond the number of operations are left to others', () => {
    const ops: Op[] = [
      ['w', 1, 10_000_000],
      ['r', 1, 10_000_000],
    ]
    expect(resolve(build(ops)).isDone).toBe(false)
    expect([...build(ops).readFrom]).toEqual([NONE, 0])
  })

  test('where most reads are of older versions, it gives up', () => {
    const ops = Array.from(
      { length: 4000 },
      (_, i): Op => (i < 2000 ? ['w', 1, i + 1] : ['r', 1, i - 1999]),
    )
    expect(resolve(build(ops)).isDone).toBe(false)
    const { readFrom } = build(ops)
    expect([...readFrom.subarray(2000, 2003)]).toEqual([0, 1, 2])
    const newest = ops.map((op, i): Op => (i < 2000 ? op : ['r', 1, 2000]))
    expect(resolve(build(newest)).isDone).toBe(true)
  })
})
