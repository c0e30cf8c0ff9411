// One kind of anomaly in the page: its name, what it means and what to do about it, and its
// findings, of which one is open at a time. Main function: renderGroup.

import { findTopic, type Topic } from '../../levels/glossary.ts'
import { levelName } from '../../levels/levels.ts'
import { escapeMarkup as esc } from '../escape.ts'
import type { Group } from './groups.ts'

/** @param findings the findings that are shown, as markup */
export function renderGroup(group: Group, id: string, findings: readonly string[]): string {
  const { anomaly, levels, shown, total, count } = group
  const codes = [anomaly.tap ? `pattern ${anomaly.tap}` : null, anomaly.adya]
    .filter((code) => code !== null && code !== anomaly.name)
    .join(', ')
  const names = levels.map((level) => `<b>${esc(levelName(level))}</b>`).join(', ')
  const often = count === '' ? '' : ` · found <b>${esc(count)}</b>`
  return [
    `<section class="group" id="${id}" aria-labelledby="${id}-name">`,
    `<h2 id="${id}-name">${esc(group.name)}${codes ? ` <small>${esc(codes)}</small>` : ''}</h2>`,
    `<p class="violates"><span aria-hidden="true">✗</span> violates ${names}${often}</p>`,
    anomaly.meaning ? `<p class="meaning">${esc(anomaly.meaning)}</p>` : '',
    renderAdvice(group.name),
    ...findings,
    total > shown.length
      ? `<p class="cut">${shown.length} of ${total} findings of this kind are shown; the verdict as JSON has all.</p>`
      : '',
    '</section>',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** What the glossary says for somebody whose database shows it. */
function renderAdvice(name: string): string {
  const topic: Topic | null = findTopic(name)
  if (topic?.kind !== 'anomaly') return ''
  const { harm, where, cure, sql } = topic.entry
  const facts = [
    ['What it costs', harm],
    ['Where to expect it', where],
    ['What to do', cure],
  ].map(([title, text]) => `<dt>${title}</dt><dd>${esc(text!)}</dd>`)
  const lines = sql.map(([terminal, statement]) => `${terminal}> ${statement}`).join('\n')
  const code =
    lines === ''
      ? ''
      : `<p>How it looks in SQL, each terminal by its letter:</p><pre tabindex="0" aria-label="${esc(name)} in SQL">${esc(lines)}</pre>`
  return `<details class="advice"><summary>What does this mean for me?</summary><dl class="facts">${facts.join('')}</dl>${code}</details>`
}
