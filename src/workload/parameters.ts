// What a workload is asked to look like, and what it is unless it is told: the same for runs and
// for generated histories. Defaults of the general shape are those of PolySI's and Plume's
// generator: 25 sessions of 200 transactions of 20 operations, half of them reads, on 10,000 keys.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { LevelId } from '../levels/levels.ts'
import { type AimName, findAim } from './aims.ts'
import { DISTRIBUTIONS, type Distribution } from './distributions.ts'

/** Applications, whose transactions are given: of the parameters they take sizes and the seed. */
export const APPLICATION_SHAPES = ['tpcc-kv', 'twitter-kv', 'rubis'] as const
export type ApplicationShape = (typeof APPLICATION_SHAPES)[number]

export const SHAPES = [
  'churn',
  'mini',
  'general',
  'append',
  'lwt',
  'aimed',
  ...APPLICATION_SHAPES,
] as const
/** What the transactions of a workload do. */
export type Shape = (typeof SHAPES)[number]

export function isApplicationShape(shape: string): shape is ApplicationShape {
  return (APPLICATION_SHAPES as readonly string[]).includes(shape)
}

/** What commands and the library take if no shape is named: it finds most (`bench/strength.ts`). */
export const DEFAULT_SHAPE: Shape = 'churn'

/** The level that a store keeps unless told: lightweight transactions are promised in real time. */
export function defaultStore(shape: string): LevelId {
  return shape === 'lwt' ? 'sser' : 'ser'
}

/** Shares of read-only, write-only and read-modify-write transactions; any positive scale. */
export type Mix = readonly [readOnly: number, writeOnly: number, readModifyWrite: number]

/** What a workload is asked to look like. */
export interface WorkloadParameters {
  /** What transactions do; `churn` unless told, since it finds most. */
  readonly shape: Shape
  /** Where all choices come from; 1 unless told. */
  readonly seed: number
  /** Sessions that run at the same time; 25 unless told, of SQL 10. */
  readonly sessions: number
  /** Transactions in all, dealt to the sessions in turn. */
  readonly transactions: number
  /** Operations of a transaction; of churn, at most; the others have their own. */
  readonly ops: number
  /** Share of reads among the operations, 0 … 1. */
  readonly reads: number
  /**
   * Keys in all; for append and churn, keys in use at one time; of tpcc-kv, customers of a
   * district; of twitter-kv, users; of rubis, items.
   */
  readonly keys: number
  /** How keys are chosen. */
  readonly distribution: Distribution
  /** Cobra's three kinds of transactions instead of `reads`; general shape only. */
  readonly mix: Mix | null
  /** Each key is written by one session only. */
  readonly disjointWrites: boolean
  /** The anomaly that transactions of the shape `aimed` are made for; null of others. */
  readonly aim: AimName | null
}

const GENERAL: WorkloadParameters = {
  shape: 'general',
  seed: 1,
  sessions: 25,
  transactions: 5000,
  ops: 20,
  reads: 0.5,
  keys: 10_000,
  distribution: 'uniform',
  mix: null,
  disjointWrites: false,
  aim: null,
}

const DEFAULTS: Record<Shape, WorkloadParameters> = {
  general: GENERAL,
  // Few enough keys that conflicts are common.
  mini: { ...GENERAL, shape: 'mini', ops: 4, keys: 100, distribution: 'exponential' },
  append: { ...GENERAL, shape: 'append', ops: 4, keys: 10, distribution: 'exponential' },
  churn: { ...GENERAL, shape: 'churn', ops: 8, keys: 40 },
  lwt: { ...GENERAL, shape: 'lwt', ops: 1, keys: 10 },
  aimed: { ...GENERAL, shape: 'aimed', ops: 4, aim: 'write-skew' },
  // The sizes of the papers; operations are means, for the room they take.
  'tpcc-kv': { ...GENERAL, shape: 'tpcc-kv', ops: 30, keys: 3000 },
  'twitter-kv': { ...GENERAL, shape: 'twitter-kv', ops: 6, keys: 1000, distribution: 'zipfian' },
  rubis: { ...GENERAL, shape: 'rubis', ops: 4, keys: 200_000, distribution: 'zipfian' },
}

