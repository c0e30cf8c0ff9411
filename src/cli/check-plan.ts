// What `isobar check` was asked for: its options, read and held against each other before any history
// is opened.

import { UsageError } from '../base/errors.ts'
import { parseDuration, parseSize } from '../base/quantities.ts'
import { hintFor } from '../base/slips.ts'
import type { CheckOptions } from '../check/options.ts'
import { type Output, Outputs } from '../files/output.ts'
import { historyFilesIn } from '../formats/open.ts'
import type { LevelRequest } from '../levels/levels.ts'
import { type Orders, parseOrders, withOrders } from '../levels/orders.ts'
import { DirectorySummary } from './directory-summary.ts'
import { type EllePlan, parseElle } from './elle.ts'
import { type DuplicateFlags, FORMAT_IDS, type InputFormatFlags } from './format-options.ts'
import {
  ABORTED_READS,
  parseAlgorithm,
  parseChoice,
  parseNumber,
  parseRequests,
  parseSwitch,
  parseTaps,
} from './options.ts'
import { filesOf, isDirectory } from './paths.ts'
import { ReportFiles, type ReportFlags } from './report-files.ts'
import { TAP_RULES, type TapRule } from './taps.ts'

export interface CheckFlags extends ReportFlags, InputFormatFlags, DuplicateFlags {
  level?: string
  sessionOrder?: string
  order?: string
  abortedReads: string
  json?: boolean
  elle?: string | boolean
  all?: boolean
  limit?: string
  tap?: string
  tapRule: string
  budget?: string
  memory?: string
  scratch?: string | false
  algorithm?: string
  certify: boolean
  certificate?: string
  notation?: boolean
  strength?: boolean
  allowEmpty?: boolean
}

/** Nobody reads more, and every one takes time and memory to be told. */
export const ALL_LIMIT = 1000

export interface CheckPlan {
  levels: LevelRequest[] | null // null: the profile
  taps: string[] | null
  tapRule: TapRule
  elle: EllePlan | null
  format: string | null
  duplicates: boolean // whether values may be written twice
  json: boolean
  notation: boolean
  strength: boolean
  allowsEmpty: boolean
  judged: number // histories with a transaction in them, so far
  certificate: Output | null
  files: ReportFiles
  summary: DirectorySummary | null // of several histories
  /** Whether standard output belongs to one of the files. */
  isSilent: boolean
  /** The options that decide the verdict, to ask for it again. */
  again: string[]
  scratch: string | false | undefined
  check: CheckOptions
}

export function makePlan(paths: readonly string[], flags: CheckFlags): CheckPlan {
  const outputs = new Outputs(flags.force)
  for (const path of paths) for (const file of filesOf(path)) outputs.read(file)
  const printed = flags.json ? '--json' : flags.notation ? '--notation' : null
  if (printed) outputs.claim('-', printed)
  if (flags.strength && (printed || flags.elle !== undefined)) {
    throw new UsageError(
      `--strength is for people, and ${printed ?? '--elle'} prints nothing else`,
      'isobar stats --json has it',
    )
  }
  const orders = ordersOf(flags)
  const requests =
    flags.level === undefined || flags.elle !== undefined ? null : parseRequests(flags.level)
  const plan: CheckPlan = {
    isSilent: false,
    // Beside --elle names are Jepsen's, and read as such.
    levels: requests?.map((each) => (orders ? withOrders(each, orders) : each)) ?? null,
    elle: flags.elle === undefined ? null : parseElle(flags.elle, flags.level),
    taps: flags.tap === undefined ? null : parseTaps(flags.tap),
    tapRule: parseChoice(flags.tapRule, '--tap-rule', TAP_RULES),
    format: flags.format ?? null,
    duplicates: flags.duplicateValues === true,
    json: flags.json === true,
    notation: flags.notation === true,
    strength: flags.strength === true,
    allowsEmpty: flags.allowEmpty === true,
    judged: 0,
    certificate:
      flags.certificate === undefined ? null : outputs.claim(flags.certificate, '--certificate'),
    files: new ReportFiles(flags, outputs),
    summary: flags.elle !== undefined || paths.every(isOneHistory) ? null : new DirectorySummary(),
    again: optionsOf(flags),
    scratch: flags.scratch,
    check: {
      all: flags.all === true,
      limit: limitOf(flags),
      certify: flags.certify,
      algorithm: parseAlgorithm(flags.algorithm ?? 'auto'),
      sessionOrder: parseSwitch(flags.sessionOrder ?? 'on', '--session-order'),
      ...orders,
      abortedReads: parseChoice(flags.abortedReads, '--aborted-reads', ABORTED_READS),
      budgetMs: flags.budget === undefined ? null : parseDuration(flags.budget),
      memoryBytes: flags.memory === undefined ? null : parseSize(flags.memory),
    },
  }
  if (plan.format !== null && !FORMAT_IDS.includes(plan.format)) {
    const message = `unknown format ${JSON.stringify(plan.format)}`
    throw new UsageError(message, hintFor(plan.format, FORMAT_IDS))
  }
  if (plan.elle && (plan.taps || plan.json || plan.certificate || !plan.files.isEmpty)) {
    throw new UsageError('--elle goes with --level only')
  }
  refuseDuplicates(plan)
  if (plan.tapRule !== 'isobar' && !plan.taps) throw new UsageError('--tap-rule goes with --tap')
  if (plan.taps && plan.levels) throw new UsageError('--tap and --level exclude each other')
  const isOne = paths.length === 1 && isOneHistory(paths[0]!)
  if (plan.certificate && !isOne) {
    throw new UsageError('--certificate goes with exactly one history')
  }
  if (plan.taps && !plan.files.isEmpty) {
    throw new UsageError('--tap makes no report', 'ask for levels instead: --level cc')
  }
  plan.files.checkFlags(isOne)
  plan.isSilent = printed === null && outputs.ownsStandardOutput
  return plan
}

