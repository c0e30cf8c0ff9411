// What the fuzzer runs: a property is a rule that holds for every seed. It gets the checker as an
// argument, so that a broken one can be held against it (canary.test.ts).

import { checkLevels } from '../../src/check/check.ts'
import type { CheckOptions } from '../../src/check/options.ts'
import type { History } from '../../src/history/history.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import { ORACLE_LEVELS, type OracleLevel, type Verdict } from '../small/oracle.ts'

/** The verdict of every level of ORACLE_LEVELS, in that order. */
export type Judge = (history: History, options?: CheckOptions) => readonly LevelResult[]

export interface Property {
  readonly name: string
  /** What went wrong with this seed, in words and notation; null if nothing did. */
  readonly run: (seed: number, judge: Judge) => string | null | Promise<string | null>
  /** What the runs so far came to, in figures. */
  readonly told?: () => string
  /** Called when no more runs follow. */
  readonly close?: () => Promise<void>
}

/** The checker as it is; every verdict is certified on the way. */
export const judgeAll: Judge = (history, options) => {
  const results = checkLevels(history, ORACLE_LEVELS, options)
  for (const { level, verdict, certificate } of results) {
    if (verdict === 'unknown' || certificate?.verified === true) continue
    throw new Error(`${level} is ${verdict} without a verified certificate`)
  }
  return results
}

/** One level after another of the same history costs one judgement. */
export function deciderOf(judge: Judge): (history: History, level: OracleLevel) => Verdict {
  let judged: History | null = null
  let results: readonly LevelResult[] = []
  return (history, level) => {
    if (history !== judged) results = judge(history)
    judged = history
    return results[ORACLE_LEVELS.indexOf(level)]!.verdict
  }
}
