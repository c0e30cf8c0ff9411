// The index of a report on several histories: a table with the verdicts of each and a link to its
// page. No script; the content policy admits its own styles only. Main function: renderIndex.

import { counted } from '../../base/counted.ts'
import { levelName } from '../../levels/levels.ts'
import type { VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc, escapeAttribute } from '../escape.ts'
import { plain } from '../names.ts'
import { type PageAssets, renderDocument } from './document.ts'

/** What a table needs beside the style sheet of all pages. */
export const INDEX_STYLE = `
.index { border-collapse: collapse; width: 100%; }
.index th, .index td { text-align: left; vertical-align: top; }
.index th, .index td { padding: .3rem .6rem; border-bottom: 1px solid; }
.index .number { text-align: right; }
.index code, .index time { white-space: nowrap; }
.index .command { display: block; min-width: 16rem; }
.index .command { white-space: pre-wrap; overflow-wrap: anywhere; }
.index-scroll { overflow-x: auto; margin-bottom: 1.5rem; }
.index-chart { overflow-x: auto; }
`

export interface IndexEntry {
  readonly verdict: VerdictJson
  /** Where its page is, from the index. */
  readonly href: string
}

/** @param unread what is wrong with inputs that could not be read, each with its path. */
export function renderIndex(
  entries: readonly IndexEntry[],
  unread: readonly string[],
  assets: PageAssets,
): string {
  const title = headlineOf(entries, unread)
  const body = [
    `<header><p class="question">Which histories are as isolated as they should be?</p><h1>${esc(title)}</h1></header>`,
    '<main>',
    '<div class="index-scroll" tabindex="0" role="region" aria-label="Histories">',
    '<table class="index">',
    '<thead><tr><th scope="col">history</th><th scope="col" class="number">transactions</th><th scope="col">violated</th><th scope="col">unknown</th><th scope="col">satisfied</th><th scope="col">anomalies</th></tr></thead>',
    '<tbody>',
    ...entries.map(renderEntry),
    '</tbody>',
    '</table>',
    '</div>',
    ...(unread.length > 0 ? ['<h2>Inputs that could not be read</h2>', '<ul>'] : []),
    ...unread.map((message) => `<li>${esc(message)}</li>`),
    ...(unread.length > 0 ? ['</ul>'] : []),
    '</main>',
  ]
  return renderDocument({ title, styles: [assets.style, INDEX_STYLE], body }, assets)
}

function headlineOf(entries: readonly IndexEntry[], unread: readonly string[]): string {
  const violated = entries.filter(({ verdict }) => levelsOf(verdict, 'violated') !== '').length
  const parts = [counted(entries.length, 'history', 'histories'), `${violated} with a violation`]
  if (unread.length > 0) parts.push(`${unread.length} could not be read`)
  return parts.join(', ')
}

function levelsOf({ results }: VerdictJson, outcome: string): string {
  return results
    .filter(({ verdict }) => verdict === outcome)
    .map(({ level }) => `<abbr title="${escapeAttribute(levelName(level))}">${esc(level)}</abbr>`)
    .join(', ')
}

function renderEntry({ verdict, href }: IndexEntry): string {
  const names = new Set(verdict.results.flatMap(({ anomalies }) => anomalies.map((a) => a.name)))
  const cells = [
    `<th scope="row"><a href="${escapeAttribute(href)}">${esc(plain(verdict.path))}</a></th>`,
    `<td class="number">${verdict.history.transactions}</td>`,
    ...['violated', 'unknown', 'satisfied'].map((word) => `<td>${levelsOf(verdict, word)}</td>`),
    `<td>${esc([...names].join(', '))}</td>`,
  ]
  return `<tr>${cells.join('')}</tr>`
}