/** What takes a history of which every read names its writer goes without --duplicate-values. */
function refuseDuplicates({ duplicates, taps, elle }: CheckPlan): void {
  const odd = taps ? '--tap' : elle ? '--elle' : null
  if (!duplicates || odd === null) return
  throw new UsageError(
    `${odd} does not go with --duplicate-values: it takes a history of which every read names its writer`,
    'ask for levels: --level ser',
  )
}

/** The same of a history whose counters, or a cas, do not tell whom they saw. */
export function refuseChoices({ taps, elle }: CheckPlan): void {
  if (!taps && !elle) return
  throw new UsageError(
    `${taps ? '--tap' : '--elle'} takes a history of which every read names its writer, and reads of this one have several possible writers`,
    'ask for levels: --level ser',
  )
}

/** The orders that were asked for; null if levels have those of their names. */
function ordersOf({ order, sessionOrder, elle, tap }: CheckFlags): Orders | null {
  if (order === undefined) return null
  const orders = parseOrders(order)
  if (elle !== undefined || tap !== undefined) {
    throw new UsageError(`--order does not go with ${elle === undefined ? '--tap' : '--elle'}`)
  }
  if (sessionOrder !== undefined) {
    throw new UsageError(
      '--order and --session-order both say whether session order counts',
      'leave --session-order out: --order session,real-time has it, real-time and none have not',
    )
  }
  return orders
}

function isOneHistory(path: string): boolean {
  if (path === '-' || !isDirectory(path)) return true
  try {
    return historyFilesIn(path) !== null
  } catch {
    return true // reading it will say what is wrong
  }
}

function limitOf({ all, limit }: CheckFlags): number {
  if (limit === undefined) return ALL_LIMIT
  if (all !== true) throw new UsageError('--limit goes with --all only')
  return Math.floor(parseNumber('limit', limit, 1))
}

/** The options that decide the verdict. */
function optionsOf(flags: CheckFlags): string[] {
  const options: string[] = []
  for (const name of ['level', 'format', 'limit', 'budget', 'memory', 'algorithm'] as const) {
    const value = flags[name]
    if (value !== undefined) options.push(`--${name}`, value)
  }
  if (flags.order !== undefined) options.push('--order', flags.order)
  if (flags.sessionOrder === 'off') options.push('--session-order', 'off')
  if (flags.abortedReads === 'ignore') options.push('--aborted-reads', 'ignore')
  if (flags.duplicateValues) options.push('--duplicate-values')
  if (flags.all) options.push('--all')
  if (!flags.certify) options.push('--no-certify')
  if (typeof flags.scratch === 'string') options.push('--scratch', flags.scratch)
  if (flags.scratch === false) options.push('--no-scratch')
  return options
}
