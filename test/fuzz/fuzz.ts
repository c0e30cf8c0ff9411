// The fuzzer: runs every property with fresh seeds for a given time, and says how to replay what
// fails: npm run fuzz -- --seconds 60 [--seed S] [--only NAME] [--count N]

import { setImmediate } from 'node:timers/promises'
import { nowMs } from '../../src/base/deadline.ts'
import { Random } from '../../src/base/random.ts'
import { PROPERTIES } from './properties.ts'
import { type Judge, judgeAll, type Property } from './property.ts'
import { PROXY, RECORDING } from './recording.ts'
import { REDUCTION } from './reduction.ts'

export interface FuzzOptions {
  /** Of the first run; every run has its own. */
  readonly seed: number
  readonly seconds: number
  /** Runs of each property at most. */
  readonly count: number
  readonly properties: readonly Property[]
  readonly judge?: Judge
  /** Ends it before the next round; what was run until then is told. */
  readonly signal?: AbortSignal
}

export interface FuzzReport {
  /** Runs of each property. */
  readonly runs: ReadonlyMap<string, number>
  /** The first failure, with the way to see it again. */
  readonly failure: string | null
}

/** Runs the properties in turn until the time or the count is used up, or one fails. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { seed, seconds, count, properties, judge, signal } = options
  const runs = new Map(properties.map(({ name }) => [name, 0]))
  const endMs = nowMs() + seconds * 1000
  const seeds = new Random(seed)
  for (let round = 0, next = seed; round < count && nowMs() < endMs; round++) {
    await setImmediate() // signals come in between
    if (signal?.aborted) break
    for (const { name, run } of properties) {
      const failure = await attempt(() => run(next, judge ?? judgeAll))
      runs.set(name, runs.get(name)! + 1)
      if (failure !== null) {
        const replay = `npm run fuzz -- --only ${name} --seed ${next} --count 1`
        return { runs, failure: `${name}, seed ${next}: ${failure}\nreplay: ${replay}` }
      }
    }
    next = seeds.uint32()
  }
  return { runs, failure: null }
}

/** A crash is a failure too. */
async function attempt(run: () => ReturnType<Property['run']>): Promise<string | null> {
  try {
    return await run()
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

function optionsFrom(argv: readonly string[]): FuzzOptions {
  const flags = new Map<string, string>()
  for (let i = 0; i < argv.length; i += 2) flags.set(argv[i]!, argv[i + 1] ?? '')
  const number = (flag: string, otherwise: number) => {
    const value = Number(flags.get(flag) ?? otherwise)
    flags.delete(flag)
    if (!(value >= 0)) throw new Error(`${flag} takes a number`)
    return value
  }
  const count = number('--count', Number.POSITIVE_INFINITY)
  const seconds = number('--seconds', count === Number.POSITIVE_INFINITY ? 60 : 1e9)
  const seed = number('--seed', Date.now() % 2 ** 32)
  const only = flags.get('--only')
  flags.delete('--only')
  const properties = only === undefined ? PROPERTIES : ALL.filter(({ name }) => name === only)
  const names = ALL.map(({ name }) => name).join(', ')
  if (properties.length === 0) throw new Error(`--only takes one of ${names}`)
  const [unknown] = flags.keys()
  if (unknown !== undefined) throw new Error(`there is no ${unknown}`)
  return { seed, seconds, count, properties }
}

/** Those too that take a server. */
const ALL = [...PROPERTIES, RECORDING, PROXY, REDUCTION]

const HELP = `npm run fuzz -- [--seconds 60] [--seed S] [--only NAME] [--count N]

  --seconds  how long to go on
  --seed     of the first run; the others follow from it
  --only     one property: ${ALL.map(({ name }) => name).join(', ')}
  --count    how many runs, instead of --seconds
`

if (process.argv[1]?.endsWith('fuzz.ts') && process.argv.includes('--help')) {
  process.stdout.write(HELP)
} else if (process.argv[1]?.endsWith('fuzz.ts')) {
  const options = optionsFrom(process.argv.slice(2))
  process.stdout.write(`seed ${options.seed}\n`)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const { runs, failure } = await fuzz({ ...options, signal: stop.signal })
  for (const { close } of options.properties) await close?.()
  for (const { name, told } of options.properties) {
    const figures = told ? `, ${told()}` : ''
    process.stdout.write(`${name.padEnd(18)} ${runs.get(name)} runs${figures}\n`)
  }
  if (failure !== null) process.stdout.write(`\nFAILED: ${failure}\n`)
  process.exitCode = failure === null ? 0 : 1
}
