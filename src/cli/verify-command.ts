// `isobar verify`: checks a certificate against its history, without deciding anything anew.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { InputError } from '../base/errors.ts'
import { sentence } from '../base/inert.ts'
import { fileError } from '../formats/open.ts'
import { levelName } from '../levels/levels.ts'
import { parseCertificate } from '../verdict/certificate-file.ts'
import { certifyResult } from '../verdict/certify.ts'
import { knowsSessions } from '../verdict/level-rules.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { EXIT } from './exit-codes.ts'
import { readInput } from './read-input.ts'
import { print } from './terminal.ts'

export function addVerifyCommand(program: Command, done: (code: number) => void): void {
  program
    .command('verify')
    .description('check a certificate written by check --certificate against its history')
    .argument('<history>', 'the history the certificate speaks of')
    .argument('<certificate>', 'the certificate')
    .option('-f, --format <id>', 'input format of the history; else by content')
    .addHelpText(
      'after',
      `
The certificate is replayed step by step; no checker runs. Exit code 0: every verdict in it stands;
1: some verdict does not follow from its evidence; 2: it holds no verdict, or is damaged; 3: none is
refuted, but some verdict is 'unknown', which nothing verifies.

Example:
  isobar check history.txt --level cc --certificate cc.json
  isobar verify history.txt cc.json`,
    )
    .action(async (history: string, certificate: string, flags: { format?: string }) => {
      done(await verify(history, certificate, flags.format))
    })
}

async function verify(path: string, certificatePath: string, format?: string): Promise<number> {
  const { history } = await readInput(path, format)
  const results = readCertificate(certificatePath, (text) => parseCertificate(text, history))
  let [refuted, unknown] = [false, false]
  for (const result of results) {
    const problems = await certifyResult(history, result)
    const word = problems.length > 0 ? 'REFUTED' : 'verified'
    const isUnknown = result.verdict === 'unknown'
    await print(`${statementOf(result)}: ${isUnknown ? 'nothing to verify' : word}\n`)
    for (const problem of problems) await print(`  ${sentence(problem)}\n`)
    refuted ||= problems.length > 0
    unknown ||= isUnknown
  }
  if (refuted) return EXIT.violated
  return unknown ? EXIT.unknown : EXIT.satisfied
}

/** All that a verified verdict says, so that nothing in a certificate passes unnoticed. */
function statementOf({ level, sessionOrder, abortedReads, verdict, anomalies }: LevelResult) {
  const sessions = sessionOrder === false ? 'without session order' : 'with session order'
  const scope = [
    levelName(level),
    knowsSessions(level) ? sessions : 'which knows no session order',
    ...(abortedReads ? ['reads of rolled back transactions ignored'] : []),
  ]
  const names = [...new Set(anomalies.map(({ name }) => name))].join(', ')
  return `${level}: ${verdict}${names && ` by ${names}`} (${scope.join(', ')})`
}

function readCertificate<T>(path: string, parse: (text: string) => T): T {
  try {
    return parse(readText(path))
  } catch (error) {
    if (error instanceof InputError) error.path ??= path
    throw error
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fileError(error)
  }
}
