// Files that are judged as they stand: the pass that decides and the one that verifies, each held
// to the engine in memory, on the order of the file and on small windows.

import { afterAll, describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import type { PlainFile } from '../../../src/formats/pieces.ts'
import type { History } from '../../../src/history/history.ts'
import { judgeStream } from '../../../src/pipeline/beyond-memory/judge-stream.ts'
import { SPILLED_LEVELS, type SpilledLevel } from '../../../src/pipeline/beyond-memory/levels.ts'
import { certifyStream } from '../../../src/spill/certify-stream.ts'
import { FileStream, NotStreamed } from '../../../src/spill/file-stream.ts'
import { certifyCommitOrder } from '../../../src/verdict/certify-order.ts'
import { type CompareOptions, draftsFor, SAMPLED } from '../../small/compare.ts'
import { isSnapshotOrder, PLAIN } from './definitions.ts'
import { Files, TINY, tell } from './told.ts'

const files = new Files()
afterAll(() => files.remove())

/** So small that what some reads saw is forgotten. */
const FORGETFUL = { ...TINY, windowBytes: 9000 }

function isOrder(history: History, level: SpilledLevel): boolean {
  const order = Int32Array.from({ length: history.txnCount }, (_, txn) => txn)
  if (level === 'si') return isSnapshotOrder(history, order)
  return certifyCommitOrder(history, level, order).length === 0
}

function certify(file: PlainFile, level: SpilledLevel, bytes: number) {
  const stream = new FileStream(file, TINY)
  return certifyStream(
    stream,
    stream.read(2 ** 20, () => {}),
    level,
    bytes,
  )
}

function* histories(options: CompareOptions): Generator<[History, string]> {
  let seed = 0
  for (const { draft, source } of draftsFor(options)) {
    const history = tell(draft, ++seed)
    if (history !== null) yield [history, source]
  }
}

const SHAPES = (['all', 'prefix', 'causal', 'any'] as const).map((sight) => ({
  ...PLAIN,
  txns: 7,
  sessions: 3,
  keys: 2,
  sight,
}))
const seeds = SAMPLED === 1 ? 3000 : 60

describe('certifyStream', () => {
  it('accepts the order of a file where it is accepted in memory, and nowhere else', () => {
    const seen = { accepted: 0, refused: 0 }
    for (const shape of SHAPES) {
      for (const [history, source] of histories({ families: [], seeds, shape })) {
        const file = files.native(history)
        for (const level of SPILLED_LEVELS) {
          const { problem, isComplete } = certify(file, level, 1 << 16)
          expect(isComplete).toBe(true)
          const expected = isOrder(history, level)
          expect(problem === null, `${source} at ${level}: ${problem}`).toBe(expected)
          seen[expected ? 'accepted' : 'refused']++
        }
      }
    }
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(50)
  }, 600_000)

  it('says nothing of what lies before its window', () => {
    const { isComplete } = certify(files.write(oldRead(60)), 'cc', 64)
    expect(isComplete).toBe(false)
    expect(certify(files.write(oldRead(60)), 'cc', 1 << 16)).toEqual({
      problem: null,
      isComplete: true,
    })
  })
})

describe('judgeStream', () => {
  it('finds levels satisfied where the order of the file proves them, and nowhere else', () => {
    const seen = { satisfied: 0, other: 0, missed: 0 }
    for (const shape of SHAPES) {
      for (const [history, source] of histories({ families: [], seeds, shape })) {
        const file = files.native(history)
        for (const level of SPILLED_LEVELS) {
          const judged = judgeStream(file, level, TINY, { memoryBytes: 2 ** 20 })
          const expected = isOrder(history, level)
          if (judged !== null) expect(expected, `${source} at ${level}`).toBe(true)
          // Small histories write few values, some of them to two keys and in no order.
          if (judged !== null) seen.satisfied++
          else seen[expected ? 'missed' : 'other']++
        }
      }
    }
    expect(Math.min(seen.satisfied, seen.other)).toBeGreaterThan(50)
    expect(seen.missed).toBeLessThan(seen.satisfied)
  }, 600_000)

  it('never contradicts the engine in memory, whatever a history has and however little it keeps', () => {
    const seen = { satisfied: 0, other: 0 }
    const families = [
      { seeds, shape: { after: 0, sight: 'prefix' as const } },
      {
        seeds: 2 * seeds,
        shape: {
          after: 0,
          txns: 80,
          sessions: 4,
          keys: 3,
          freshness: 0.9,
          sight: 'prefix' as const,
          indeterminate: 0,
          thinAir: 0,
          wild: 0,
        },
      },
    ]
    for (const family of families) {
      for (const [history, source] of histories({ families: [], ...family })) {
        const file = files.native(history)
        for (const level of SPILLED_LEVELS) {
          const judged = judgeStream(file, level, FORGETFUL, { memoryBytes: 2 ** 20, prove: true })
          seen[judged === null ? 'other' : 'satisfied']++
          if (judged === null) continue
          expect(check(history, level).verdict, `${source} at ${level}`).toBe('satisfied')
          expect(judged.counts.transactions).toBe(history.txnCount)
        }
      }
    }
    expect(seen.satisfied).toBeGreaterThan(5)
  }, 600_000)

  it.each([
    ['a value that is written twice', 'w(1,5,0,1)\nw(2,9,0,2)\nw(1,5,1,3)\n'],
    ['a value that an aborted one wrote', 'w(1,5,0,-1)\nw(1,7,0,2)\nw(1,5,1,3)\n'],
    ['a value that is written twice by one', 'w(1,5,0,1)\nw(1,6,0,1)\nw(1,5,0,1)\n'],
    ['an id that comes again', 'w(1,5,0,1)\nw(1,6,1,2)\nw(1,7,0,1)\n'],
    ['an intermediate read', 'w(1,5,0,1)\nw(1,6,0,1)\nr(1,5,1,2)\n'],
    ['an aborted read', 'w(1,5,0,-1)\nr(1,5,1,2)\n'],
    ['a read of nothing', 'r(1,5,1,2)\n'],
    ['a read of what comes later', 'r(1,5,1,2)\nw(1,5,0,1)\n'],
    ['another than its own write', 'w(1,5,0,1)\nw(1,6,1,2)\nr(1,5,1,2)\n'],
    ['the initial state again', 'w(1,0,0,1)\nr(1,0,1,2)\n'],
    ['a large value', 'w(1,18446744073709551615,0,1)\n'],
    ['a large id', 'w(1,1,0,18446744073709551615)\n'],
  ])('leaves to others: %s', (_, text) => {
    for (const pieceBytes of [12, 4096]) {
      const sizes = { ...TINY, pieceBytes }
      expect(judgeStream(files.write(text), 'rc', sizes, { memoryBytes: 2 ** 20 })).toBeNull()
    }
  })

  it.each([
    ['values that each key counts for itself', 'w(1,1,0,1)\nw(2,1,0,1)\nw(1,2,1,2)\nr(2,1,1,2)\n'],
    ['values in no order', 'w(1,5,0,1)\nw(1,3,1,2)\nw(2,4,1,2)\nr(1,3,0,3)\n'],
    ['aborted transactions', 'w(1,5,0,-1)\nw(1,6,0,1)\nr(1,6,1,2)\nw(1,9,1,-1)\nr(1,6,1,4)\n'],
    ['an old initial read', 'w(1,5,0,1)\nr(1,0,1,2)\n'],
  ])('takes %s, wherever it is cut', (_, text) => {
    for (const pieceBytes of [12, 30, 4096]) {
      const sizes = { ...TINY, pieceBytes }
      const judged = judgeStream(files.write(text), 'cc', sizes, { memoryBytes: 2 ** 20 })
      expect(judged?.result).toMatchObject({
        verdict: 'satisfied',
        certificate: { verified: true },
      })
    }
  })

  it('does not follow a read that is older than its window', () => {
    const judge = (count: number) =>
      judgeStream(files.write(oldRead(count)), 'cc', FORGETFUL, { memoryBytes: 2 ** 20 })
    expect(judge(4)).not.toBeNull()
    expect(judge(400)).toBeNull()
  })
})

describe('FileStream', () => {
  it('is not for files whose transactions are told in two places', () => {
    const text = 'w(1,1,0,1)\nw(1,2,1,2)\nw(2,3,0,1)\n'
    const stream = new FileStream(files.write(text), { ...TINY, pieceBytes: 12 })
    expect(() => [...stream.read(2 ** 20, () => {})]).toThrow(NotStreamed)
  })
})

/** A key is written so many times, then read as it was at first by one who saw nobody else. */
function oldRead(count: number): string {
  const writes = Array.from({ length: count }, (_, i) => `w(1,${i + 1},0,${i})\n`)
  return `${writes.join('')}r(1,1,1,${count})\n`
}
