// `isobar stats`: what a history is made of, before anybody judges it.

import type { Command } from 'commander'
import { describeShape, type HistoryShape } from '../history/shape.ts'
import { stringify } from '../report/json.ts'
import { keyOf, plain } from '../report/names.ts'
import { countHistory } from '../report/summary.ts'
import { EXIT } from './exit-codes.ts'
import { readInput } from './read-input.ts'
import { print } from './terminal.ts'

export function addStatsCommand(program: Command, done: (code: number) => void): void {
  program
    .command('stats')
    .description('describe a history: size, shape, hot keys')
    .argument('<path>', 'a history, or - for standard input')
    .option('-f, --format <id>', 'input format; else by content')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExample:\n  isobar stats history.txt')
    .action(async (path: string, flags: { format?: string; json?: boolean }) => {
      const { history, format, bytes } = await readInput(path, flags.format)
      const shape = describeShape(history)
      const hotKeys = shape.hotKeys.map(({ key, count }) => ({ key: keyOf(history, key), count }))
      const counts = countHistory(history)
      if (flags.json) {
        const opsPerTxn = { ...shape.opsPerTxn }
        const txnsPerSession = { ...shape.txnsPerSession }
        const parts = { ...counts, ...shape, opsPerTxn, txnsPerSession, hotKeys }
        await print(`${stringify({ path, format: format.id, bytes, ...parts })}\n`)
      } else {
        const title = `${plain(path)} (${format.name}, ${bytes} bytes)`
        await print(renderStats(title, { ...counts }, shape, hotKeys, history.annotations.length))
      }
      done(EXIT.satisfied)
    })
}

function renderStats(
  title: string,
  counts: Record<string, number>,
  shape: HistoryShape,
  hotKeys: { key: string; count: number }[],
  annotationCount: number,
): string {
  const { opsPerTxn, txnsPerSession } = shape
  const rows: [string, string][] = [
    ['sessions', `${counts['sessions']} (transactions each: ${spread(txnsPerSession)})`],
    [
      'transactions',
      `${counts['transactions']} (${counts['committed']} committed, ${counts['aborted']} aborted, ${counts['indeterminate']} indeterminate)`,
    ],
    ['operations', `${counts['operations']} (per transaction: ${spread(opsPerTxn)})`],
    ['', `${shape.reads} reads, ${shape.writes} writes, ${shape.appends} appends`],
    ...(shape.statements ? [['statements', listCounts(shape.statements)] as [string, string]] : []),
    ['keys', `${counts['keys']}`],
    ['hottest', hotKeys.map(({ key, count }) => `${key} (${count} operations)`).join(', ')],
    ['shape', shape.shape],
    [
      'times',
      shape.timed ? 'start and finish of every transaction that counts' : 'none or partial',
    ],
  ]
  if (annotationCount > 0) rows.push(['annotations', `${annotationCount}`])
  return `${title}\n${rows.map(([name, text]) => `  ${name.padEnd(13)} ${text}`).join('\n')}\n`
}

/** `3 select, 1 update`. */
function listCounts(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  return parts.map(([name, count]) => `${count} ${name}`).join(', ') || 'none'
}

function spread({ min, median, max }: { min: number; median: number; max: number }): string {
  return `${min} to ${max}, median ${median}`
}
