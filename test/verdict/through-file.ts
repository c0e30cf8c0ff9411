// Verdicts written to a file and read back, as `check --certificate` and `verify` do.

import { stringify } from '../../src/base/json.ts'
import type { History } from '../../src/history/history.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import { resolveResults } from '../../src/verdict/resolve-file.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'

const CONTEXT = { path: 'h', format: 'native', parseMs: 0 }

export function writeFile(history: History, results: readonly LevelResult[]): string {
  return stringify(describeVerdict(history, results, CONTEXT))
}

export function readFile(text: string): VerdictJson {
  return parseVerdicts(text)[0]!.verdict
}

/** @param edit what a forger does to the text */
export function throughFile(
  history: History,
  results: readonly LevelResult[],
  edit: (text: string) => string = (text) => text,
): LevelResult[] {
  return resolveResults(history, readFile(edit(writeFile(history, results))))
}
