// Histories made by a simulated store: of a known level, with known faults.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import type { LevelWord } from '../levels/words.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import { expectLevel } from './arguments.ts'

export interface GenerateOptions extends Partial<WorkloadParameters> {
  /** The level that the store keeps; ser unless told. */
  store?: LevelWord
  /** Faults by name, with how often each strikes; `isobar generate --help` lists them. */
  inject?: Readonly<Record<string, number>>
}

/**
 * A history, the same for the same options.
 *
 * @example
 * const history = await generate({ shape: 'mini', transactions: 1000, inject: { 'lost-update': 3 } })
 */
export async function generate(options: GenerateOptions = {}): Promise<History> {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('options: an object was expected', "such as { shape: 'mini' }")
  }
  const [{ generate: run }, { findFault }, { DEFAULT_SHAPE }] = await Promise.all([
    import('../pipeline/generate.ts'),
    import('../sim/faults.ts'),
    import('../workload/parameters.ts'),
  ])
  const { store = 'ser', inject = {}, seed = 1, shape = DEFAULT_SHAPE, ...sizes } = options
  expectWhole('seed', seed, 0)
  const faults = Object.entries(inject).map(([name, count]) => {
    expectWhole(`inject.${name}`, count, 1)
    return { fault: findFault(name), count }
  })
  return run({
    seed,
    workload: { ...sizes, shape },
    store: { level: expectLevel(store, 'store').level, faults },
  }).history
}

function expectWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  const message = `options.${name}: a whole number from ${least} on was expected`
  throw new UsageError(`${message}, not ${String(value)}`)
}
