// Judges a file beyond memory: cuts it into a history on disk, decides the levels, the strongest
// first, verifies the orders that prove them, and has what violates a level shown by the engine in
// memory, on the few transactions that matter. Main function: judgeOnDisk.

import { nowMs } from '../../base/deadline.ts'
import { assert, BudgetExceeded, InternalError } from '../../base/errors.ts'
import { undecided } from '../../check/certified.ts'
import { judge } from '../../check/judge.ts'
import type { CheckOptions } from '../../check/options.ts'
import { Scratch } from '../../files/scratch.ts'
import type { PlainFile } from '../../formats/pieces.ts'
import { ABORTED, COMMITTED, type History, INDETERMINATE, NONE } from '../../history/history.ts'
import { certifyOnDisk } from '../../spill/certify-on-disk.ts'
import { type CommitOrder, FILE_ORDER } from '../../spill/commit-order.ts'
import type { FileStream } from '../../spill/file-stream.ts'
import { loadPart, type Part, type PartSource } from '../../spill/part.ts'
import { partition } from '../../spill/partition.ts'
import {
  INITIAL_PART,
  type SpilledHistory,
  type SpillSizes,
  sizesFor,
} from '../../spill/spilled-history.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import type { HistoryCounts } from '../../verdict/verdict-file.ts'
import { decideOnDisk } from './decide.ts'
import type { DecideTools, Decision } from './decision.ts'
import { MergedFile } from './judge-merged.ts'
import { countStreamed, judgeStream } from './judge-stream.ts'
import { SPILLED_LEVELS, type SpilledLevel } from './levels.ts'
import { type Observers, settleSpilledCounts } from './settle-counts.ts'
import { certificateKind, type OrderedTxns, tellProof, weakerProof } from './tell-order.ts'

export interface OnDiskOptions {
  readonly memoryBytes: number
  /** Where to spill; null: the system's directory for temporary files. */
  readonly scratch: string | null
  readonly certify?: boolean
  /** Whether results carry the orders that prove them, as far as these fit into memory. */
  readonly prove?: boolean
  /** Of what violates a level, how it is shown. */
  readonly check?: CheckOptions
  /** Called now and then; may throw BudgetExceeded to give up. */
  readonly onStep?: (phase: string, done: number, all: number) => void
  /** Into how many parts things are cut; by the memory unless told. */
  readonly sizes?: SpillSizes
  /** Whether the file is first tried as it stands, without cutting it up; true unless told. */
  readonly stream?: boolean
}

export interface OnDiskResult {
  readonly results: LevelResult[]
  /** The transactions that anomalies speak of, and no others. */
  readonly part: Part
  readonly counts: HistoryCounts
  readonly warnings: readonly string[]
}

const NOTHING = (): void => {}

export async function judgeOnDisk(
  file: PlainFile,
  levels: readonly SpilledLevel[],
  options: OnDiskOptions,
): Promise<OnDiskResult> {
  const scratch = new Scratch(options.scratch)
  try {
    const sizes = options.sizes ?? sizesFor(file.sizeBytes, options.memoryBytes)
    const streamed =
      options.stream === false ? null : streamLevels(file, levels, sizes, options, scratch)
    const isDecided = streamed !== null && levels.every((level) => streamed.made.has(level))
    const judged = isDecided
      ? toldOf(file, sizes, streamed)
      : judgeCutUp(scratch, file, levels, sizes, options, streamed)
    return await showTold(file, levels, judged, options)
  } finally {
    scratch.close()
  }
}

/** By the order of the file alone, without anything on disk; null if that is not enough. */
export async function judgeAsItStands(
  file: PlainFile,
  levels: readonly SpilledLevel[],
  options: OnDiskOptions,
): Promise<OnDiskResult | null> {
  const sizes = options.sizes ?? sizesFor(file.sizeBytes, options.memoryBytes)
  const streamed = streamLevels(file, levels, sizes, options, null)
  if (!levels.every((level) => streamed.made.has(level))) return null
  return showTold(file, levels, toldOf(file, sizes, streamed), options)
}

async function showTold(
  file: PlainFile,
  levels: readonly SpilledLevel[],
  { made, source, observers, counts, warnings }: Told,
  options: OnDiskOptions,
): Promise<OnDiskResult> {
  const onRead = (readBytes: number) => options.onStep?.('loading', readBytes, file.sizeBytes)
  const from = { ...source, onRead }
  const part = loadEvidence(from, [...made.values()], observers, options.memoryBytes)
  const shown = await showViolated(part.history, made, options.check ?? {})
  const results = levels.map((level) => shown.get(level) ?? made.get(level)!.result)
  return { results, part, counts, warnings }
}

