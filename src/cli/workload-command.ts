// `isobar workload`: judges Jepsen's workloads that are no transactions by the invariant of each.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { InputError, UsageError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { readOperations } from '../formats/jepsen/forms.ts'
import { fileError } from '../formats/open.ts'
import { WORKLOAD_KINDS, type WorkloadOptions } from '../pipeline/jepsen-workloads/asked.ts'
import { judgeWorkload, type WorkloadVerdict } from '../pipeline/jepsen-workloads/workload.ts'
import { plain } from '../report/names.ts'
import { EXIT } from './exit-codes.ts'
import { parseChoice } from './options.ts'
import { coloursFor, print, tell } from './terminal.ts'

const MOST_TOLD = 20

interface Flags {
  kind?: string
  total?: string
  negativeBalances?: boolean
  json?: boolean
}

export function addWorkloadCommand(program: Command, done: (code: number) => void): void {
  program
    .command('workload')
    .description('judge a Jepsen history of counters, banks or monotonic values')
    .argument('<path>', 'history.edn, its store directory, or - for standard input')
    .option('--kind <name>', `${WORKLOAD_KINDS.join(', ')}; by the names of operations unless told`)
    .option('--total <n>', 'banks: what all accounts hold together, not what most reads show')
    .option('--negative-balances', 'banks: accounts may be overdrawn')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExample:\n  isobar workload store/latest --kind bank --total 100')
    .action(async (path: string, flags: Flags) => {
      const judged = judge(path, flags)
      if (flags.json) await print(`${stringify({ path, ...judged })}\n`)
      else await tell(render(path, judged))
      done(EXIT[judged.verdict])
    })
}

function judge(path: string, flags: Flags): WorkloadVerdict {
  try {
    return judgeWorkload(readOperations(bytesOf(path)), optionsOf(flags))
  } catch (error) {
    if (error instanceof InputError) error.path ??= path === '-' ? 'standard input' : path
    throw error
  }
}

function optionsOf({ kind, total, negativeBalances }: Flags): WorkloadOptions {
  if (total !== undefined && !/^-?\d{1,30}$/.test(total)) {
    throw new UsageError(`--total takes a whole number, not ${JSON.stringify(total)}`)
  }
  return {
    ...(kind === undefined ? {} : { kind: parseChoice(kind, '--kind', WORKLOAD_KINDS) }),
    ...(total === undefined ? {} : { total: BigInt(total) }),
    ...(negativeBalances ? { negativeBalances } : {}),
  }
}

function bytesOf(path: string): Uint8Array {
  try {
    const isDirectory = path !== '-' && statSync(path).isDirectory()
    const bytes = readFileSync(path === '-' ? 0 : isDirectory ? join(path, 'history.edn') : path)
    return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
  } catch (error) {
    throw fileError(error)
  }
}

function render(path: string, judged: WorkloadVerdict): string {
  const { workload, verdict, reason, reads, findings } = judged
  const { good, bad, unsure } = coloursFor(process.stdout)
  const paint = { satisfied: good, violated: bad, unknown: unsure }[verdict]
  const lines = [
    `${plain(path)} (${workload}: ${counted(reads, 'read')})`,
    `  ${paint(verdict)}${reason === null ? '' : `: ${reason}`}`,
    ...findings
      .slice(0, MOST_TOLD)
      .map((each) => `  ${each.name}, line ${each.line}: ${each.says}`),
  ]
  const left = findings.length - MOST_TOLD
  if (left > 0) lines.push(`  … and ${left} more, all of them in --json`)
  return `${lines.join('\n')}\n`
}
