// Watching against checking the whole: random histories in any order of arrival, windows from one
// transaction on, judged at any moment, with restarts at every one. ISOBAR_WATCH_SEEDS: how many.

import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { checkLevels } from '../../src/check/check.ts'
import { parseHistory } from '../../src/formats/formats.ts'
import { type Alarm, WATCHED_LEVELS, Watcher } from '../../src/watch/watcher.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'
import { nativeLines, plumeLines } from './streams.ts'

const SEEDS = Number(process.env.ISOBAR_WATCH_SEEDS ?? 120)
const ALL = 1000 // a window that holds everything

const encoder = new TextEncoder()

interface Watched {
  watcher: Watcher
  alarms: Alarm[]
}

/** Pushes lines in two pieces each, judging now and then; the same moments for the same seed. */
function watch(lines: readonly string[], window: number, seed: number, restarts = false): Watched {
  const random = new Random(seed)
  const alarms: Alarm[] = []
  let watcher = new Watcher({ levels: WATCHED_LEVELS, window })
  const step = (bytes: Uint8Array, chance: number) => {
    watcher.push(bytes)
    if (random.chance(chance)) take(watcher.judge())
    if (restarts) watcher = restarted(watcher)
  }
  const take = (alarm: Alarm | null) => {
    if (alarm) alarms.push(alarm)
  }
  for (const line of lines) {
    const bytes = encoder.encode(`${line}\n`)
    const cut = random.below(bytes.length)
    step(bytes.subarray(0, cut), 0.3)
    step(bytes.subarray(cut), 0.7)
  }
  take(watcher.judge(true))
  return { watcher, alarms }
}

/** What another process would have after reading the checkpoint. */
function restarted(watcher: Watcher): Watcher {
  const { text, ...state } = watcher.save()
  return Watcher.restore({ ...JSON.parse(JSON.stringify(state)), text })
}

function whole(lines: readonly string[]): string[] | null {
  try {
    const history = parseHistory(`${lines.join('\n')}\n`)
    return checkLevels(history, WATCHED_LEVELS).map(({ verdict }) => verdict)
  } catch (error) {
    if (error instanceof InputError) return null
    throw error
  }
}

function* streams(): Generator<{ seed: number; lines: string[]; expected: string[] }> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed)
    const txns = 3 + random.below(10)
    const shape = shapeOf(seed, { after: 0, times: false, txns, initial: 0 })
    const draft = randomHistory(seed, shape)
    const lines = seed % 3 === 0 ? plumeLines(draft, random) : nativeLines(draft, random)
    const expected = lines && whole(lines)
    if (expected) yield { seed, lines, expected }
  }
}

describe('Watcher', () => {
  test('never says the opposite of check, and the same if the window holds everything', () => {
    const counts: Record<string, number> = {}
    for (const { seed, lines, expected } of streams()) {
      for (const window of [1, 2, 4, ALL]) {
        const { watcher, alarms } = watch(lines, window, seed)
        for (const { results } of alarms) {
          for (const { certificate } of results) expect(certificate?.verified).toBe(true)
        }
        watcher.states.forEach(({ level, verdict, reason }, i) => {
          const known = `${window} ${expected[i]} ${verdict}`
          counts[known] = (counts[known] ?? 0) + 1
          expect(reason === null).toBe(verdict !== 'unknown')
          if (verdict === expected[i] || (verdict === 'unknown' && window !== ALL)) return
          const what = `seed ${seed}, window ${window}, ${level}: ${verdict}, but ${expected[i]}`
          throw new Error(`${what}\n${lines.join('\n')}`)
        })
      }
    }
    for (const window of [1, 2, 4, ALL]) {
      for (const verdict of ['satisfied', 'violated']) {
        expect(counts[`${window} ${verdict} ${verdict}`]).toBeGreaterThan(SEEDS / 8)
      }
    }
  })

  test('says the same after restarts at every point', () => {
    let settled = 0
    for (const { seed, lines } of streams()) {
      if (seed % 4 !== 0) continue
      const window = 1 + (seed % 3)
      const straight = watch(lines, window, seed).watcher
      const { watcher } = watch(lines, window, seed, true)
      expect(watcher.save()).toEqual(straight.save())
      settled += watcher.settled.txnCount
    }
    expect(settled).toBeGreaterThan(SEEDS / 4)
  })
})

/**
 * A store that commits one transaction after another; what is told arrives up to `late` too late.
 * Where it does, writes come after reads of their keys, which tell the order of versions.
 */
