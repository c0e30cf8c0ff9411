// Verdict files of others: whether they are true of a history.

import { UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { type HistoryInput, readInput } from './input.ts'
import { expectOptions, READ_OPTIONS, type ReadOptions } from './options.ts'

/**
 * What is wrong with a verdict file, in words; an empty list if every verdict in it stands. Decides
 * nothing anew: the evidence is verified step by step, and told again to see that every word of the
 * file is so. An `unknown` verdict claims nothing.
 *
 * @param verdict the text of a file that holds one verdict, or what it holds
 *
 * @example
 * const problems = await verify(history, readFileSync('verdict.json', 'utf8'))
 */
export async function verify(
  input: HistoryInput,
  verdict: string | VerdictJson,
  options: ReadOptions = {},
): Promise<string[]> {
  const given = expectOptions(options, READ_OPTIONS)
  const [{ namesWriters, verifyFile }, { parseVerdicts }] = await Promise.all([
    import('../report/verify-file.ts'),
    import('../verdict/parse-file.ts'),
  ])
  const text = typeof verdict === 'string' ? verdict : stringify(verdict)
  const [found, another] = parseVerdicts(text)
  if (another) throw new UsageError('verdict: the text holds several verdicts', 'give one of them')
  const duplicateValues = given.duplicateValues ?? namesWriters(found!.verdict)
  const history = await readInput(input, { ...given, duplicateValues })
  const verified = await verifyFile(history, found!.verdict)
  return verified.flatMap(({ result, problems }) =>
    problems.map((problem) => `${result.level}: ${problem}`),
  )
}
