import { afterAll, describe, expect, it } from 'vitest'
import { BudgetExceeded } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { check } from '../../../src/check/check.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import {
  judgeOnDisk,
  type OnDiskOptions,
} from '../../../src/pipeline/beyond-memory/judge-on-disk.ts'
import { SPILLED_LEVELS } from '../../../src/pipeline/beyond-memory/levels.ts'
import type { SpillSizes } from '../../../src/spill/spilled-history.ts'
import { certifyPlain } from '../../../src/verdict/certify-plain.ts'
import { countHistory } from '../../../src/verdict/count-history.ts'
import { type CompareOptions, draftsFor, SAMPLED } from '../../small/compare.ts'
import { Files, TINY, tell } from './told.ts'

const files = new Files()
afterAll(() => files.remove())

const judge = (
  path: ReturnType<Files['native']>,
  sizes: SpillSizes = TINY,
  more: Partial<OnDiskOptions> = {},
) =>
  judgeOnDisk(path, SPILLED_LEVELS, {
    memoryBytes: 2 ** 20,
    scratch: files.directory,
    sizes,
    prove: true,
    stream: false, // what can be judged as it stands is another test's matter
    ...more,
  })

/** Verdicts on disk and in memory; every one that is satisfied or violated was certified. */
async function compare(options: CompareOptions) {
  const seen = { satisfied: 0, violated: 0, unknown: 0, all: 0 }
  let seed = 0
  for (const { draft, source } of draftsFor(options)) {
    seed++
    const history = tell(draft, seed)
    if (history === null) continue // bad input, which is another test's matter
    const stream = seed % 2 === 0
    const judged = judge(files.native(history), TINY, { stream }).catch((cause: unknown) => {
      throw new Error(source, { cause })
    })
    const { results, counts } = await judged
    const expected = SPILLED_LEVELS.map((level) => check(history, level).verdict)
    // At ser and si it may be unknown, which is counted.
    for (const [i, { level, verdict, certificate }] of results.entries()) {
      const isOpen = verdict === 'unknown' && (level === 'ser' || level === 'si')
      if (!isOpen) expect(verdict, `${source} at ${level}`).toBe(expected[i])
      if (!isOpen) expect(certificate?.verified).toBe(true)
    }
    for (const result of results) {
      if (result.verdict !== 'satisfied') continue
      expect(result.proof).not.toBeNull()
      expect(certifyPlain(history, result).problems, source).toEqual([])
    }
    expect(counts, source).toEqual(countHistory(history))
    for (const { verdict } of results) seen[verdict]++
    seen.all += results.length
  }
  expect(seen.unknown / seen.all, 'unknown is rare').toBeLessThan(0.01)
  return seen
}

