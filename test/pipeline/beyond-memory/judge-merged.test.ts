// Orders in which the sessions of a file are side by side: verdicts by them held to those of the
// engine in memory, on files told session by session, shuffled, and with room for little.

import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { Random } from '../../../src/base/random.ts'
import { check } from '../../../src/check/check.ts'
import { Scratch } from '../../../src/files/scratch.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { MergedFile } from '../../../src/pipeline/beyond-memory/judge-merged.ts'
import { judgeOnDisk } from '../../../src/pipeline/beyond-memory/judge-on-disk.ts'
import { SPILLED_LEVELS } from '../../../src/pipeline/beyond-memory/levels.ts'
import { loadPart } from '../../../src/spill/part.ts'
import { certifyPlain } from '../../../src/verdict/certify-plain.ts'
import { SAMPLED } from '../../small/compare.ts'
import { Files, TINY } from './told.ts'

const files = new Files()
const scratch = new Scratch(tmpdir())
afterAll(() => {
  files.remove()
  scratch.close()
})

const MEMORY = { memoryBytes: 2 ** 20 }
/** Clocks of a few transactions, a few versions that are remembered. */
const FORGETFUL = { ...TINY, windowBytes: 9000 }
const seeds = SAMPLED === 1 ? 8000 : 150

type Layout = 'session' | 'shuffled'

describe('MergedFile', () => {
  it('never contradicts the engine in memory, whatever the file is like', () => {
    const seen = { satisfied: 0, violated: 0, unknown: 0 }
    for (let seed = 1; seed <= seeds; seed++) {
      const text = rearranged(seed, seed % 2 === 0 ? 'session' : 'shuffled')
      const history = parseHistory(text)
      const file = files.write(text)
      const sizes = { ...(seed % 3 === 0 ? FORGETFUL : TINY), pieceBytes: seed % 5 ? 128 : 24 }
      const merged = MergedFile.open(file, sizes, scratch, { ...MEMORY, prove: true })
      if (merged === null) continue // a transaction that was cut in two
      for (const level of SPILLED_LEVELS) {
        const judged = merged.judge(level)
        const verdict = judged?.decision.verdict ?? 'unknown'
        seen[verdict]++
        if (judged === null || judged.decision.verdict === 'unknown') continue
        expect(check(history, level).verdict, `${text} at ${level}`).toBe(verdict)
        if (judged.decision.verdict === 'violated') {
          const source = { file, sizes, initial: 0, hasLabels: true, txnStatus: null }
          const part = loadPart(source, judged.decision.txns, 2 ** 20)
          expect(check(part.history, level).verdict, `${text} at ${level}`).toBe('violated')
        } else if (sizes.windowBytes === TINY.windowBytes) {
          expect(judged.result.proof).not.toBeNull()
          expect(certifyPlain(history, judged.result).problems, text).toEqual([])
        }
      }
      merged.close()
    }
    expect(Math.min(seen.satisfied, seen.violated)).toBeGreaterThan(50)
    expect(seen.unknown).toBeLessThan(seen.satisfied)
  }, 600_000)

  it.each(['session', 'shuffled'] as const)('proves causality of a store: %s', (layout) => {
    for (let seed = 1; seed <= 20; seed++) {
      const file = files.write(store(seed, layout, 400))
      const merged = MergedFile.open(file, { ...TINY, pieceBytes: 1 << 16 }, scratch, MEMORY)!
      for (const level of ['rc', 'ra', 'cc'] as const) {
        const verdict = merged.judge(level)?.decision.verdict
        expect(verdict, `seed ${seed} at ${level}`).toBe('satisfied')
      }
      merged.close()
    }
  })

  it.each([
    ['a cycle of reads', 'r(1,1,0,1)\nw(2,2,0,1)\nr(2,2,1,2)\nw(1,1,1,2)\n'],
    ['a read of what nobody wrote', 'r(1,5,0,1)\nw(2,1,1,2)\n'],
    ['a read of its own later write', 'r(1,5,0,1)\nw(1,5,0,1)\n'],
    ['an aborted read', 'r(1,5,0,1)\nw(1,5,1,-1)\n'],
    ['an intermediate read', 'r(1,5,0,1)\nw(1,5,1,2)\nw(1,6,1,2)\n'],
  ])('finds no order that tells: %s', (_, text) => {
    const merged = MergedFile.open(files.write(text), TINY, scratch, MEMORY)!
    expect(merged.judge('rc')).toBeNull()
    merged.close()
  })

  it.each([
    ['a value that is written twice', 'w(1,5,0,1)\nw(2,5,1,2)\n'],
    ['the initial state again', 'w(1,0,0,1)\nr(1,0,1,2)\n'],
    ['a large value', 'w(1,18446744073709551615,0,1)\n'],
  ])('leaves to others: %s', (_, text) => {
    expect(MergedFile.open(files.write(text), TINY, scratch, MEMORY)).toBeNull()
  })
})

