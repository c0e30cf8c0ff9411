// `isobar stats`: what a history is made of, before anybody judges it.

import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { InputError } from '../base/errors.ts'
import { stringify } from '../base/json.ts'
import { describeCommunication } from '../check/communication.ts'
import { withRolledBack } from '../history/counts.ts'
import type { History } from '../history/history.ts'
import { describeShape } from '../history/shape.ts'
import { measureStrength } from '../pipeline/strength/measure-strength.ts'
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
      const stats = await describe(history)
      if (flags.json) {
        const { counts, shape, hotKeys, communication, conflicts, strength } = stats
        const { width, graph } = communication
        const hardness = { width, communication: graph, ...(history.sql ? { conflicts } : {}) }
        const parts = { ...counts, ...shape, hotKeys, ...hardness, strength }
        await print(`${stringify({ path, format: format.id, bytes, ...parts })}\n`)
      } else {
        await print(`${plain(path)} (${format.name}, ${bytes} bytes)\n${renderStats(stats)}`)
      }
      done(EXIT.satisfied)
    })
}

async function describe(history: History) {
  const shape = describeShape(history)
  return {
    counts: countHistory(history),
    shape,
    hotKeys: shape.hotKeys.map(({ key, count }) => ({ key: keyOf(history, key), count })),
    annotations: history.annotations.length,
    communication: describeCommunication(history),
    conflicts: history.sql && (await countConflicts(history)),
    strength: measureStrength(history),
  }
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

type Stats = Awaited<ReturnType<typeof describe>>

function renderStats({ counts, shape, hotKeys, annotations, ...hardness }: Stats): string {
  const { communication, conflicts, strength } = hardness
  const { width, isExact, graph } = communication
  const { reads, writes, appends, statements } = shape
  let text = ''
  const row = (name: string, what: string | number) => {
    text += `  ${name.padEnd(13)} ${what}\n`
  }
  const { committed, aborted, indeterminate } = counts
  const ends = `${committed} committed, ${aborted} aborted, ${indeterminate} indeterminate`
  row('sessions', `${counts.sessions} (transactions each: ${spread(shape.txnsPerSession)})`)
  row('transactions', `${counts.transactions} (${ends})`)
  row('operations', `${counts.operations} (per transaction: ${spread(shape.opsPerTxn)})`)
  row('', `${counted(reads, 'read')}, ${counted(writes, 'write')}, ${counted(appends, 'append')}`)
  if (statements) row('statements', listCounts(statements))
  row('keys', counts.keys)
  const hottest = hotKeys.map(({ key, count }) => `${key} (${counted(count, 'operation')})`)
  row('hottest', hottest.join(', '))
  row('shape', shape.shape)
  const timed = 'start and finish of every transaction that counts'
  row('times', shape.timed ? timed : 'none or partial')
  const wide = `${isExact ? '' : 'at most '}${counted(width, 'session')}`
  row('width', `${wide} in which a transaction counts`)
  const pairs = graph.edges === null ? 'too many pairs' : counted(graph.edges, 'pair')
  const blocks = `${graph.components} connected, ${counted(graph.blocks, 'biconnected component')}`
  const largest = `the largest of ${counted(graph.largestBlock, 'session')}`
  row('communication', `${pairs} of sessions share a key; ${blocks}, ${largest}`)
  const unknown = 'not known: a clause is not supported, as isobar check says'
  if (statements) row('conflicts', conflicts ?? unknown)
  if (annotations > 0) row('annotations', annotations)
  const [raced = '', ...occasions] = tellStrength(strength)
  row('raced', raced)
  for (const line of occasions) row('', line)
  return text
}

/** `3 select, 1 update`. */
function listCounts(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  return parts.map(([name, count]) => `${count} ${name}`).join(', ') || 'none'
}

function spread({ min, median, max }: { min: number; median: number; max: number }): string {
  return `${min} to ${max}, median ${median}`
}
