// How the verdict came about: a line a level with algorithm, time and certificate; the command that
// gives it again; what a verdict means and what it does not.

import { levelName } from '../../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { scopeOf } from '../scope.ts'

export function renderAbout(verdict: VerdictJson): string {
  return [
    '<section class="about" aria-labelledby="about-name">',
    '<h2 id="about-name">How this was decided</h2>',
    renderTable(verdict),
    renderCommand(verdict),
    '<p>Satisfied means: this history could have come from a database at that level. It does not prove that the database always behaves so. Violated means: no order of the transactions whatever explains it. Unknown is neither.</p>',
    '</section>',
  ].join('\n')
}

function renderTable(verdict: VerdictJson): string {
  const rows = verdict.results.map((result) => {
    const cells = [
      `<th scope="row">${result.level} <span>${esc(`${levelName(result.level)}${scopeOf(result)}`)}</span></th>`,
      `<td class="${result.verdict}">${result.verdict}</td>`,
      `<td>${esc(result.algorithm)}</td>`,
      `<td class="number">${result.elapsedMs} ms</td>`,
      `<td>${esc(certificateOf(result))}</td>`,
    ]
    return `<tr>${cells.join('')}</tr>`
  })
  const heads = ['level', 'verdict', 'algorithm', 'time', 'certificate']
  return `<div class="wide" tabindex="0" role="region" aria-label="Levels and how they were decided"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

const CERTIFICATES: Record<string, string> = {
  'commit-order': 'an order of commits',
  snapshots: 'an order of snapshots and commits',
  witness: 'an order of commits, and whose versions were not returned',
  cycle: 'cycles, edge by edge',
  reads: 'the reads themselves',
  cases: 'a case split, case by case',
}

function certificateOf({ certificate, verdict, witness }: ResultJson): string {
  if (!certificate) return verdict === 'unknown' ? '' : 'not asked for'
  const rows = witness ? ` (${witness.passedOver} rows)` : ''
  const what = `${CERTIFICATES[certificate.kind] ?? certificate.kind}${rows}`
  return `${what}: ${certificate.verified ? 'verified by an independent checker' : 'NOT verified'}`
}

function renderCommand({ command, run }: VerdictJson): string {
  const parts: string[] = []
  const add = (title: string, id: string, text: string | null) => {
    if (text === null) return
    parts.push(
      `<h3>${title}</h3>`,
      `<pre id="${id}" tabindex="0">${esc(text)}</pre>`,
      `<p class="tools"><button type="button" data-copy="${id}">Copy</button></p>`,
    )
  }
  add('To get this verdict again', 'command', command)
  add('To make such a run again', 'run-command', run?.command ?? null)
  return parts.join('\n')
}