describe('judgeOnDisk', () => {
  it('decides what memory decides, whichever way it takes', async () => {
    const ways = new Set<string>()
    for (let seed = 1; seed <= seeds / 2; seed++) {
      const text = rearranged(seed, seed % 2 === 0 ? 'session' : 'shuffled')
      const history = parseHistory(text)
      const sizes = seed % 3 === 0 ? FORGETFUL : TINY
      const { results } = await judgeOnDisk(files.write(text), SPILLED_LEVELS, {
        memoryBytes: 2 ** 20,
        scratch: null,
        sizes,
        onStep: (phase) => ways.add(phase),
      })
      for (const { level, verdict } of results) {
        if (verdict === 'unknown' && sizes === FORGETFUL) continue
        expect(verdict, `${text} at ${level}`).toBe(check(history, level).verdict)
      }
    }
    expect([...ways]).toEqual(expect.arrayContaining(['streaming', 'reading', 'matching']))
  }, 600_000)
})

/** Transactions of a small store, as Plume lines, with their sessions. */
function transactions(seed: number, count: number, isCausal: boolean) {
  const random = new Random(seed)
  const keys = isCausal ? 12 : 1 + random.below(4)
  const versions = Array.from({ length: keys }, () => [0])
  const freshness = isCausal ? 1 : random.pick([0.6, 0.9, 1])
  const told: { session: number; text: string }[] = []
  let value = 0
  for (let txn = 0; txn < count; txn++) {
    const session = random.below(4)
    const isAborted = !isCausal && random.chance(0.05)
    const written = new Map<number, number>()
    let text = ''
    for (let op = random.below(4); op >= 0; op--) {
      const key = random.below(keys)
      const known = versions[key]!
      if (random.chance(0.5)) {
        const back = random.chance(freshness) ? 0 : random.below(4)
        const seen = written.get(key) ?? known.at(-1 - Math.min(back, known.length - 1))!
        if (!isAborted) text += `r(${key},${seen},${session},${txn})\n`
      } else {
        written.set(key, ++value)
        text += `w(${key},${value},${session},${isAborted ? -1 : txn})\n`
      }
    }
    if (!isAborted) for (const [key, last] of written) versions[key]!.push(last)
    if (text !== '') told.push({ session, text })
  }
  return told
}

function laidOut(told: { session: number; text: string }[], layout: Layout, seed: number): string {
  const random = new Random(seed)
  const latest = new Map<number, number>()
  const placed = told.map((each, i) => {
    const later = Math.max(i + random.below(8), latest.get(each.session) ?? 0)
    const place = layout === 'session' ? each.session : later
    latest.set(each.session, place)
    return { ...each, place }
  })
  placed.sort((a, b) => a.place - b.place)
  return placed.map(({ text }) => text).join('')
}

function rearranged(seed: number, layout: Layout): string {
  const count = [6, 12, 60][seed % 3]!
  return laidOut(transactions(seed, count, false), layout, seed) || 'w(0,1,0,0)\n'
}

function store(seed: number, layout: Layout, count: number): string {
  return laidOut(transactions(seed, count, true), layout, seed)
}
