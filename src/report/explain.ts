// What a level, an anomaly or a small history is, in words, for the terminal and for
// docs/glossary.md: one text in two dresses. Which levels forbid it is not claimed here but handed
// in, as judged on its history. Main functions: explainText, explainMarkdown, topicParts.

import { letterOf } from '../levels/anomalies.ts'
import { hyphened, nameOf, type Topic } from '../levels/glossary.ts'
import { CHAIN, type LevelId, levelName, PROFILE } from '../levels/levels.ts'

/** The levels that the history of an anomaly violates. */
export type Forbidding = (topic: Topic) => readonly LevelId[]

export interface Part {
  readonly title: string
  readonly lines: readonly string[]
  readonly isCode?: boolean
}

export function explainText(topic: Topic, forbidding: readonly LevelId[]): string {
  const lines = [topicTitle(topic), `  ${topicLead(topic)}`]
  for (const { title, lines: body, isCode } of topicParts(topic, forbidding)) {
    lines.push('', title)
    for (const line of body) lines.push(isCode ? `    ${line}` : `  ${line}`)
  }
  return `${lines.join('\n')}\n`
}

export function explainMarkdown(topic: Topic, forbidding: readonly LevelId[]): string {
  const lines = [`### ${topicTitle(topic)}`, '', topicLead(topic), '']
  for (const { title, lines: body, isCode } of topicParts(topic, forbidding)) {
    if (isCode) lines.push(`${title}:`, '', '```', ...body, '```', '')
    else lines.push(`**${title}.** ${body.join(' ')}`, '')
  }
  return lines.join('\n')
}

/** `LostUpdate (G-single)`; `si: Snapshot Isolation`. */
export function topicTitle(topic: Topic): string {
  if (topic.kind === 'level') return `${topic.entry.id}: ${topic.level.name}`
  if (topic.kind === 'case') return topic.entry.title
  const { adya } = topic.anomaly
  const tap = letterOf(topic.anomaly)
  const codes = [tap && `pattern ${tap}`, adya].filter((code) => code !== null)
  return `${nameOf(topic)}${codes.length > 0 ? ` (${codes.join(', ')})` : ''}`
}

/** What it is, in a sentence. */
export function topicLead(topic: Topic): string {
  if (topic.kind === 'level') return topic.entry.promise
  return topic.kind === 'case' ? topic.entry.meaning : topic.anomaly.meaning
}

/** What there is to say, in its order. */
export function topicParts(topic: Topic, forbidding: readonly LevelId[]): Part[] {
  if (topic.kind === 'level') {
    const { entry, level } = topic
    const at = CHAIN.indexOf(entry.id)
    const weaker = at > 0 ? CHAIN.slice(0, at).map(levelName) : []
    return [
      {
        title: 'In one clause',
        lines: [`${level.meaning[0]!.toUpperCase()}${level.meaning.slice(1)}.`],
      },
      { title: 'What may still happen', lines: [entry.allows] },
      { title: 'Where', lines: [entry.where] },
      ...(weaker.length > 0 ? [{ title: 'Includes', lines: [`${weaker.join(', ')}.`] }] : []),
    ]
  }
  const { entry } = topic
  const sql = entry.sql.map(([terminal, statement]) => `${terminal}> ${statement}`)
  const asked = entry.level === undefined ? '' : ` --level ${entry.level}`
  return [
    ...(topic.kind === 'case'
      ? [{ title: 'Where one goes wrong', lines: [topic.entry.trap] }]
      : []),
    { title: 'What it costs', lines: [entry.harm] },
    ...(sql.length > 0
      ? [{ title: 'In SQL, each terminal by its letter', lines: sql, isCode: true }]
      : []),
    {
      title: `A history that shows it (isobar explain ${hyphened(entry.name)} --history | isobar check -${asked})`,
      lines: entry.history.split('\n'),
      isCode: true,
    },
    { title: 'Forbidden by', lines: [forbiddenBy(forbidding)] },
    { title: 'Where to expect it', lines: [entry.where] },
    { title: 'What to do', lines: [entry.cure] },
  ]
}

/** The weakest levels that forbid it: what includes one of them forbids it too. */
function forbiddenBy(levels: readonly LevelId[]): string {
  const weakest = CHAIN.find((level) => levels.includes(level))
  const named = PROFILE.filter(
    (level) => level === weakest || (level === 'ci' && levels.includes(level)),
  )
  const includes =
    weakest === undefined || weakest === CHAIN.at(-1) ? '' : ', and every stronger level'
  if (named.length === 0) return 'None.'
  return `${named.map(levelName).join(', ')}${includes}.`
}
