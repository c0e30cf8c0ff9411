// The demonstration: one small workload on a real server at two levels. Doctors are on call in
// pairs, and each may leave if the other one stays: a transaction reads both rows and writes its
// own. At SERIALIZABLE that is safe; at REPEATABLE READ both leave, a write skew. Main function:
// demonstrate.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { nowMs } from '../base/deadline.ts'
import type { Random } from '../base/random.ts'
import type { LevelId } from '../levels/levels.ts'
import { NO_FAULTS } from '../record/faults.ts'
import type { Target } from '../record/target.ts'
import type { KeyOperations } from '../record/work.ts'
import type { Anomaly, LevelResult } from '../verdict/verdict.ts'
import { type RunOutcome, run } from './run.ts'
import type { RunOptions, RunPhase } from './run-options.ts'

export interface DemoOptions {
  /** What to ask for each level. */
  readonly target: (level: LevelId) => Target
  /** Where the files of the runs go, a directory each. */
  readonly directory: string
  /** How long to go on until a write skew is there, after a first run. */
  readonly patienceMs: number
  readonly sessions?: number
  readonly transactions?: number
  readonly signal: AbortSignal | null
  /** @param name the server's own name of the level */
  readonly onPhase: (phase: RunPhase, name: string) => void
  readonly version: string
  readonly commands: NonNullable<RunOptions['commands']>
}

export interface DemoStep {
  /** The server's own name of the level. */
  readonly name: string
  readonly directory: string
  readonly outcome: RunOutcome
}

export interface Demo {
  readonly safe: DemoStep
  readonly unsafe: DemoStep
  /** The smallest example; null if there was none. */
  readonly skew: Anomaly | null
  /** What came out otherwise than it should; empty if nothing did. */
  readonly differences: readonly string[]
}

/** Sessions that meet on one pair: the more there are, the more leave at the same moment. */
const SESSIONS = 4
const TRANSACTIONS = 200
const ANOMALY = 'WriteSkew'

/** Throws DatabaseError if there is no server; null if the signal came. */
export async function demonstrate(options: DemoOptions): Promise<Demo | null> {
  const safe = await runStep('SERIALIZABLE', 'ser', options)
  if (safe === null) return null
  const startMs = nowMs()
  for (;;) {
    const unsafe = await runStep('REPEATABLE READ', 'si', options)
    if (unsafe === null) return null
    const skew = serOf(unsafe)?.anomalies.find(({ name }) => name === ANOMALY) ?? null
    if (skew !== null || nowMs() - startMs >= options.patienceMs) {
      return { safe, unsafe, skew, differences: differencesOf(safe, unsafe, skew) }
    }
    // Too little happened at the same time: once more, from nothing.
    rmSync(unsafe.directory, { recursive: true, force: true })
  }
}

/** How a step was judged at serializability. */
export function serOf({ outcome }: DemoStep): LevelResult | null {
  return outcome.judged?.results.find(({ level }) => level === 'ser') ?? null
}

async function runStep(
  name: string,
  dbLevel: LevelId,
  options: DemoOptions,
): Promise<DemoStep | null> {
  const { sessions = SESSIONS, transactions = TRANSACTIONS } = options
  const directory = join(options.directory, name.toLowerCase().replaceAll(' ', '-'))
  const outcome = await run({
    target: options.target(dbLevel),
    workload: { sessions, transactions, keys: 2 * Math.ceil(transactions / sessions) },
    ownWorkload: { path: 'demo', run: onCall(sessions) },
    dbLevel,
    levels: ['ser'],
    durationMs: null,
    rate: null,
    retries: 0,
    faults: NO_FAULTS,
    patienceMs: options.patienceMs,
    directory,
    check: {},
    signal: options.signal,
    onPhase: (phase) => options.onPhase(phase, name),
    onProgress: null,
    version: options.version,
    commands: options.commands,
  })
  if (outcome.stoppedBy instanceof Error) throw outcome.stoppedBy
  return outcome.judged === null ? null : { name, directory, outcome }
}

/**
 * As many transactions as there are sessions come to one pair, one after the other, whoever is
 * free: so they meet, however fast the machine is.
 */
function onCall(sessions: number) {
  let begun = 0
  return async (_session: number, _random: Random, transaction: KeyOperations): Promise<void> => {
    const mine = begun % 2
    const pair = 2 * Math.floor(begun / sessions)
    begun++
    await transaction.read(pair)
    await transaction.read(pair + 1)
    await transaction.write(pair + mine)
  }
}

function differencesOf(safe: DemoStep, unsafe: DemoStep, skew: Anomaly | null): string[] {
  const differences: string[] = []
  const held = serOf(safe)!
  if (held.verdict !== 'satisfied') {
    const why = held.anomalies.map(({ name }) => name).join(', ') || held.reason
    differences.push(`${safe.name} should be serializable, and is ${held.verdict}: ${why}`)
  }
  if (skew === null) {
    const { committed } = unsafe.outcome.summary.transactions
    differences.push(
      `${unsafe.name} should show a write skew, and showed none in ${committed} commits`,
    )
  }
  return differences
}
