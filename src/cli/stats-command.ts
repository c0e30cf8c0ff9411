// `isobar stats`: what a history is made of, before anybody judges it.

import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { InputError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { type Communication, describeCommunication } from '../check/communication.ts'
import { withRolledBack } from '../history/counts.ts'
import type { History } from '../history/history.ts'
import { describeShape, type HistoryShape } from '../history/shape.ts'
import { measureStrength, type Strength } from '../pipeline/strength/measure-strength.ts'
import { tellStrength } from '../pipeline/strength/tell-strength.ts'
import { keyOf, plain } from '../report/names.ts'
import { countHistory } from '../verdict/count-history.ts'
import { EXIT } from './exit-codes.ts'
import { addInputFormat, type InputFormatFlags } from './format-options.ts'
import { readInput } from './read-input.ts'
import { print } from './terminal.ts'

export function addStatsCommand(program: Command, done: (code: number) => void): void {
  const command = program
    .command('stats')
    .description('describe a history: size, shape, hot keys')
    .argument('<path>', 'a history, or - for standard input')
    .option('--json', 'as one JSON object')
  addInputFormat(command)
    .addHelpText('after', '\nExample:\n  isobar stats history.txt')
    .action(async (path: string, flags: InputFormatFlags & { json?: boolean }) => {
      const { history, format, bytes } = await readInput(path, flags.format)
      const shape = describeShape(history)
      const hotKeys = shape.hotKeys.map(({ key, count }) => ({ key: keyOf(history, key), count }))
      const counts = countHistory(history)
      const communication = describeCommunication(history)
      const strength = measureStrength(history)
      const conflicts = history.sql && (await countConflicts(history))
      if (flags.json) {
        const opsPerTxn = { ...shape.opsPerTxn }
        const txnsPerSession = { ...shape.txnsPerSession }
        const { width, graph } = communication
        const hardness = { width, communication: graph, ...(history.sql ? { conflicts } : {}) }
        const parts = {
          ...counts,
          ...shape,
          opsPerTxn,
          txnsPerSession,
          hotKeys,
          ...hardness,
          strength,
        }
        await print(`${stringify({ path, format: format.id, bytes, ...parts })}\n`)
      } else {
        const title = `${plain(path)} (${format.name}, ${bytes} bytes)`
        const hardness = { ...communication, conflicts, strength }
        const annotations = history.annotations.length
        await print(renderStats(title, { ...counts }, shape, hotKeys, annotations, hardness))
      }
      done(EXIT.satisfied)
    })
}

/** Rows passed over though some version of them satisfies the clause; null if one is bad. */
async function countConflicts(history: History): Promise<number | null> {
  // Loaded only here: it brings the parser of WHERE clauses.
  const { buildMixedProblem } = await import('../check/mixed/build-problem.ts')
  try {
    return buildMixedProblem(withRolledBack(history), 'ser').openCount
  } catch (error) {
    if (error instanceof InputError) return null
    throw error
  }
}

function renderStats(
  title: string,
  counts: Record<string, number>,
  shape: HistoryShape,
  hotKeys: { key: string; count: number }[],
  annotationCount: number,
  {
    width,
    isExact,
    graph,
    conflicts,
    strength,
  }: Communication & { conflicts: number | null; strength: Strength },
): string {
  const { opsPerTxn, txnsPerSession } = shape
  const rows: [string, string][] = [
    ['sessions', `${counts['sessions']} (transactions each: ${spread(txnsPerSession)})`],
    [
      'transactions',
      `${counts['transactions']} (${counts['committed']} committed, ${counts['aborted']} aborted, ${counts['indeterminate']} indeterminate)`,
    ],
    ['operations', `${counts['operations']} (per transaction: ${spread(opsPerTxn)})`],
    [
      '',
      [
        counted(shape.reads, 'read'),
        counted(shape.writes, 'write'),
        counted(shape.appends, 'append'),
      ].join(', '),
    ],
    ...(shape.statements ? [['statements', listCounts(shape.statements)] as [string, string]] : []),
    ['keys', `${counts['keys']}`],
    [
      'hottest',
      hotKeys.map(({ key, count }) => `${key} (${counted(count, 'operation')})`).join(', '),
    ],
    ['shape', shape.shape],
    [
      'times',
      shape.timed ? 'start and finish of every transaction that counts' : 'none or partial',
    ],
  ]
  rows.push(
    [
      'width',
      `${isExact ? '' : 'at most '}${counted(width, 'session')} in which a transaction counts`,
    ],
    [
      'communication',
      `${graph.edges === null ? 'too many pairs' : counted(graph.edges, 'pair')} of sessions share a key; ${graph.components} connected, ` +
        `${counted(graph.blocks, 'biconnected component')}, the largest of ${counted(graph.largestBlock, 'session')}`,
    ],
  )
  if (shape.statements) {
    const count = conflicts ?? 'not known: a clause is not supported, as isobar check says'
    rows.push(['conflicts', `${count}`])
  }
  if (annotationCount > 0) rows.push(['annotations', `${annotationCount}`])
  const [raced = '', ...occasions] = tellStrength(strength)
  rows.push(['raced', raced], ...occasions.map((line): [string, string] => ['', line]))
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