describe('judgeOnDisk', () => {
  it(
    'agrees with the engine in memory on small histories',
    async () => {
      const seen = await compare({ stride: SAMPLED === 1 ? 1 : SAMPLED * 71 })
      expect(Math.min(seen.satisfied, seen.violated)).toBeGreaterThan(20)
    },
    SAMPLED === 1 ? 8 * 3600_000 : 600_000,
  )

  it('agrees with it on random ones, indeterminate, aborted and unsound reads among them', async () => {
    const seen = await compare({
      families: [],
      seeds: SAMPLED === 1 ? 4000 : 80,
      shape: { after: 0 },
    })
    expect(Math.min(seen.satisfied, seen.violated)).toBeGreaterThan(20)
  }, 600_000)

  it('judges files as they stand where that is enough, and cuts up the others', async () => {
    const text = 'w(1,1,0,1)\nr(1,1,1,2)\nw(1,2,1,2)\nr(1,2,0,3)\n'
    const broken = `${text}r(1,2,2,4)\nr(1,1,2,4)\n`
    for (const told of [text, broken]) {
      const phases = new Set<string>()
      const onStep = (phase: string) => phases.add(phase)
      const { results, counts } = await judge(files.write(told), TINY, { stream: true, onStep })
      expect(phases.has('streaming')).toBe(true)
      expect(phases.has('matching')).toBe(told === broken)
      expect(results.map(({ level, verdict }) => [level, verdict])).toEqual(
        SPILLED_LEVELS.map((level) => [level, check(parseHistory(told), level).verdict]),
      )
      expect(counts).toMatchObject({ transactions: told === text ? 3 : 4, keys: 1 })
    }
  })

  it('agrees with it on longer ones whose orders take several rounds', async () => {
    const shape = { after: 0, txns: 24, sessions: 4, maxOps: 4, keys: 3, wild: 0, thinAir: 0 }
    const sights = ['prefix', 'causal', 'any'] as const
    for (const sight of sights) {
      const seen = await compare({
        families: [],
        seeds: SAMPLED === 1 ? 1000 : 16,
        firstSeed: 900,
        shape: { ...shape, sight, freshness: 0.9 },
      })
      expect(seen.satisfied + seen.violated).toBeGreaterThan(20)
    }
  }, 600_000)

  it('reads Plume text whose transactions go on from one piece to the next', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const text = plumeText(seed)
      const history = parseHistory(text)
      const { results, counts } = await judge(files.write(text), { ...TINY, pieceBytes: 60 })
      expect(results.map(({ verdict }) => verdict)).toEqual(
        SPILLED_LEVELS.map((level) => check(history, level).verdict),
      )
      expect(counts).toMatchObject({
        transactions: history.txnCount,
        operations: history.opCount,
        keys: history.keyCount,
        aborted: history.txnStatus.filter((status) => status === 1).length,
      })
    }
  })

  it.each([
    ['aborted lines around one transaction', 'w(1,3,0,-1)\nw(1,1,0,1)\nw(1,4,0,-1)\n'],
    ['aborted lines, all of them reads', 'r(1,0,0,-1)\nw(1,1,0,1)\nr(1,0,0,-1)\n'],
    ['empty lines', `w(1,1,0,1)\n${'\n'.repeat(100)}`],
  ])('numbers transactions as in memory, wherever a file is cut: %s', async (_, begin) => {
    const last = 'w(1,5,0,-1)\nw(1,6,1,2)\nr(1,6,0,3)\nr(2,0,0,3)\n'
    const text = `${begin}w(2,2,0,1)\n${last}`
    const history = parseHistory(text)
    for (const stream of [true, false]) {
      for (const pieceBytes of [36, 41, 47, 53, 60, 4096]) {
        const file = files.write(text)
        const { results, counts } = await judge(file, { ...TINY, pieceBytes }, { stream })
        expect(counts.transactions, `${pieceBytes}`).toBe(history.txnCount)
        for (const result of results) {
          expect(result.verdict).toBe(check(history, result.level).verdict)
          if (result.verdict !== 'satisfied') continue
          expect(certifyPlain(history, result).problems, `${pieceBytes}`).toEqual([])
        }
        const { results: rc } = await judgeOnDisk(file, ['rc', 'ra'], {
          memoryBytes: 2 ** 20,
          scratch: files.directory,
          sizes: { ...TINY, pieceBytes },
        })
        expect(rc.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
      }
    }
  })

  it('shows a violation by the names and places that it has in the file', async () => {
    const others = Array.from({ length: 40 }, (_, i) => `w(9,${i + 1},7,${i + 100})\n`).join('')
    const text = `${others}w(1,1,0,1)\nr(1,1,1,2)\nw(1,2,1,2)\nw(2,2,1,2)\n${others.replaceAll(
      /w\(9,(\d+),7,(\d+)\)/g,
      (_, value, txn) => `w(8,${value},6,${Number(txn) + 100})`,
    )}r(2,2,2,3)\nr(1,1,2,3)\n`
    const { results, part } = await judge(files.write(text))
    const rc = results[SPILLED_LEVELS.indexOf('rc')]!
    expect(rc.verdict).toBe('violated')
    expect(rc.anomalies[0]!.txns.map((txn) => part.history.txnName(txn)).sort()).toEqual([
      'T1',
      'T2',
      'T3',
    ])
    const [read] = rc.anomalies[0]!.edges.flatMap(({ ops }) => ops).filter((op) => {
      return part.history.txnName(part.history.opTxn[op]!) === 'T3'
    })
    expect(part.history.placeOf(read!)?.line).toBeGreaterThan(80)
  })

  it('tells keys and values apart whatever they are', async () => {
    const big = '18446744073709551615'
    const lines = [
      `{"session":"a","ops":[["w","1",${big}],["w",1,-1],["w","é",""]]}`,
      `{"session":"b","ops":[["r","1",${big}],["r",1,-1],["r","é",""]]}`,
      '{"session":"b","ops":[["r","1",-1]]}',
    ]
    const sound = await judge(files.write(`${lines.slice(0, 2).join('\n')}\n`))
    expect(sound.results.map(({ verdict }) => verdict)).toEqual(
      SPILLED_LEVELS.map(() => 'satisfied'),
    )
    const broken = await judge(files.write(`${lines.join('\n')}\n`))
    expect(broken.results[0]!.anomalies.map(({ name }) => name)).toEqual(['ThinAirRead'])
  })

  it('takes a byte order mark for a character of the text that it begins', async () => {
    const text = `{"isobar":1,"initial":null}
{"id":"a","session":1,"ops":[["w","x","\ufeffv"]]}
{"id":"b","session":2,"ops":[["r","x","v"]]}
`
    const { results } = await judge(files.write(text))
    expect(results[0]!.anomalies.map(({ name }) => name)).toEqual(['ThinAirRead'])
  })

  it.each([
    `${'w(1,1,0,1)\n\n'}${manyTxns(20)}\n \nw(2,1,0\n`,
    `${manyLines(20).replaceAll('\n', '\n\n')}{"session":1,"ops":[["w","x"]]}\n`,
  ])('tells the line of an error wherever it is cut', async (text) => {
    const placeOf = (error: unknown) => (error as { place?: object }).place
    const expected = attempt(() => parseHistory(text))
    expect(placeOf(expected)).toMatchObject({ line: text.split('\n').length - 1 })
    for (const pieceBytes of [32, 100, 4096]) {
      const error = await judge(files.write(text), { ...TINY, pieceBytes }).catch((e: unknown) => e)
      expect(placeOf(error)).toEqual(placeOf(expected))
    }
  })

  it('says what is wrong with a file that cannot be read', async () => {
    const file = { ...files.write('w(1,1,0,1)\n'), path: files.directory }
    await expect(judge(file)).rejects.toThrow('this is a directory')
  })

  it('learns how pending transactions ended', async () => {
    const pending = (id: number, ops: string) => `{"pending":${id},"session":${id},"ops":${ops}}\n`
    const wait = pending(7, '[["w","z",1]]')
    const text = `${pending(1, '[["w","x",1]]')}${wait}{"outcome":1,"status":"aborted"}\n`
    const read = '{"session":3,"ops":[["r","x",1]]}\n'
    const { results, counts } = await judge(files.write(text + read), { ...TINY, pieceBytes: 50 })
    expect(counts).toMatchObject({ aborted: 1, indeterminate: 1, committed: 1 })
    expect(results[0]!.anomalies.map(({ name }) => name)).toEqual(['AbortedRead'])
    await expect(judge(files.write(`${wait}{"outcome":8,"status":"aborted"}\n`))).rejects.toThrow(
      'not pending',
    )
  })

  it.each([
    ['w(1,5,0,1)\nw(2,1,0,2)\nw(2,2,0,3)\nw(1,5,1,4)\n', 'value 5 of key 1 is written twice'],
    ['w(1,5,0,1)\nw(2,1,0,2)\nw(1,0,1,4)\n', 'written twice'],
    ['w(1,5,0,1)\nw(2,1,0,2)\nw(2,1\n', 'expected ","'],
  ])('refuses what is refused in memory: %j', async (text, message) => {
    expect(() => parseHistory(text)).toThrow(message)
    await expect(judge(files.write(text), { ...TINY, pieceBytes: 16 })).rejects.toThrow(message)
  })

  it.each([
    'w(1,0,0,0)\nw(1,5,1,1)\nr(1,5,0,0)\nr(1,5,2,3)\n',
    'w(1,0,0,0)\nw(1,5,1,1)\nw(2,7,0,0)\nr(2,7,2,3)\n',
  ])('sees that what wrote initial values goes on with others: %j', async (text) => {
    expect(() => parseHistory(text)).toThrow('written twice')
    const judged = judge(files.write(text), { ...TINY, pieceBytes: 24 })
    await expect(judged).rejects.toThrow('value 0 of key 1 is written twice')
  })

  it('refuses an outcome that comes before its pending line, wherever it is cut', async () => {
    const text =
      '{"outcome":1,"status":"committed"}\n{"pending":1,"session":1,"ops":[["w","x",1]]}\n'
    expect(() => parseHistory(text)).toThrow('not pending')
    for (const pieceBytes of [32, 1024]) {
      await expect(judge(files.write(text), { ...TINY, pieceBytes })).rejects.toThrow('not pending')
    }
  })

  it.each([
    // 0 is a time like any other
    [txnLine(1, { start: 0 }) + txnLine(2, { start: -1 }), 'starts at -1'],
    // pending transactions that ended in another piece than they began
    [pendingLine(1, 5) + outcomeLine(1, 3), 'ended at 3, before it started'],
    [
      pendingLine(1, 5) + txnLine(2, { start: 6 }) + outcomeLine(1, 7),
      'ended at 7, after the next',
    ],
    [
      pendingLine(1, 5) + outcomeLine(1, 7) + txnLine(2, { start: 6 }),
      'ended at 7, after the next',
    ],
  ])('refuses times that are impossible, wherever it is cut: %j', async (text, message) => {
    expect(() => parseHistory(text)).toThrow(/starts/)
    const judged = judge(files.write(text), { ...TINY, pieceBytes: 32 })
    await expect(judged).rejects.toThrow(message)
    await expect(judge(files.write(text), { ...TINY, pieceBytes: 1024 })).rejects.toThrow('starts')
  })

  it('takes times that are possible', async () => {
    const text =
      txnLine(0, { start: -3, finish: 0 }) +
      pendingLine(1, 0) +
      outcomeLine(1, 7) +
      pendingLine(2, 7) +
      txnLine(3, { start: 9 }) +
      outcomeLine(2, 8)
    parseHistory(text)
    for (const pieceBytes of [32, 1024]) {
      const { results } = await judge(files.write(text), { ...TINY, pieceBytes })
      expect(results[0]!.verdict).toBe('satisfied')
    }
  })

  it('refuses initial values of a transaction that starts after another one finished', async () => {
    const other = (id: number, finish: number, key: string) =>
      `{"id":${id},"session":${id},"start":-9,"finish":${finish},"ops":[["w","${key}",1]]}\n`
    const initial = '{"isobar":1,"initial":0}\n{"session":1,"start":-5,"ops":[["w","x",0]]}\n'
    for (const pieceBytes of [64, 1024]) {
      const sizes = { ...TINY, pieceBytes }
      const late = initial + other(3, -4, 'y') + other(2, -8, 'x')
      expect(() => parseHistory(late)).toThrow('written twice')
      await expect(judge(files.write(late), sizes)).rejects.toThrow('written twice')
      const sound = initial + other(3, -4, 'y') + other(2, -5, 'x')
      expect((await judge(files.write(sound), sizes)).results[0]!.verdict).toBe('satisfied')
      const open = '{"pending":4,"session":4,"start":-9,"ops":[]}\n'
      const ended = `${initial}${open}{"outcome":4,"status":"committed","finish":-6}\n`
      expect(() => parseHistory(ended)).toThrow('written twice')
      await expect(judge(files.write(ended), sizes)).rejects.toThrow('written twice')
    }
  })

  it('answers unknown when the time runs out, whatever it is doing', async () => {
    const text = shuffledText(40)
    const phases = new Map<string, number>()
    const { results } = await judge(files.write(text), TINY, {
      onStep: (phase) => phases.set(phase, (phases.get(phase) ?? 0) + 1),
    })
    expect(results.map(({ verdict }) => verdict)).toEqual(SPILLED_LEVELS.map(() => 'satisfied'))
    expect(phases.get('ordering')).toBe(40)
    for (const last of ['matching', 'comparing', 'ordering', 'verifying']) {
      let count = 0
      const onStep = (phase: string) => {
        if (phase === last && ++count >= phases.get(last)!) throw new BudgetExceeded('enough')
      }
      const given = await judge(files.write(text), TINY, { onStep })
      expect(given.results[0], last).toMatchObject({ verdict: 'unknown', reason: 'enough' })
    }
  })

  it('answers unknown where it cannot be told who counts', async () => {
    const text = `${manyLines(2000)}{"session":1,"status":"indeterminate","ops":[["w","y",1]]}\n`
    const { results } = await judge(files.write(text), { ...TINY, bucketBytes: 4096 })
    for (const { verdict, reason } of results) {
      expect([verdict, reason]).toEqual(['unknown', expect.stringContaining('does not fit')])
    }
  })

  it.each([
    ['{"session":0,"ops":[["append","x",1]]}\n', 'more than reads and writes'],
    ['{"session":0,"id":1,"ops":[]}\n{"session":1,"after":[1],"ops":[]}\n', 'after'],
    [`w(1,1,0,1)\n${'w(2,1,1,2)\n'.repeat(0)}${manyTxns(5000)}w(3,1,0,1)\n`, 'far apart'],
    ['{"session":0,"ops":[["w","x",1,{"version":3}]]}', 'versions'],
    ['{"isobar":1,"initial":false}\n{"session":0,"ops":[["insert","x",1]]}', 'found nothing'],
    ['{"isobar":1,"initial":false}\n{"session":0,"ops":[["cas","x",null,1]]}', 'found nothing'],
    [
      '{"pending":"a","session":0,"ops":[["w","x",1]]}\n{"session":1,"ops":[["r","x",1]]}\n{"outcome":"a","status":"committed","version":3}',
      'versions',
    ],
  ])('says what it cannot judge', async (text, why) => {
    await expect(judge(files.write(text), { ...TINY, pieceBytes: 1 << 12 })).rejects.toThrow(why)
  })

  it.each([true, false])('takes a cas as the read and the write that it is', async (stream) => {
    for (const initial of ['null', 'false']) {
      const ops = initial === 'null' ? '["insert","x",1],["cas","y",null,2]' : '["w","x",1]'
      const text = `{"isobar":1,"initial":${initial}}
{"session":0,"ops":[${ops}]}
{"session":1,"ops":[["cas","x",1,3],["insert","x",4,3]]}
{"session":2,"ops":[["r","x",1]]}
`
      for (const told of [text, text.replace('"cas","x",1', '"cas","x",9')]) {
        const { results } = await judge(files.write(told), TINY, { stream })
        expect(results.map(({ verdict }) => verdict)).toEqual(
          SPILLED_LEVELS.map((level) => check(parseHistory(told), level).verdict),
        )
        expect(results[0]!.verdict).toBe(told === text ? 'satisfied' : 'violated')
      }
    }
  })

  it('answers unknown where the memory is too small', async () => {
    const shape = { after: 0, txns: 24, sessions: 4, maxOps: 4, keys: 3, wild: 0, thinAir: 0 }
    let count = 0
    for (const { draft } of draftsFor({ families: [], seeds: 60, shape })) {
      const history = tell(draft, 1)
      if (history === null) continue
      const { results } = await judge(files.native(history), { ...TINY, windowBytes: 8 })
      for (const { verdict, reason } of results) {
        if (verdict !== 'unknown') continue
        expect(reason).toMatch(/memory|verified/)
        count++
      }
    }
    expect(count).toBeGreaterThan(5)
  })

  it('answers unknown at ser where the records of stretches do not fit', async () => {
    const file = files.write(shuffledText(100))
    const fits = await judge(file, TINY)
    expect(fits.results[0]!.verdict).toBe('satisfied')
    const { results } = await judge(file, { ...TINY, buckets: 1, windowBytes: 8192 })
    const [ser] = results
    expect([ser!.level, ser!.verdict]).toEqual(['ser', 'unknown'])
    expect(ser!.reason).toMatch(/stretches of the order did does not fit/)
  })

  it('answers unknown where what was done to one key does not fit', async () => {
    const path = files.write(manyTxns(2000))
    for (const { verdict, reason } of (await judge(path, { ...TINY, bucketBytes: 4096 })).results) {
      expect([verdict, reason]).toEqual(['unknown', expect.stringContaining('does not fit')])
    }
    expect((await judge(path, TINY)).results[0]!.verdict).toBe('satisfied')
  })
})