/** What was decided of each level, and what it takes to tell of it. */
interface Told {
  readonly made: ReadonlyMap<SpilledLevel, Made>
  readonly source: PartSource
  readonly observers: Observers
  readonly counts: HistoryCounts
  readonly warnings: readonly string[]
}

/** What was decided without cutting the file up. */
interface StreamedLevels {
  readonly made: Map<SpilledLevel, Made>
  readonly stream: FileStream | null // that was read to its end
  /** The best order that is known where some level was not decided. */
  readonly order: CommitOrder | null
}

/**
 * By the order of the file, or by orders in which its sessions are side by side.
 * @param scratch where to put what the latter take; null: only the file's own is tried
 */
function streamLevels(
  file: PlainFile,
  levels: readonly SpilledLevel[],
  sizes: SpillSizes,
  options: OnDiskOptions,
  scratch: Scratch | null,
): StreamedLevels {
  const made = new Map<SpilledLevel, Made>()
  let stream: FileStream | null = null
  let merged: MergedFile | null | undefined
  try {
    for (const level of SPILLED_LEVELS.filter((each) => levels.includes(each))) {
      let told = implied(level, made)
      if (told === null) {
        let streamed = judgeStream(file, level, sizes, options)
        if (streamed === null && scratch !== null) {
          if (merged === undefined) merged = MergedFile.open(file, sizes, scratch, options)
          streamed = merged?.judge(level) ?? null
        }
        if (streamed !== null) stream = streamed.stream
        told = streamed
      }
      if (told !== null) made.set(level, told)
    }
    return { made, stream, order: merged?.order ?? null }
  } finally {
    merged?.close()
  }
}

function toldOf(file: PlainFile, sizes: SpillSizes, { made, stream }: StreamedLevels): Told {
  const { warnings, initial, hasLabels } = stream!
  const source = { file, sizes, initial, hasLabels, txnStatus: null }
  return { made, source, observers: new Map(), counts: countStreamed(stream!), warnings }
}

function judgeCutUp(
  scratch: Scratch,
  file: PlainFile,
  levels: readonly SpilledLevel[],
  sizes: SpillSizes,
  options: OnDiskOptions,
  streamed: Pick<StreamedLevels, 'made' | 'order'> | null,
): Told {
  const onStep = options.onStep ?? NOTHING
  const { memoryBytes } = options
  const onProgress = (readBytes: number) => onStep('reading', readBytes, file.sizeBytes)
  const spilled = partition(file, scratch, sizes, { memoryBytes, onProgress })
  const made = streamed?.made ?? new Map<SpilledLevel, Made>()
  const first = streamed?.order ?? FILE_ORDER
  const ordered = SPILLED_LEVELS.filter((each) => levels.includes(each))
  let observers: Observers = new Map()
  try {
    observers = settleSpilledCounts(spilled, (bucket) => onStep('reading', bucket, sizes.buckets))
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    for (const level of ordered) {
      if (!made.has(level)) made.set(level, giveUp(level, error.message))
    }
  }
  const tools = { scratch, onStep, memoryBytes, check: options.check ?? {}, observers, first }
  for (const level of ordered) {
    if (made.has(level)) continue
    made.set(level, implied(level, made) ?? decideLevel(spilled, level, tools, options))
  }
  const { warnings } = spilled
  return { made, source: spilled, observers, counts: countSpilled(spilled), warnings }
}

interface Made {
  readonly decision: Decision
  readonly result: LevelResult
}

/** What satisfies a stronger level satisfies this one, by the same order. */
function implied(level: SpilledLevel, made: ReadonlyMap<SpilledLevel, Made>): Made | null {
  for (const [stronger, { decision, result }] of made) {
    const isStronger = SPILLED_LEVELS.indexOf(stronger) < SPILLED_LEVELS.indexOf(level)
    if (!isStronger || decision.verdict !== 'satisfied') continue
    const proof = weakerProof(level, result.proof)
    const weaker = { ...result, level, proof, impliedBy: stronger, elapsedMs: 0, stages: {} }
    return { decision, result: weaker }
  }
  return null
}