function serialStream(seed: number, txns: number, late: number): string[] {
  const random = new Random(seed)
  const sessions = 4
  const newest = [0, 0, 0]
  const busyUntil = new Array<number>(sessions).fill(0)
  let value = 0
  const told: { at: number; line: string }[] = []
  for (let txn = 1; txn <= txns; txn++) {
    const session = random.below(sessions)
    const ops: string[] = []
    for (let op = 0; op < 3; op++) {
      const key = random.below(newest.length)
      const isRead = random.chance(0.5)
      if (isRead || late > 0) ops.push(`["r",${key},${newest[key]}]`)
      if (!isRead) {
        newest[key] = ++value
        ops.push(`["w",${key},${value}]`)
      }
    }
    const at = Math.max(txn + random.below(late + 1), busyUntil[session]! + 0.001)
    busyUntil[session] = at
    told.push({ at, line: `{"id":${txn},"session":${session},"ops":[${ops.join(',')}]}` })
  }
  const lines = told.sort((a, b) => a.at - b.at).map(({ line }) => line)
  return ['{"isobar":1,"initial":0}', ...lines]
}

describe('Watcher within its window', () => {
  test('leaves nothing unknown where arrivals are late by less than the window', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const late = seed % 4
      const { watcher } = watch(serialStream(seed, 120, late), 8 + 4 * late, seed)
      const doubts = watcher.states.map(({ verdict, reason }) => reason ?? verdict)
      expect([seed, ...doubts]).toEqual([seed, 'satisfied', 'satisfied', 'satisfied'])
      expect(watcher.settled.txnCount).toBeGreaterThan(60)
      expect(watcher.latenessTxns).toBeLessThanOrEqual(2 * late + 4)
    }
  })

  test('finds a stale read long after the beginning, and shows it', () => {
    const lines = serialStream(7, 120, 0)
    lines.push('{"id":901,"session":1,"ops":[["w","a",900],["w","b",900]]}')
    lines.push('{"id":902,"session":2,"ops":[["w","a",901],["w","b",901]]}')
    lines.push('{"id":903,"session":3,"ops":[["r","a",900],["r","a",901],["r","b",901]]}')
    lines.push('{"id":904,"session":3,"ops":[["r","a",901],["r","b",900]]}')
    const { watcher, alarms } = watch(lines, 8, 7)
    expect(watcher.states.map(({ verdict }) => verdict)).toEqual([
      'violated',
      'violated',
      'violated',
    ])
    const names = alarms.flatMap(({ history, results }) =>
      results.flatMap(({ anomalies }) =>
        anomalies.flatMap(({ txns }) => txns.map(history.txnName)),
      ),
    )
    expect(new Set(names).has('T904')).toBe(true)
  })

  test('is unknown, with the reason, when a version that was let go is read', () => {
    const lines = serialStream(3, 120, 0)
    lines.push('{"id":901,"session":9,"ops":[["r",0,1]]}')
    const { watcher } = watch(lines, 8, 3)
    for (const { verdict, reason } of watcher.states) {
      expect(verdict).toBe('unknown')
      expect(reason).toContain('T901 (line 122) read 1 of key 0')
    }
  })
})

describe('Watcher on bad input', () => {
  const refusal = (lines: readonly string[], window = 4) => {
    try {
      watch(lines, window, 1)
      return null
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      return { code: error.code, line: error.place?.line, message: error.message }
    }
  }

  test('names the line of the input, not of the window', () => {
    const lines = serialStream(3, 60, 0)
    lines.push('{"id":61,"session":0,"ops":[["r",0]]}')
    expect(refusal(lines)).toMatchObject({ code: 'malformed', line: 62 })
  })

  test('refuses a value that stands and is written again', () => {
    const lines = ['{"session":0,"ops":[["w","only",5]]}', ...serialStream(3, 60, 0).slice(1)]
    lines.push('{"session":1,"ops":[["w","only",5]]}')
    expect(refusal(lines)).toMatchObject({ code: 'duplicate-value', line: 62 })
    expect(refusal(lines)?.message).toContain('first at line 1')
  })

  test('refuses what it cannot judge', () => {
    expect(refusal(['{"session":0,"ops":[["append","x",1]]}'])?.message).toContain('lists')
    expect(refusal(['s1: r(x,1)'])?.code).toBe('unwatchable')
  })

  test('waits for the end of a line, and says at the end that it did not come', () => {
    const watcher = new Watcher({ levels: ['rc'] })
    watcher.push(encoder.encode('{"session":0,"ops":[["w","x",1]]}\n{"session":1,"ops":[["r","x"'))
    watcher.judge()
    expect(watcher.judgedTxns).toBe(1)
    watcher.judge(true)
    expect(watcher).toMatchObject({ judgedTxns: 1, tornEnd: true })
  })
})
