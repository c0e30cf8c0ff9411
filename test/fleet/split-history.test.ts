import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { checkLevels } from '../../src/check/check.ts'
import { isLocal, splitHistory } from '../../src/fleet/split-history.ts'
import { spread } from '../../src/fleet/spread.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { LEVELS, type LevelId } from '../../src/levels/levels.ts'
import { readInput } from '../../src/library/input.ts'
import type { Outcome } from '../../src/verdict/verdict.ts'

const LOCAL = LEVELS.map(({ id }) => id).filter((level) => isLocal({ level }))

/** The lines of a few transactions on keys of their own; what they read is anything. */
function linesOf(name: string, random: Random): string[] {
  let value = 0
  const lines: string[] = []
  for (let txn = 0; txn < 5; txn++) {
    const ops = Array.from({ length: 1 + random.below(3) }, () => {
      const key = `${name}k${random.below(2)}`
      return random.below(2) === 0 ? `w(${key},${++value})` : `r(${key},${random.below(4)})`
    })
    const end = random.below(8) === 0 ? ' [aborted]' : ''
    lines.push(`${name}s${random.below(3)}: ${ops.join(' ')}${end}`)
  }
  return lines
}

/** Two writers of two lists, and who saw them in which order. */
function listsOf(name: string, random: Random): string[] {
  const [x, y] = [`${name}x`, `${name}y`]
  const seen = random.below(2) === 0 ? '1,2' : '2,1'
  return [
    `${name}a: append(${x},1) append(${y},1)`,
    `${name}b: append(${x},2) append(${y},2)`,
    `${name}c: r(${x},[1,2]) r(${y},[${seen}])`,
  ]
}

function verdictsOf(history: History): Outcome[] {
  return checkLevels(
    history,
    LOCAL.map((level) => ({ level })),
    {},
  ).map(({ verdict }) => verdict)
}

/** What the verdicts on parts say of the whole. */
function combine(verdicts: readonly Outcome[]): Outcome {
  if (verdicts.includes('violated')) return 'violated'
  return verdicts.includes('unknown') ? 'unknown' : 'satisfied'
}

describe('splitHistory', () => {
  it('makes parts that satisfy what the whole does, at every level without real time', async () => {
    const seen = new Map<LevelId, Set<Outcome>>(LOCAL.map((level) => [level, new Set()]))
    let splits = 0
    for (let seed = 1; seed <= 90; seed++) {
      const random = new Random(seed)
      const groups = Array.from({ length: 1 + random.below(3) }, (_, i) =>
        (random.below(5) === 0 ? listsOf : linesOf)(`g${i}`, random),
      )
      const text = random.shuffle(groups.flat()).join('\n')
      const whole = verdictsOf(parseNotation(text))
      const pieces = await spread(Buffer.from(text), ['si'], ['parts'])
      if (pieces.length > 1) splits++
      const parts: Outcome[][] = []
      for (const { bytes } of pieces) parts.push(verdictsOf(await readInput(bytes)))
      for (const [i, level] of LOCAL.entries()) {
        expect([text, level, combine(parts.map((part) => part[i]!))]).toEqual([
          ...[text, level, whole[i]],
        ])
        seen.get(level)!.add(whole[i]!)
      }
    }
    expect(splits).toBeGreaterThan(40)
    // Otherwise nothing was compared.
    for (const [level, outcomes] of seen) {
      expect([level, [...outcomes].sort()]).toEqual([level, ['satisfied', 'violated']])
    }
  }, 60_000)

  it('joins by keys, by sessions and by who read from whom, and not by the initial state', () => {
    const count = (text: string) => splitHistory(parseNotation(text)).length
    expect(count('a: w(x,1)\nb: w(y,1)')).toBe(2)
    expect(count('a: w(x,1)\na: w(y,1)')).toBe(1)
    expect(count('a: w(x,1)\nb: r(x,1)')).toBe(1)
    expect(count('a: w(x,1)\nb: r(x,0)\nb: w(y,1)\nc: r(y,0)')).toBe(1)
    expect(count('a: w(x,1) [aborted]\nb: r(x,1)')).toBe(1)
    expect(count('i: w(x,0) w(y,0)\na: r(x,0) w(x,1)\nb: r(y,0) w(y,1)')).toBe(2)
  })

  it('puts many small ones together', () => {
    const lines = Array.from({ length: 500 }, (_, i) => `s${i}: w(k${i},1) r(k${i},1)`)
    const parts = splitHistory(parseNotation(lines.join('\n')))
    expect(parts.length).toBe(64)
    expect(parts.reduce((sum, { txnCount }) => sum + txnCount, 0)).toBe(500)
  })
})

describe('spread', () => {
  const text = Buffer.from(
    'a: w(x,1) [start=1 finish=2]\nb: w(y,1) [start=3 finish=4]\nc: r(z,0) [start=3 finish=4]',
  )
  const told = async (levels: string[], split: ('levels' | 'parts')[]) =>
    (await spread(text, levels, split)).map(({ levels: own, part, bytes }) => [
      ...[own.join(), part?.number ?? null, part?.of ?? null, bytes === text],
    ])

  it('leaves a history whole at levels that real time is part of', async () => {
    expect(await told(['si', 'sser', 'ser'], ['parts'])).toEqual([
      ['sser', null, null, true],
      ['si,ser', 1, 3, false],
      ['si,ser', 2, 3, false],
      ['si,ser', 3, 3, false],
    ])
    expect(await told(['sser', 'lin'], ['parts'])).toEqual([['sser,lin', null, null, true]])
  })

  it('leaves it whole at words that only a database can explain', async () => {
    expect(await told(['repeatable-read', 'si'], ['parts'])).toEqual([
      ['repeatable-read', null, null, true],
      ['si', 1, 3, false],
      ['si', 2, 3, false],
      ['si', 3, 3, false],
    ])
  })

  it('makes a job of each level, of the same bytes', async () => {
    expect(await told(['si', 'ser'], ['levels'])).toEqual([
      ['si', null, null, true],
      ['ser', null, null, true],
    ])
    expect(await told(['si', 'ser'], [])).toEqual([['si,ser', null, null, true]])
    expect((await told(['si', 'ser'], ['levels', 'parts'])).length).toBe(6)
  })
})