function attempt(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    return error
  }
}

function txnLine(id: number, times: { start?: number; finish?: number }): string {
  return `${JSON.stringify({ id, session: 1, ...times, ops: [['w', 'x', id + 1]] })}\n`
}

function pendingLine(id: number, start: number): string {
  return `{"pending":${id},"session":1,"start":${start},"ops":[["w","x",${id + 1}]]}\n`
}

function outcomeLine(id: number, finish: number): string {
  return `{"outcome":${id},"status":"committed","finish":${finish}}\n`
}

function manyLines(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `{"session":1,"ops":[["w","x",${i + 1}]]}`)
  return `${lines.join('\n')}\n`
}

/** So many pairs of writers, side by side, that readers saw in another order than the file's. */
function shuffledText(pairs: number): string {
  let text = ''
  for (let pair = 0; pair < pairs; pair++) {
    const [x, y, txn] = [2 * pair, 2 * pair + 1, 3 * pair]
    text += `w(${x},1,0,${txn})\nw(${x},2,1,${txn + 1})\nw(${y},1,1,${txn + 1})\n`
    text += `r(${y},1,2,${txn + 2})\nr(${x},1,2,${txn + 2})\n`
  }
  return text
}

function manyTxns(count: number): string {
  return Array.from({ length: count }, (_, i) => `w(9,${i + 1},7,${i + 100})\n`).join('')
}

