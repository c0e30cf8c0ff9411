// Watching against checking the whole: random histories in any order of arrival, windows from one
// transaction on, judged after every few lines.

import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { checkLevels } from '../../src/check/check.ts'
import { parseHistory } from '../../src/formats/formats.ts'
import { Watcher, WATCHED_LEVELS } from '../../src/watch/watcher.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'
import { nativeLines, plumeLines } from './streams.ts'

const SEEDS = Number(process.env.ISOBAR_WATCH_SEEDS ?? 1500)

function watch(lines: readonly string[], window: number, random: Random) {
  const watcher = new Watcher({ levels: WATCHED_LEVELS, window })
  const encoder = new TextEncoder()
  for (const line of lines) {
    const bytes = encoder.encode(`${line}\n`)
    const cut = random.below(bytes.length)
    watcher.push(bytes.subarray(0, cut))
    if (random.chance(0.3)) watcher.judge()
    watcher.push(bytes.subarray(cut))
    if (random.chance(0.7)) watcher.judge()
  }
  watcher.judge(true)
  return watcher
}

function whole(lines: readonly string[]) {
  try {
    return checkLevels(parseHistory(`${lines.join('\n')}\n`), WATCHED_LEVELS).map((r) => r.verdict)
  } catch (error) {
    if (error instanceof InputError) return null
    throw error
  }
}

describe('Watcher', () => {
  test('never says the opposite of check, and the same if the window holds everything', () => {
    const counts: Record<string, number> = {}
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = new Random(seed)
      const txns = 3 + random.below(10)
      const shape = shapeOf(seed, { after: 0, times: false, lists: 0, txns, initial: 0 })
      const draft = randomHistory(seed, shape)
      const lines = seed % 3 === 0 ? plumeLines(draft, random) : nativeLines(draft, random)
      if (lines === null) continue
      const expected = whole(lines)
      if (expected === null) continue
      for (const window of [1, 2, 4, 1000]) {
        const { states } = watch(lines, window, random)
        states.forEach(({ verdict }, i) => {
          const key = `${window} ${expected[i]} ${verdict}`
          counts[key] = (counts[key] ?? 0) + 1
          const wrong = window === 1000 ? verdict !== expected[i] : verdict !== 'unknown' && verdict !== expected[i]
          if (wrong) throw new Error(`seed ${seed}, window ${window}, ${states[i]!.level}: ${verdict}, but ${expected[i]}\n${lines.join('\n')}`)
        })
      }
    }
    console.log(counts)
    expect(counts['1 violated violated']).toBeGreaterThan(0)
  })
})
