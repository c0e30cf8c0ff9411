// A word of the glossary as a page teaches it: the words of `isobar explain`, the statements in a
// column for each terminal, and which levels forbid it, as judged. Main function: renderTopic.

import { hyphened, type Topic } from '../../levels/glossary.ts'
import type { Lesson } from '../../levels/lesson.ts'
import { CHAIN, implies, type LevelId, levelName, PROFILE } from '../../levels/levels.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { topicLead, topicParts, topicTitle } from '../explain.ts'
import { renderAxiom } from '../picture/axiom-svg.ts'

/** @param forbidding the levels that its history violates; null if that is not known yet */
export function renderTopic(topic: Topic, forbidding: readonly LevelId[] | null): string {
  const parts = topicParts(topic, forbidding ?? []).filter(
    ({ title, isCode }) => !isCode && title !== 'Forbidden by',
  )
  const words = parts.map(
    ({ title, lines }) => `<h2>${esc(title)}</h2><p>${esc(lines.join(' '))}</p>`,
  )
  const lead = `<h1>${esc(topicTitle(topic))}</h1><p class="lead">${esc(topicLead(topic))}</p>`
  if (topic.kind === 'level') return [lead, ...words, renderAxiom(topic.entry.id)].join('\n')
  const { entry } = topic
  return [
    lead,
    renderForbidding(forbidding),
    renderStatements(entry),
    `<h2>${topic.kind === 'case' ? 'The history' : 'A history that shows it'}</h2><pre id="topic-history" tabindex="0">${esc(entry.history)}</pre>`,
    `<p class="tools"><button type="button" data-copy="topic-history">Copy</button> <a id="topic-open" href="./index.html">Open it in the editor</a> <span class="tip">or <code>isobar explain ${esc(hyphened(entry.name))} --history</code></span></p>`,
    ...words,
  ].join('\n')
}

/** Every level of the profile, whether it forbids or allows it. */
function renderForbidding(forbidding: readonly LevelId[] | null): string {
  if (forbidding === null) return '<p id="topic-levels" class="levels-said">Judging …</p>'
  const weakest = CHAIN.findIndex((level) => forbidding.includes(level))
  const isForbidden = (level: LevelId) =>
    forbidding.includes(level) || (weakest >= 0 && implies(level, CHAIN[weakest]!))
  const beside = forbidding.filter((level) => !PROFILE.includes(level))
  const items = [...PROFILE, ...beside].map((level) => {
    const [name, word, sign] = isForbidden(level)
      ? ['violated', 'forbids it', '✗']
      : ['satisfied', 'allows it', '✓']
    return `<li class="rung ${name}"><span class="sign" aria-hidden="true">${sign}</span><b>${level}</b> <span class="level">${esc(levelName(level))}</span><span class="word">${word}</span></li>`
  })
  return `<ol id="topic-levels" class="ladder" aria-label="Levels that forbid it and levels that allow it, weakest first">${items.join('')}</ol>`
}

/** From top to bottom as they run, each in the column of its terminal. */
function renderStatements({ sql }: Lesson): string {
  if (sql.length === 0) return ''
  const terminals = [...new Set(sql.map(([terminal]) => terminal))].sort()
  const head = terminals.map((terminal) => `<th scope="col">Terminal ${terminal}</th>`).join('')
  const rows = sql.map(([at, statement]) => {
    const [code, said] = splitComment(statement)
    const note = said === '' ? '' : ` <span class="said">${esc(said)}</span>`
    const cells = terminals.map((each) =>
      each === at ? `<td><code>${esc(code)}</code>${note}</td>` : '<td></td>',
    )
    return `<tr>${cells.join('')}</tr>`
  })
  return `<h2>In SQL</h2><div class="wide" tabindex="0" role="region" aria-label="Statements of each terminal"><table class="terminals"><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function splitComment(statement: string): [code: string, said: string] {
  const at = statement.indexOf('  -- ')
  return at < 0 ? [statement, ''] : [statement.slice(0, at), statement.slice(at + 5)]
}
