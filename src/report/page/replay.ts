// The replay of a finding in the page: every step in words, which the script turns into a slider
// with what each transaction saw and what is committed at that step. Main function: renderReplay.

import { escapeMarkup as esc } from '../escape.ts'
import type { Replay } from '../replay.ts'

export function renderReplay(replay: Replay, id: string): string {
  const order = replay.timed
    ? 'Operations are spread evenly between the recorded start and finish of their transaction.'
    : 'Nobody recorded when things happened: this is one order that fits what was read.'
  const items = replay.steps.map(
    ({ text, note }) => `<li>${esc(text)}${note ? ` <span>(${esc(note)})</span>` : ''}</li>`,
  )
  const left =
    replay.left > 0 ? `<p class="cut">${replay.left} further steps are left out.</p>` : ''
  return [
    `<div class="replay" id="${id}">`,
    '<h4>Replay</h4>',
    `<p class="meaning">${order}</p>`,
    `<details class="replay-steps" open><summary>All ${replay.steps.length} steps</summary><ol>${items.join('')}</ol></details>`,
    left,
    '</div>',
  ].join('\n')
}
