// What a database really gives, as a page: a matrix of schedules and levels, in which every cell
// leads to the schedule as it went there: a column a transaction, a row a step, and what was
// recorded. No script: the target of a link is what is shown. Main function: renderConformancePage.

import { levelName } from '../../levels/levels.ts'
import {
  type Conformance,
  isBroken,
  isTakenBack,
  type LevelOutcome,
  type Outcome,
} from '../../verdict/conformance.ts'
import { compared, differences, gets, tellNodes } from '../conformance-text.ts'
import { escapeMarkup as esc, escapeAttribute } from '../escape.ts'
import { type PageAssets, renderDocument } from './document.ts'

/** What the matrix needs beside the style sheet of all pages. */
export const CONFORMANCE_STYLE = `
.matrix { border-collapse: collapse; }
.matrix th, .matrix td { text-align: left; vertical-align: top; }
.matrix th, .matrix td { padding: .25rem .6rem; border: 1px solid var(--line); }
.matrix td.kept a { color: var(--good); }
.matrix td.broken a { color: var(--bad); font-weight: 700; }
.matrix td.apart { color: var(--faint); }
.matrix-scroll { overflow-x: auto; }
.schedule { display: none; }
.schedule:target { display: block; }
.waits { color: var(--unsure); }
`

export function renderConformancePage(found: Conformance, assets: PageAssets): string {
  const { database, place, levels } = found
  const weaker = levels.filter(({ isWeaker }) => isWeaker)
  const title =
    weaker.length === 0
      ? `${database} gives what it promises`
      : `${database}: ${weaker.map(({ name }) => name).join(', ')} ${weaker.length === 1 ? 'is' : 'are'} weaker than promised`
  const body = [
    `<header><p class="question">What does one really get at each level of ${esc(database)}?</p><h1>${esc(title)}</h1>`,
    `<p class="source"><code>${esc(place)}</code></p>`,
    ...tellNodes(found).map((text) => `<p>${esc(text)}</p>`),
    '</header>',
    '<main>',
    renderLevels(levels),
    '<h2 id="matrix">What happened</h2>',
    '<p>Every schedule that was played opens. A cell names what went wrong and the weakest level that it violates.</p>',
    renderMatrix(levels),
    ...levels.flatMap((level, i) => level.outcomes.map((outcome) => renderPlay(outcome, level, i))),
    '</main>',
  ]
  return renderDocument({ title, styles: [assets.style, CONFORMANCE_STYLE], body }, assets)
}

function renderLevels(levels: readonly LevelOutcome[]): string {
  const rows = levels.map((level) => {
    const told = differences(level).map((text) => `<br><small>${esc(text)}</small>`)
    return `<tr><th scope="row">${esc(level.name)}</th><td>${esc(gets(level))}</td><td>${esc(compared(level))}${told.join('')}</td></tr>`
  })
  return `<div class="matrix-scroll" tabindex="0" role="region" aria-label="Levels"><table class="matrix"><thead><tr><th scope="col">asked for</th><th scope="col">one gets</th><th scope="col">promised</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function renderMatrix(levels: readonly LevelOutcome[]): string {
  const heads = levels.map(({ name }) => `<th scope="col">${esc(name)}</th>`)
  const rows = (levels[0]?.outcomes ?? []).map(({ schedule }, row) => {
    const cells = levels.map((level, i) => renderCell(level.outcomes[row]!, level, i))
    const head = `${esc(schedule.name)}<br><span>${esc(schedule.about)}</span>`
    return `<tr><th scope="row">${head}</th>${cells.join('')}</tr>`
  })
  return `<div class="matrix-scroll" tabindex="0" role="region" aria-label="Schedules and levels"><table class="matrix"><thead><tr><th scope="col">schedule</th>${heads.join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

function renderCell(outcome: Outcome, { promised }: LevelOutcome, level: number): string {
  if (outcome.notPlayed !== null) {
    return `<td class="apart" title="${escapeAttribute(outcome.notPlayed)}">does not apply</td>`
  }
  const kind =
    outcome.violated === null ? 'kept' : isBroken(outcome, promised) ? 'broken' : 'allowed'
  return `<td class="${kind}"><a href="#${idOf(outcome, level)}">${esc(told(outcome))}</a></td>`
}

function told({ violated, anomalies }: Outcome): string {
  return violated === null ? 'nothing shown' : `${anomalies.join(', ')} (${violated})`
}

function idOf({ schedule }: Outcome, level: number): string {
  return `${schedule.id}-${level + 1}`
}

/** The schedule as it went: time goes down, a column a transaction. */
function renderPlay(outcome: Outcome, level: LevelOutcome, i: number): string {
  const { schedule, steps, ends, violated, departure } = outcome
  if (outcome.notPlayed !== null) return ''
  const heads = ends.map((end, txn) => `<th scope="col">T${txn + 1} <span>${esc(end)}</span></th>`)
  const rows = steps.map(({ txn, text, answer, waited }) => {
    const waits = waited ? ' <span class="waits">waits, then</span>' : ''
    const cell = `<td><code>${esc(text)}</code>${waits} → ${esc(answer)}</td>`
    return `<tr>${ends.map((_, other) => (other + 1 === txn ? cell : '<td></td>')).join('')}</tr>`
  })
  const verdict =
    violated === null
      ? 'What its clients saw is serializable.'
      : `What its clients saw violates ${levelName(violated)} (${violated}): ${outcome.anomalies.join(', ')}.`
  const documented =
    departure !== null && isTakenBack(outcome, level.promised)
      ? `<p>Its documentation says so: ${esc(departure.words)} (<code>${esc(departure.source)}</code>).</p>`
      : ''
  return [
    `<section class="schedule" id="${idOf(outcome, i)}">`,
    `<h2>${esc(`${schedule.name} at ${level.name}: ${told(outcome)}`)}</h2>`,
    `<p>${esc(schedule.about)}. ${esc(verdict)}</p>`,
    documented,
    `<div class="matrix-scroll" tabindex="0" role="region" aria-label="Steps"><table class="matrix"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
    `<details><summary>what was recorded, for <code>isobar check</code></summary><pre>${esc(outcome.history)}</pre></details>`,
    '<p><a href="#matrix">back to the matrix</a></p>',
    '</section>',
  ]
    .filter((line) => line !== '')
    .join('\n')
}
