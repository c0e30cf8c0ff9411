// `isobar explain`: what a level, an anomaly or a small history means, with a history to try.

import type { Command } from 'commander'
import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { findTopic, hyphened, nameOf, TOPICS, type Topic, topicNames } from '../levels/glossary.ts'
import { findForbidding } from '../pipeline/forbidding.ts'
import { explainText, topicLead } from '../report/explain.ts'
import { EXIT } from './exit-codes.ts'
import { print } from './terminal.ts'

interface Flags {
  history?: boolean
}

export function addExplainCommand(program: Command, done: (code: number) => void): void {
  program
    .command('explain')
    .description('say what a level or an anomaly means, what it costs, and what to do about it')
    .argument('[name]', 'e.g. write-skew, LostUpdate, G-single, j, si, "snapshot isolation"')
    .option('--history', 'print only a history that shows the anomaly')
    .addHelpText(
      'after',
      `
Examples:
  isobar explain                                       all there is to explain
  isobar explain write-skew                            what it is, in SQL, and the cure
  isobar explain write-skew --history | isobar check - judge it
  isobar explain si                                    what snapshot isolation promises`,
    )
    .action(async (name: string | undefined, flags: Flags) => {
      await print(await explain(name, flags))
      done(EXIT.satisfied)
    })
}

async function explain(name: string | undefined, { history }: Flags): Promise<string> {
  if (name === undefined) {
    if (history)
      throw new UsageError(
        '--history of which anomaly?',
        'e.g. isobar explain write-skew --history',
      )
    return renderList()
  }
  const topic = findTopic(name)
  if (topic === null) {
    throw new UsageError(`nothing is known of ${JSON.stringify(name)}`, hintFor(name, topicNames()))
  }
  if (!history) return explainText(topic, await findForbidding(topic))
  if (topic.kind !== 'level') return `${topic.entry.history}\n`
  throw new UsageError(`${topic.entry.id} is a level: only anomalies and small histories have one`)
}

function renderList(): string {
  const lines = ['Levels, weakest first:']
  const list = (kind: Topic['kind']) => {
    for (const topic of TOPICS.filter((each) => each.kind === kind)) {
      lines.push(`  ${hyphened(nameOf(topic)).padEnd(28)}${topicLead(topic)}`)
    }
  }
  list('level')
  lines.push('', 'Anomalies:')
  list('anomaly')
  lines.push('', 'Small histories on which one goes wrong:')
  list('case')
  return `${lines.join('\n')}\n`
}
