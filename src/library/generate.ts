// Histories made by a simulated store: of a known level, with known faults. Main function:
// generate.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { type LevelWord, readLevel, translateLevels } from '../levels/words.ts'
import type { Layout } from '../sim/layout.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import type { SqlShape } from '../workload/sql/parameters.ts'
import { expectLevel, withArgument } from './arguments.ts'
import {
  expectOptions,
  expectValue,
  FLAG,
  isObject,
  oneOf,
  SHARE,
  type Tests,
  told,
  WORD,
  whole,
} from './options.ts'

/**
 * What a history looks like, and the store that it comes from.
 *
 * @example
 * await generate({ shape: 'tpcc', transactions: 200, store: 'ser+rc', aborts: 0.1 })
 */
export interface GenerateOptions extends Partial<Omit<WorkloadParameters, 'shape'>> {
  /** What transactions do; those of tpcc, tpcc-pc, twitter and sql are SQL. */
  shape?: WorkloadParameters['shape'] | SqlShape
  /**
   * The level that the store keeps, `ser` unless told (of lwt `sser`); of SQL also two, the first
   * for transactions that matter, such as `ser+rc`, or `mixed`.
   */
  store?: LevelWord | `${LevelWord}+${LevelWord}`
  /** Faults by name, with how often each strikes; `isobar generate --help` lists them. */
  inject?: Readonly<Record<string, number>>
  /** Share of transactions that are rolled back at random; 0 unless told. */
  aborts?: number
  /** Share of transactions whose outcome stays unknown; 0 unless told. */
  indeterminates?: number
  /** What becomes of a transaction that cannot commit; `retry` unless told. */
  conflicts?: 'retry' | 'abort'
  /** Share of the sessions that may be busy at once; 1 unless told. */
  concurrency?: number
  /** The order in which transactions are told; `commit` unless told. */
  layout?: Layout
  /** SQL: whether statements also name the versions that they passed over. */
  full?: boolean
}

const MIX: Tests<GenerateOptions>['mix'] = [
  (mix) => mix === null || (Array.isArray(mix) && mix.every((share) => typeof share === 'number')),
  'a list of three shares',
]
const AIM: Tests<GenerateOptions>['aim'] = [(aim) => aim === null || WORD[0](aim), WORD[1]]
const SIZE = whole(1)
const MOST_STRIKES = 1e6 // as on the command line; each takes room before any is placed
const STRIKES: ReturnType<typeof whole> = [
  (count) => SIZE[0](count) && (count as number) <= MOST_STRIKES,
  `a whole number from 1 to ${MOST_STRIKES}`,
]
const GENERATE_OPTIONS: Tests<GenerateOptions> = {
  ...{ shape: WORD, seed: whole(0), sessions: SIZE, transactions: SIZE, ops: SIZE, reads: SHARE },
  ...{ keys: SIZE, distribution: WORD, mix: MIX, disjointWrites: FLAG, aim: AIM },
  ...{ store: WORD, inject: [isObject, 'an object such as { "lost-update": 1 }'], layout: WORD },
  ...{ aborts: SHARE, indeterminates: SHARE, conflicts: oneOf('retry', 'abort') },
  ...{ concurrency: SHARE, full: FLAG },
}

/**
 * A history, the same for the same options.
 *
 * @example
 * const history = await generate({ shape: 'mini', transactions: 1000, inject: { 'lost-update': 3 } })
 */
export async function generate(options: GenerateOptions = {}): Promise<History> {
  const given = expectOptions(options, GENERATE_OPTIONS)
  const [{ DEFAULT_SHAPE, defaultStore }, { isSqlShape, refuseForSql }] = await Promise.all([
    import('../workload/parameters.ts'),
    import('../workload/sql/parameters.ts'),
  ])
  const { shape = DEFAULT_SHAPE, store: asked, inject = {}, ...others } = given
  // A mere string: the compiler takes long to unite all pairs of level words with anything.
  const named: string | undefined = asked
  const store = named ?? defaultStore(shape)
  const { aborts, indeterminates, conflicts, concurrency, full, seed, layout, ...sizes } = others
  const schedule = told({ aborts, indeterminates, conflicts, concurrency })
  const beside = told({ seed, layout })
  if (isSqlShape(shape)) {
    refuseForSql(shape, sizes)
    const levels = withArgument('store', () =>
      translateLevels(store, (word) => readLevel(word).level),
    )
    const [{ generateSql }, { findSqlFault }] = await Promise.all([
      import('../pipeline/generate-sql.ts'),
      import('../sim/sql/faults.ts'),
    ])
    const faults = requested(inject, findSqlFault)
    const workload = { ...sizes, shape, levels }
    const made = { faults, ...schedule, ...told({ full }) }
    return generateSql({ ...beside, workload, store: made }).history
  }
  if (full) throw new UsageError(`options.full: is for SQL transactions, not for ${shape}`)
  const { level } = expectLevel(store as LevelWord, 'options.store')
  const [{ generate: run }, { findFault }] = await Promise.all([
    import('../pipeline/generate.ts'),
    import('../sim/faults.ts'),
  ])
  const faults = requested(inject, findFault)
  const workload = { ...sizes, shape }
  return run({ ...beside, workload, store: { level, faults, ...schedule } }).history
}

/** The faults of these names, with how often each strikes. */
function requested<F>(inject: Readonly<Record<string, number>>, find: (name: string) => F) {
  return Object.entries(inject).map(([name, count]) => {
    expectValue(`options.inject.${name}`, count, STRIKES)
    return { fault: find(name), count }
  })
}
