// `isobar verify`: checks a verdict file against its history, without deciding anything anew.

import type { Command } from 'commander'
import { sentence } from '../base/inert.ts'
import { levelName } from '../levels/levels.ts'
import { namesWriters, verifyFile } from '../report/verify-file.ts'
import { knowsSessions } from '../verdict/level-rules.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { EXIT } from './exit-codes.ts'
import { addInputFormat, type InputFormatFlags } from './format-options.ts'
import { readInput } from './read-input.ts'
import { print } from './terminal.ts'
import { atPath, chooseVerdict, readVerdicts } from './verdict-input.ts'

interface Flags extends InputFormatFlags {
  line?: string
}

export function addVerifyCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('verify')
    .description('check a verdict written by check --certificate or --json against its history')
    .argument('<history>', 'the history that the verdict speaks of')
    .argument('<verdict>', 'the verdict')
    .option('--line <n>', 'the verdict to check, if the file has several')
  addInputFormat(command)
    .addHelpText(
      'after',
      `
The evidence is replayed step by step, and told again; no checker runs. Exit code 0: every verdict
in it stands; 1: some verdict does not follow from its evidence; 2: it holds no verdict, or is
damaged; 3: none is refuted, but some verdict is 'unknown', which nothing verifies.

Example:
  isobar check history.txt --level cc --certificate cc.json
  isobar verify history.txt cc.json`,
    )
    .action(async (history: string, verdict: string, flags: Flags) => {
      done(await verify(history, verdict, flags))
    })
}

async function verify(path: string, verdictPath: string, flags: Flags): Promise<number> {
  const file = chooseVerdict(await readVerdicts(verdictPath), flags.line)
  const { history } = await readInput(path, flags.format, undefined, namesWriters(file))
  let [refuted, unknown] = [false, false]
  const verified = await atPath(verdictPath, () => verifyFile(history, file))
  for (const { result, problems } of verified) {
    const isBare = result.verdict === 'satisfied' && result.proof === null
    const word = problems.length > 0 ? (isBare ? 'NOT PROVED' : 'REFUTED') : 'verified'
    const isUnknown = result.verdict === 'unknown'
    const isOpen = isUnknown && problems.length === 0
    await print(`${statementOf(result)}: ${isOpen ? 'nothing to verify' : word}\n`)
    for (const problem of problems) await print(`  ${sentence(problem)}\n`)
    refuted ||= problems.length > 0
    unknown ||= isUnknown
  }
  if (refuted) return EXIT.violated
  return unknown ? EXIT.unknown : EXIT.satisfied
}

/** All that a verified verdict says, so that nothing in a file passes unnoticed. */
function statementOf(result: LevelResult) {
  const { level, sessionOrder, realTime, bound, abortedReads, verdict, anomalies } = result
  const sessions = sessionOrder === false ? 'without session order' : 'with session order'
  const scope = [
    levelName(level),
    knowsSessions(level) ? sessions : 'which knows no session order',
    ...(realTime ? ['with real time'] : []),
    ...(abortedReads ? ['reads of rolled back transactions ignored'] : []),
  ]
  const names = [...new Set(anomalies.map(({ name }) => name))].join(', ')
  return `${level}${bound === undefined ? '' : `:${bound}`}: ${verdict}${names && ` by ${names}`} (${scope.join(', ')})`
}
