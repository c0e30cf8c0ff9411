// Files that are judged as they stand: the pass that decides and the one that verifies, each held
// to the engine in memory, on the order of the file and on small windows.

import { afterAll, describe, expect, it } from 'vitest'
import { Random } from '../../../src/base/random.ts'
import { check } from '../../../src/check/check.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import type { PlainFile } from '../../../src/formats/pieces.ts'
import type { History } from '../../../src/history/history.ts'
import { countStreamed, judgeStream } from '../../../src/pipeline/beyond-memory/judge-stream.ts'
import { SPILLED_LEVELS, type SpilledLevel } from '../../../src/pipeline/beyond-memory/levels.ts'
import { StreamReplay } from '../../../src/spill/certify-stream.ts'
import { FileStream, NotStreamed } from '../../../src/spill/file-stream.ts'
import { loadPart } from '../../../src/spill/part.ts'
import { certifyCommitOrder } from '../../../src/verdict/certify-order.ts'
import { certifyPlain } from '../../../src/verdict/certify-plain.ts'
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
  const replay = new StreamReplay(level, bytes)
  for (const piece of stream.read(2 ** 20, () => {})) {
    if (!replay.take(piece, stream.keys.size)) break
  }
  return replay.finish()
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
const seeds = SAMPLED === 1 ? 3000 : 40

describe('StreamReplay', () => {
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
          const isSatisfied = judged?.decision.verdict === 'satisfied'
          if (isSatisfied) expect(expected, `${source} at ${level}`).toBe(true)
          // Small histories write few values, some of them to two keys and in no order.
          if (isSatisfied) seen.satisfied++
          else seen[expected ? 'missed' : 'other']++
        }
      }
    }
    expect(Math.min(seen.satisfied, seen.other)).toBeGreaterThan(50)
    expect(seen.missed).toBeLessThan(seen.satisfied)
  }, 600_000)

  it('never contradicts the engine in memory, however little it keeps', () => {
    const seen = { satisfied: 0, violated: 0, unknown: 0 }
    for (let seed = 1; seed <= 4 * seeds; seed++) {
      const text = inOrder(seed)
      const history = parseHistory(text)
      const file = files.write(text)
      const sizes = {
        ...(seed % 2 === 0 ? TINY : FORGETFUL),
        pieceBytes: seed % 3 === 0 ? 24 : 128,
      }
      for (const level of SPILLED_LEVELS) {
        const judged = judgeStream(file, level, sizes, { memoryBytes: 2 ** 20, prove: true })
        const verdict = judged?.decision.verdict ?? 'unknown'
        seen[verdict]++
        if (judged === null) continue
        expect(check(history, level).verdict, `${text} at ${level}`).toBe(verdict)
        expect(countStreamed(judged.stream)).toMatchObject({
          transactions: history.txnCount,
          operations: history.opCount,
          keys: history.keyCount,
        })
        if (judged.decision.verdict !== 'violated') {
          if (sizes.windowBytes < TINY.windowBytes) continue // it may not fit
          expect(judged.result.proof).not.toBeNull()
          expect(certifyPlain(history, judged.result).problems, text).toEqual([])
          continue
        }
        const part = loadPart(
          { file, sizes, initial: 0, hasLabels: true, txnStatus: null },
          judged.decision.txns,
          2 ** 20,
        )
        expect(check(part.history, level).verdict, `${text} at ${level}`).toBe('violated')
      }
    }
    expect(Math.min(seen.satisfied, seen.violated)).toBeGreaterThan(100)
  }, 600_000)

  it.each(['rc', 'ra', 'cc'] as const)('shows what violates %s by itself', (level) => {
    const others = (key: number) =>
      Array.from({ length: 20 }, (_, i) => `w(${key},${100 * key + i},9,${100 * key + i})\n`).join(
        '',
      )
    const by = level === 'cc' ? 'r(1,2,2,3)\nw(2,3,2,3)\n' : 'w(2,3,1,2)\n'
    const stale = level === 'ra' ? 'r(1,1,3,4)\nr(2,3,3,4)\n' : 'r(2,3,3,4)\nr(1,1,3,4)\n'
    const told = `${others(7)}w(1,1,0,1)\nr(1,1,1,2)\nw(1,2,1,2)\n${by}`
    const judge = (text: string) => {
      const { decision } = judgeStream(files.write(text), level, TINY, { memoryBytes: 2 ** 20 })!
      return decision.verdict === 'violated' ? [...decision.txns].sort((a, b) => a - b) : []
    }
    const core = level === 'cc' ? [20, 21, 22, 23] : [20, 21, 22]
    expect(judge(`${told}${stale}${others(8)}`)).toEqual(core)
    expect(judge(`${told}${stale.replace('r(1,1', 'r(1,2')}${others(8)}`)).toEqual([])
    // What is wrong with the rest of the file is not passed over.
    const rest = `${told}${stale}w(1,1,5,999)\n`
    expect(judgeStream(files.write(rest), level, TINY, { memoryBytes: 2 ** 20 })).toBeNull()
  })

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

/** Transactions in the order of a file, each of which reads what is there, or was there lately. */
function inOrder(seed: number): string {
  const random = new Random(seed)
  const versions = Array.from({ length: 1 + random.below(4) }, () => [0])
  const freshness = random.pick([0.5, 0.8, 0.95])
  const txns = random.pick([6, 12, 100])
  let text = ''
  let value = 0
  for (let txn = 0; txn < txns; txn++) {
    const session = random.below(4)
    const isAborted = random.chance(0.05)
    const written = new Map<number, number>()
    for (let op = random.below(4); op >= 0; op--) {
      const key = random.below(versions.length)
      const own = written.get(key)
      const known = versions[key]!
      if (random.chance(0.5)) {
        const back = random.chance(freshness) ? 0 : random.below(4)
        const seen = own ?? known.at(-1 - Math.min(back, known.length - 1))!
        if (!isAborted) text += `r(${key},${seen},${session},${txn})\n`
      } else {
        written.set(key, ++value)
        text += `w(${key},${value},${session},${isAborted ? -1 : txn})\n`
      }
    }
    if (!isAborted) for (const [key, last] of written) versions[key]!.push(last)
  }
  return text === '' ? 'w(0,1,0,0)\n' : text
}
