// The order in which the statements of a race ran, and what was tried against what they did: the
// part of a report that only a race has. Main function: renderSchedule.

import { escapeMarkup as esc } from '../escape.ts'

/** A run of a race in words. */
export interface ToldSchedule {
  /** How much of all that matters was run. */
  readonly coverage: string
  readonly turns: readonly ToldTurn[]
  /** What else is to be known: how actors ended, what was not recorded. */
  readonly notes: readonly string[]
  readonly cures: readonly ToldCure[]
}

/** One statement. */
export interface ToldTurn {
  readonly actor: string
  readonly statement: string
  readonly answer: string
}

export interface ToldCure {
  readonly name: string
  readonly helps: boolean
  /** By how many schedules that is shown, and what it costs. */
  readonly facts: string
}

const HELPS = '<b class="helps"><span aria-hidden="true">✓</span> helps</b>'
const FAILS = '<b class="fails"><span aria-hidden="true">✗</span> does not help</b>'

export function renderSchedule({ coverage, turns, notes, cures }: ToldSchedule): string {
  const rows = turns.map(
    ({ actor, statement, answer }, i) =>
      `<tr><td>${i + 1}</td><th scope="row">${esc(actor)}</th><td><code>${esc(statement)}</code></td><td>${esc(answer)}</td></tr>`,
  )
  return [
    '<section class="schedule" aria-labelledby="schedule-name">',
    '<h2 id="schedule-name">The schedule</h2>',
    `<p>${esc(coverage)}</p>`,
    '<div class="wide" role="region" aria-label="Statements in their order" tabindex="0"><table>',
    '<thead><tr><th scope="col">#</th><th scope="col">Actor</th><th scope="col">Statement</th><th scope="col">What came back</th></tr></thead>',
    `<tbody>${rows.join('\n')}</tbody>`,
    '</table></div>',
    ...notes.map((note) => `<p>${esc(note)}</p>`),
    renderCures(cures),
    '</section>',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function renderCures(cures: readonly ToldCure[]): string {
  if (cures.length === 0) return ''
  const items = cures.map(
    ({ name, helps, facts }) =>
      `<li>${helps ? HELPS : FAILS}: <code>${esc(name)}</code>, ${esc(facts)}</li>`,
  )
  return [
    '<h3>What helps, tried on the same actors</h3>',
    `<ul class="cures">${items.join('\n')}</ul>`,
  ].join('\n')
}