/** What fits into the memory of a large machine. */
const MOST = { sessions: 1e5, transactions: 1e8, ops: 1e6, keys: 1e8 } as const

/** Refuses a size that is none, or that would take all memory there is before anything is done. */
export function expectCount(name: string, count: number, most: number): void {
  if (Number.isSafeInteger(count) && count >= 1 && count <= most) return
  const range = `a whole number from 1 to ${most.toLocaleString('en')}`
  throw new UsageError(`${name} must be ${range}, not ${count}`)
}

/** Refuses a distribution or a share of reads that is none. */
export function expectChoices({
  distribution,
  reads,
}: Pick<WorkloadParameters, 'distribution' | 'reads'>): void {
  if (!DISTRIBUTIONS.includes(distribution)) {
    const hint = hintFor(distribution, DISTRIBUTIONS)
    throw new UsageError(`unknown distribution "${distribution}"`, hint)
  }
  if (reads >= 0 && reads <= 1) return
  throw new UsageError(`the share of reads must lie between 0 and 1, not ${reads}`)
}

/** A shape, and what else is asked of the workload. */
export type WorkloadRequest = Partial<WorkloadParameters> & Pick<WorkloadParameters, 'shape'>

/** Fills in the defaults of the shape and refuses what makes no sense. */
export function workloadParameters(given: WorkloadRequest): WorkloadParameters {
  const { shape, aim } = given
  if (!SHAPES.includes(shape)) {
    throw new UsageError(`unknown shape "${shape}"`, hintFor(shape, SHAPES))
  }
  const aimed = shape === 'aimed' ? { keys: findAim(aim ?? 'write-skew').keys } : {}
  const parameters = { ...DEFAULTS[shape], ...aimed, ...given }
  const { mix, sessions, keys, disjointWrites } = parameters
  expectChoices(parameters)
  for (const name of ['sessions', 'transactions', 'ops', 'keys'] as const) {
    expectCount(name, parameters[name], MOST[name])
  }
  if (parameters.transactions * parameters.ops > 2 ** 28) {
    throw new UsageError('more than 2^28 operations in one history', 'ask for fewer transactions')
  }
  if (mix) checkMix(mix, shape)
  if ((parameters.aim !== null) !== (shape === 'aimed')) {
    throw new UsageError(`an aim is for the shape aimed, not for ${shape}`)
  }
  if (isApplicationShape(shape) || shape === 'aimed') refuseGivenSizes(shape, given)
  if (disjointWrites && keys < sessions) {
    throw new UsageError(
      `disjoint writes need a key for each of the ${sessions} sessions, and there are ${keys}`,
    )
  }
  return parameters
}

function refuseGivenSizes(shape: ApplicationShape | 'aimed', given: WorkloadRequest): void {
  for (const name of ['ops', 'reads', 'distribution'] as const) {
    if (given[name] === undefined || given[name] === DEFAULTS[shape][name]) continue
    throw new UsageError(`${name} is not for ${shape}, whose transactions are given`)
  }
  if (given.disjointWrites) {
    throw new UsageError(`the transactions of ${shape} write what others write as well`)
  }
}

function checkMix(mix: Mix, shape: Shape): void {
  if (shape !== 'general') throw new UsageError(`a mix is for the general shape, not for ${shape}`)
  const sum = mix[0] + mix[1] + mix[2]
  if (mix.length !== 3 || mix.some((share) => !(share >= 0)) || !(sum > 0)) {
    const hint = 'three shares: read-only, write-only, read-modify-write, such as 20,40,40'
    throw new UsageError(`bad mix ${mix.join(',')}`, hint)
  }
}
