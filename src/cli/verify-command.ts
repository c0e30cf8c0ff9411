// `isobar verify`: checks a certificate against its history, without deciding anything anew.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { InputError } from '../base/errors.ts'
import { sentence } from '../base/inert.ts'
import { needsMixed } from '../check/judge.ts'
import { fileError } from '../formats/open.ts'
import type { History } from '../history/history.ts'
import { levelName } from '../levels/levels.ts'
import { parseCertificate } from '../verdict/certificate-file.ts'
import { certifyResult } from '../verdict/certify.ts'
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
1: some verdict does not follow from its evidence.

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
  let code: number = EXIT.satisfied
  for (const result of results) {
    const problems = await certify(history, result)
    const word = problems.length === 0 ? 'verified' : 'REFUTED'
    const scope = result.abortedReads ? ', reads of rolled back transactions ignored' : ''
    await print(
      `${result.level}: ${result.verdict} (${levelName(result.level)}${scope}): ${word}\n`,
    )
    for (const problem of problems) await print(`  ${sentence(problem)}\n`)
    if (problems.length > 0) code = EXIT.violated
  }
  if (results.length === 0) await print('the certificate holds no verdict\n')
  return code
}

/** What needs a SQL parser is loaded only where there is SQL, or a level for each transaction. */
async function certify(history: History, result: LevelResult): Promise<string[]> {
  if (!needsMixed(history, [result])) return certifyResult(history, result)
  const { certifyMixed } = await import('../verdict/certify-mixed.ts')
  return certifyMixed(history, result)
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