/** Transactions of several lines each, some aborted, some stale. */
function plumeText(seed: number): string {
  const random = new Random(seed)
  const versions = new Map<number, number[]>()
  let text = ''
  for (let txn = 0; txn < 40; txn++) {
    const session = random.below(4)
    const aborted = random.chance(0.1)
    for (let op = 0; op < 3; op++) {
      const key = 3 * random.below(3) + op
      const written = versions.get(key) ?? [0]
      if (!aborted && random.chance(0.5)) {
        const value = random.chance(0.9) ? written.at(-1)! : random.pick(written)
        text += `r(${key},${value},${session},${txn})\n`
      } else {
        const value = txn * 10 + op + 1
        text += `w(${key},${value},${session},${aborted ? -1 : txn})\n`
        if (!aborted) versions.set(key, [...written, value])
      }
    }
  }
  return text
}

describe('judgeOnDisk, counting', () => {
  it('counts keys that only aborted transactions read', async () => {
    const aborted = '{"session":1,"status":"aborted","ops":[["r","z",0]]}'
    const native = `{"isobar":1,"initial":0}\n{"session":0,"ops":[["w","x",1]]}\n${aborted}\n`
    const plume = 'w(1,1,1,1)\nr(2,0,1,-1)\nr(3,0,1,-1)\nr(1,1,2,2)\nr(3,0,2,3)\n'
    for (const text of [native, plume, plume.replace('r(1,1,2,2)', 'w(4,1,3,-1)')]) {
      const { counts, results } = await judge(files.write(text))
      expect(counts, text).toEqual(countHistory(parseHistory(text)))
      for (const { verdict } of results) expect(verdict).toBe('satisfied')
    }
  })
})
