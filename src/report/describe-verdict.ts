// The verdict as data: the object that verdict files hold (verdict/verdict-file.ts), and that every
// report is made of. Main function: describeVerdict.

import type { Deadline } from '../base/deadline.ts'
import { stringify } from '../base/json.ts'
import type { History } from '../history/history.ts'
import type { Source } from '../history/writers.ts'
import type { LevelId } from '../levels/levels.ts'
import { countHistory } from '../verdict/count-history.ts'
import { FILE_VERSION } from '../verdict/file-version.ts'
import { INITIAL_TXN, type LevelResult, positionOf } from '../verdict/verdict.ts'
import type {
  ChoiceJson,
  ResultJson,
  RunJson,
  SourceJson,
  VerdictJson,
} from '../verdict/verdict-file.ts'
import { EvidenceDescriber } from './describe-evidence.ts'
import { buildOverview } from './overview.ts'
import { summarise } from './summary.ts'
import { describeWitness } from './witness.ts'

export interface JsonContext {
  path: string
  format: string
  parseMs: number
  /** The levels asked for; null if the question was which levels hold. */
  asked?: readonly LevelId[] | null
  /** The command that gives this verdict again, without secrets. */
  command?: string | null
  /** The run that made the history. */
  run?: RunJson
  /** Name every row that a satisfied verdict on SQL statements rests on. */
  all?: boolean
  /** When it runs out, the last anomaly told of each kind counts those that are not. */
  deadline?: Deadline
}

export function describeVerdict(
  history: History,
  results: readonly LevelResult[],
  context: JsonContext,
): VerdictJson {
  const evidence = new EvidenceDescriber(history, context.deadline)
  const described = results.map((_, at) => describeResult(history, results, at, evidence, context))
  return {
    isobar: FILE_VERSION,
    path: context.path,
    format: context.format,
    asked: context.asked ? [...context.asked] : null,
    command: context.command ?? null,
    history: countHistory(history),
    initial: history.initial === undefined ? false : history.initial,
    ...(history.timeUnit === null ? {} : { unit: history.timeUnit }),
    warnings: [...history.warnings],
    results: described,
    ...summarise(results),
    ...evidence.mentioned(),
    overview: buildOverview(history, evidence.mentionedTxns()),
    ...(context.run ? { run: context.run } : {}),
  }
}

/** An input that could not be read. */
export function renderJsonError(
  path: string,
  error: {
    code: string
    message: string
    line: number | null
    column: number | null
    hint: string | null
  },
): string {
  return stringify({ isobar: FILE_VERSION, path, error })
}

function describeResult(
  history: History,
  results: readonly LevelResult[],
  at: number,
  evidence: EvidenceDescriber,
  context: JsonContext,
): ResultJson {
  const result = results[at]!
  const stages: Record<string, number> = { parse: round(context.parseMs) }
  for (const [name, ms] of Object.entries(result.stages)) stages[name] = round(ms)
  const witness = describeWitness(history, result, context.all === true)
  return {
    level: result.level,
    ...(result.sessionOrder === false ? { sessionOrder: false as const } : {}),
    ...(result.realTime ? { realTime: true as const } : {}),
    ...(result.bound === undefined ? {} : { bound: result.bound }),
    ...(result.abortedReads ? { abortedReads: result.abortedReads } : {}),
    verdict: result.verdict,
    reason: result.reason,
    impliedBy: result.impliedBy,
    algorithm: result.algorithm,
    elapsedMs: round(result.elapsedMs),
    stages,
    position: positionOf(result),
    anomalies: evidence.describe(result.anomalies),
    proof: describeProof(history, results, at),
    ...(result.sources ? { sources: describeSources(history, result.sources) } : {}),
    ...(result.staleness ? { staleness: { ...result.staleness } } : {}),
    certificate: result.certificate ? { ...result.certificate } : null,
    ...(witness ? { witness } : {}),
  }
}

function describeSources(history: History, sources: readonly Source[]): SourceJson[] {
  const { opTxn, txnOpStart } = history
  return sources.map(({ read, write }): SourceJson => {
    const reader = opTxn[read]!
    const index = read - txnOpStart[reader]!
    if (write < 0) return [reader, index, null, null]
    return [reader, index, opTxn[write]!, write - txnOpStart[opTxn[write]!]!]
  })
}

/** Levels that are proved alike tell the proof once. */
function describeProof(history: History, results: readonly LevelResult[], at: number) {
  const { proof } = results[at]!
  if (proof === null) return null
  if (proof.kind === 'none') return { kind: proof.kind }
  const first = results.findIndex((result) => result.proof === proof)
  if (first < at) return { kind: proof.kind, sameAs: first }
  if (proof.kind === 'snapshots') return { kind: proof.kind, order: Array.from(proof.events) }
  const order = Array.from(proof.order)
  if (proof.kind === 'commit-order') return { kind: proof.kind, order }
  const choices = proof.choices.map(({ event, key, txn }): ChoiceJson => {
    const { eventTxn, txnEventStart } = history.sql!
    const reader = eventTxn[event]!
    const writer = txn === INITIAL_TXN ? null : txn
    return [reader, event - txnEventStart[reader]!, history.keyName(key), writer]
  })
  return { kind: proof.kind, order, choices }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
