// The options of a workload that `run` and `generate` share: their names, what they say of
// themselves, and what they mean. Defaults are those of workload/parameters.ts. Main functions:
// addWorkloadOptions, readWorkload, levelsChoice.

import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import type { LevelId } from '../levels/levels.ts'
import { AIM_NAMES, AIMS, findAim } from '../workload/aims.ts'
import { DISTRIBUTIONS, type Distribution } from '../workload/distributions.ts'
import {
  DEFAULT_SHAPE,
  type Mix,
  SHAPES,
  type Shape,
  type WorkloadParameters,
  type WorkloadRequest,
  workloadParameters,
} from '../workload/parameters.ts'
import {
  isSqlShape,
  refuseForSql,
  SQL_SHAPES,
  type SqlParameters,
  type SqlShape,
  sqlParameters,
} from '../workload/sql/parameters.ts'
import { readLevelsFile } from './levels-file.ts'
import { parseNumber, parseSeed } from './options.ts'

export interface WorkloadFlags {
  seed: string
  sessions?: string
  transactions?: string
  keys?: string
  ops?: string
  reads?: string
  distribution?: string
  mix?: string
  disjointWrites?: boolean
  levelsFile?: string
  aim?: string
}

const AIMED = 'aimed'

export const ALL_SHAPES: readonly string[] = [...SHAPES, ...SQL_SHAPES]

/** What workloads of every kind are asked for, whatever their shape. */
const SIZES = ['sessions', 'transactions', 'ops', 'reads', 'keys'] as const

export type SqlRequest = Partial<SqlParameters> & { readonly shape: SqlShape }

/** What a size is of a shape unless told. */
function usual(size: (typeof SIZES)[number], shape: Shape | SqlShape): number {
  const parameters = isSqlShape(shape) ? sqlParameters({ shape }) : workloadParameters({ shape })
  return parameters[size]
}

const each = (size: (typeof SIZES)[number], shapes: readonly (Shape | SqlShape)[]) =>
  shapes.map((shape) => `${shape}: ${usual(size, shape)}`).join('; ')

const AIMED_KEYS = [Math.min, Math.max]
  .map((most) => most(...AIMS.map(({ keys }) => keys)))
  .join(' to ')

/** All but the shape, which each command names in its own way. */
export function addWorkloadOptions(command: Command): Command {
  return command
    .option('--seed <n>', 'where all choices come from', '1')
    .option(
      '--sessions <n>',
      `sessions that run at the same time (${usual('sessions', DEFAULT_SHAPE)}; SQL: ${usual('sessions', 'tpcc')})`,
    )
    .option(
      '--transactions <n>',
      `transactions in all (${usual('transactions', DEFAULT_SHAPE)}; SQL: ${usual('transactions', 'tpcc')})`,
    )
    .option(
      '--keys <n>',
      `keys; of churn and append, at one time (${each('keys', ['churn', 'mini', 'general', 'append', 'lwt'])}; aimed: ${AIMED_KEYS}); customers of a district (${each('keys', ['tpcc-kv'])}), users (${each('keys', ['twitter-kv'])}), items (${each('keys', ['rubis'])}); of SQL, customers of a district (${each('keys', ['tpcc'])}), users (${each('keys', ['twitter'])}, more for many transactions) or rows (${each('keys', ['sql'])})`,
    )
    .option(
      '--ops <n>',
      `operations of a transaction (${each('ops', ['general', 'append'])}; at most, ${each('ops', ['churn', 'sql'])})`,
    )
    .option('--reads <share>', `share of reads, 0 to 1 (${usual('reads', DEFAULT_SHAPE)})`)
    .option('--distribution <name>', `how keys are chosen (${DISTRIBUTIONS.join(', ')})`)
    .option('--mix <r,w,rw>', 'general: shares of read-only, write-only, read-modify-write')
    .option(
      '--aim <anomaly>',
      `transactions and timing made for one anomaly, in place of a shape (${AIM_NAMES.join(', ')})`,
    )
    .option('--disjoint-writes', 'let only one session write each key')
    .option(
      '--levels-file <file>',
      'SQL: JSON that says which level each type of transactions asks for, e.g. {"payment":"ser","*":"rc"}',
    )
}

/** What the flags ask for besides a shape; of SQL transactions, without what they have no use for. */
export function readWorkload(flags: WorkloadFlags): Partial<WorkloadParameters> {
  const { mix, disjointWrites = false } = flags
  const shares = mix?.split(',').map((part) => parseNumber('mix', part, 0)) as Mix | undefined
  return {
    ...readSizes(flags),
    disjointWrites,
    ...(shares === undefined ? {} : { mix: shares }),
    ...(flags.aim === undefined ? {} : { aim: findAim(flags.aim).name }),
  }
}

/** The shape that is asked for by name, or by what it is aimed at. Throws UsageError. */
export function shapeOf(named: string | undefined, { aim }: WorkloadFlags): string {
  if (aim === undefined) return named ?? DEFAULT_SHAPE
  if (named === undefined || named === AIMED) return AIMED
  throw new UsageError('--aim and --shape exclude each other', 'each names the transactions')
}

/** The request of a shape that is known by name; null if there is none of that name. */
export function readShape(
  shape: string,
  flags: WorkloadFlags,
): WorkloadRequest | SqlRequest | null {
  if (isSqlShape(shape)) {
    refuseForSql(shape, flags)
    return { ...readSizes(flags), shape }
  }
  if (!(SHAPES as readonly string[]).includes(shape)) return null
  return { ...readWorkload(flags), shape: shape as Shape }
}

function readSizes(flags: WorkloadFlags) {
  const sizes: { [Name in (typeof SIZES)[number]]?: number } = {}
  for (const name of SIZES) {
    if (flags[name] !== undefined) sizes[name] = parseNumber(name, flags[name], 0)
  }
  const { distribution } = flags
  return {
    seed: parseSeed(flags.seed),
    ...sizes,
    ...(distribution === undefined ? {} : { distribution: distribution as Distribution }),
  }
}

/** What is asked of the database or store: by `option`, or by a file of levels, or else null. */
export function levelsChoice(
  option: string,
  given: string | undefined,
  { levelsFile }: WorkloadFlags,
  shape: string,
  read: (word: string) => LevelId,
): string | null {
  if (levelsFile === undefined) return given ?? null
  if (given !== undefined) throw new UsageError(`${option} and --levels-file exclude each other`)
  return readLevelsFile(levelsFile, shape, read)
}