function decideLevel(
  spilled: SpilledHistory,
  level: SpilledLevel,
  tools: DecideTools,
  { certify: isCertified = true, prove = false }: OnDiskOptions,
): Made {
  const started = nowMs()
  const decision = decideOnDisk(spilled, level, tools)
  const decidedMs = nowMs() - started
  const isSatisfied = decision.verdict === 'satisfied'
  const reason = isSatisfied && isCertified ? certify(spilled, level, decision, tools) : null
  const elapsedMs = nowMs() - started
  const stages = { decide: decidedMs, certify: elapsedMs - decidedMs }
  if (decision.verdict === 'unknown') return giveUp(level, decision.reason, { elapsedMs, stages })
  if (reason !== null) return giveUp(level, reason, { elapsedMs, stages })
  const isTold = prove && isSatisfied
  const result: LevelResult = {
    level,
    verdict: decision.verdict,
    reason: null,
    impliedBy: null,
    algorithm: 'on disk',
    elapsedMs,
    stages,
    anomalies: [],
    proof: isTold ? tellProof(level, orderedTxns(spilled), decision.order, decision.stale) : null,
    certificate: isCertified ? { kind: certificateKind(level), verified: true } : null,
  }
  return { decision, result }
}

function giveUp(
  level: SpilledLevel,
  reason: string,
  spent: Pick<LevelResult, 'elapsedMs' | 'stages'> = { elapsedMs: 0, stages: {} },
): Made {
  const result = { ...undecided(level), reason, algorithm: 'on disk', ...spent }
  return { decision: { verdict: 'unknown', reason }, result }
}

function orderedTxns({ txnCount, txnCounts, sizes }: SpilledHistory): OrderedTxns {
  return { txnCount, mostBytes: sizes.windowBytes, doesCount: (txn) => txnCounts[txn] === 1 }
}

/** Why the order could not be verified; null if it was. */
function certify(
  spilled: SpilledHistory,
  level: SpilledLevel,
  { order }: Decision & { verdict: 'satisfied' },
  { scratch, onStep }: DecideTools,
): string | null {
  let certified: ReturnType<typeof certifyOnDisk>
  try {
    certified = certifyOnDisk(spilled, level, order, {
      scratch,
      onStep: (done, all) => onStep('verifying', done, all),
    })
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return error.message
  }
  if (certified.problems.length > 0) {
    const what = `the verdict 'satisfied' of ${level} failed its own certificate`
    throw new InternalError(`${what}: ${certified.problems.slice(0, 3).join('; ')}`)
  }
  return certified.gaveUp
}

/** All transactions that show what violates some level. */
function loadEvidence(
  source: PartSource,
  made: readonly Made[],
  observers: Observers,
  memoryBytes: number,
): Part {
  const txns = new Set<number>()
  const wild = new Map<number, Set<number>>() // txn -> its reads that nobody wrote
  for (const { decision } of made) {
    if (decision.verdict !== 'violated') continue
    for (const txn of decision.txns) txns.add(txn)
    for (const { txn, op, writer } of decision.offences) {
      txns.add(txn)
      if (writer !== NONE) txns.add(writer)
      else if (!wild.get(txn)?.add(op)) wild.set(txn, new Set([op]))
    }
  }
  // Those that count only because they were read need a reader.
  for (const txn of txns) {
    const observer = observers.get(txn)
    if (observer !== undefined) txns.add(observer)
  }
  return loadPart(source, txns, memoryBytes, (txn, op) => wild.get(txn)?.has(op) === true)
}

async function showViolated(
  history: History,
  made: ReadonlyMap<SpilledLevel, Made>,
  options: CheckOptions,
): Promise<Map<SpilledLevel, LevelResult>> {
  const violated = [...made.keys()].filter((at) => made.get(at)!.decision.verdict === 'violated')
  const shown = new Map<SpilledLevel, LevelResult>()
  if (violated.length === 0) return shown
  const results = await judge(history, violated, options)
  for (const [i, level] of violated.entries()) {
    const result = results[i]!
    assert(result.verdict !== 'satisfied', `what violates ${level} on disk does so in memory`)
    shown.set(level, { ...result, elapsedMs: result.elapsedMs + made.get(level)!.result.elapsedMs })
  }
  return shown
}

function countSpilled(spilled: SpilledHistory): HistoryCounts {
  const byStatus = new Map<number, number>()
  for (let txn = 0; txn < spilled.txnCount; txn++) {
    const status = spilled.txnStatus.data[txn]!
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
  }
  const count = (status: number) => byStatus.get(status) ?? 0
  return {
    sessions: spilled.sessions.size,
    transactions: spilled.txnCount,
    committed: count(COMMITTED) + count(INITIAL_PART),
    aborted: count(ABORTED),
    indeterminate: count(INDETERMINATE),
    operations: spilled.opCount,
    keys: spilled.bucketKeys.reduce((sum, keys) => sum + keys, 0),
  }
}
