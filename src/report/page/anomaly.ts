// One finding in the page: its name and what that means, the story, both pictures, and the
// transactions to copy, download and check again. Main function: renderFinding.

import { counted } from '../../base/counted.ts'
import { inert } from '../../base/inert.ts'
import type { History } from '../../history/history.ts'
import { renderNotation } from '../../history/render-notation.ts'
import type { Value } from '../../history/values.ts'
import { levelName } from '../../levels/levels.ts'
import { LEVEL_RULES } from '../../verdict/level-rules.ts'
import type { TableJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { buildCore, type Extra } from '../core-history.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { cut, keyWord, plain } from '../names.ts'
import { buildFigure, type Figure } from '../picture/figure.ts'
import { renderGraph } from '../picture/graph-svg.ts'
import { renderLanes } from '../picture/lanes-svg.ts'
import { tellAxis } from '../picture/time-axis.ts'
import { firstView } from '../picture/visible.ts'
import { buildReplay } from '../replay.ts'
import { tellGiven } from '../story-text.ts'
import { tellTxns } from '../txn-text.ts'
import type { Download, Further } from './further.ts'
import { renderLegend } from './legend.ts'
import { renderReplay } from './replay.ts'
import type { Evidence, Section } from './sections.ts'
import { renderStory } from './story.ts'

const PAGE = { interactive: true }
const MAX_NOTATION = 100_000 // characters of a history shown in the page

/**
 * @param sameAs the id of the section that shows the same evidence under another name
 * @param isOpen whether it is the one that is open at first
 * @param further what is offered beside words and pictures; null: nothing
 */
export function renderFinding(
  verdict: VerdictJson,
  section: Section,
  id: string,
  sameAs: string | null,
  isOpen: boolean,
  further: Further | null,
) {
  const figures: Figure[] = [] // those that the script draws anew
  const [first, ...others] = section.evidence
  const levels = [...new Set(section.evidence.flatMap((evidence) => evidence.levels))]
  const replay = sameAs ? null : buildReplay(first!.example, verdict.initial)
  const same = `<p>Shown by the same evidence as <a href="#${sameAs}">${esc(section.sameAs?.name ?? '')}</a>.</p>`
  const renderParts = () => [
    renderEvidence(first!, id, figures),
    replay ? renderReplay(replay, `${id}-replay`) : '',
    renderHistory(verdict, first!, id, further),
    renderSql(further?.renderSqlScript(first!.example, replay, verdict.run) ?? null, id),
  ]
  const parts = [
    `<details class="finding" name="finding" id="${id}"${isOpen ? ' open' : ''}>`,
    `<summary><h3>${esc(titleOf(first!))}</h3> <span>violates ${levels.join(', ')}</span></summary>`,
    ...(sameAs ? [same] : renderParts()),
    ...others.map((evidence) => {
      const names = evidence.levels.map(levelName).join(', ')
      const inner = renderEvidence(evidence, id, figures)
      return `<details class="other"><summary>The same transactions, argued for ${esc(names)}</summary>${inner}</details>`
    }),
    section.left > 0
      ? `<p class="cut">${section.left} more findings about the same transactions are left out.</p>`
      : '',
    '</details>',
  ]
  return { html: parts.filter((part) => part !== '').join('\n'), figures, replay }
}

const MAX_NAMED = 4 // transactions and keys in a title

/** Who did it, and on what: `T50 and T51 on k5`. */
export function titleOf({ anomaly, example }: Evidence): string {
  const keys = new Set<Value>()
  for (const { key } of anomaly.edges) if (key !== null) keys.add(key)
  if (keys.size === 0) for (const { op } of example.ops()) keys.add(op[1])
  const isRow = example.tables !== null
  const names = [...keys].map((key) => (isRow ? inert(String(key)) : cut(keyWord(key))))
  const on = keys.size === 0 ? '' : ` on ${listWords(names)}`
  return `${listWords(anomaly.transactions.map((name) => plain(name)))}${on}`
}

/** `a, b and c`; of many the first ones. */
function listWords(names: readonly string[]): string {
  const left = names.length - MAX_NAMED
  if (left > 1) return `${names.slice(0, MAX_NAMED).join(', ')} and ${left} more`
  const [last] = names.slice(-1)
  return names.length < 2 ? (last ?? '') : `${names.slice(0, -1).join(', ')} and ${last}`
}

function renderEvidence({ example, anomaly }: Evidence, id: string, figures: Figure[]): string {
  const figure = buildFigure(example)
  const count = figures.push(figure)
  const given = tellGiven(anomaly)
  const view = firstView(figure)
  return [
    `<div class="evidence" id="${id}-${count}">`,
    `<div class="story"><h4>Step by step</h4>${given === '' ? '' : `<p>${esc(given)}</p>`}${renderStory(figure, anomaly.edges.length > 0)}${cutNote(figure)}</div>`,
    '<div class="dependencies">',
    '<figure><figcaption>Dependencies <span>arrows: what must come before what</span></figcaption>',
    `<div class="canvas isobar" data-view="graph">${renderGraph(figure, view, PAGE)}</div></figure>`,
    `<p class="explain" aria-live="polite">Point at an arrow, or move to it with Tab, to see what makes it. Arrows marked + open to their reasons with a click or Enter.</p>`,
    '</div>',
    `<figure class="sessions"><figcaption>Sessions <span>${esc(tellAxis(figure))}</span></figcaption>`,
    `<div class="canvas isobar" data-view="lanes" tabindex="0">${renderLanes(figure, view, PAGE)}</div></figure>`,
    renderLegend(figure),
    '</div>',
  ].join('\n')
}

function cutNote(figure: Figure): string {
  const { cutTxns, cutSteps } = figure
  const notes = cutTxns > 0 ? [counted(cutTxns, 'transaction')] : []
  if (cutSteps > 0) notes.push(counted(cutSteps, 'step'))
  if (notes.length === 0) return ''
  return `<p class="cut">Left out to keep this readable: ${notes.join(' and ')}. The verdict as JSON has all.</p>`
}

/** The transactions in notation, to copy, and as files, to check again. */
function renderHistory(
  verdict: VerdictJson,
  evidence: Evidence,
  id: string,
  further: Further | null,
): string {
  const { example } = evidence
  if (example.txns.length === 0) return ''
  const { text, downloads, note } = example.tables
    ? describeSql(evidence, example.tables, further)
    : describeRegisters(verdict, evidence, further?.formats ?? [])
  const shown = text.length > MAX_NOTATION ? `${text.slice(0, MAX_NOTATION)}\n…` : text
  return [
    '<div class="history">',
    '<h4>The transactions involved</h4>',
    `<pre id="${id}-notation" tabindex="0">${esc(shown)}</pre>`,
    `<p class="tools"><button type="button" data-copy="${id}-notation">Copy</button> ${downloads}</p>`,
    note === '' ? '' : `<p class="cut">${esc(note)}</p>`,
    '</div>',
  ].join('\n')
}

/** The same to type into terminals, where it came from a SQL database. */
function renderSql(script: string | null, id: string): string {
  if (script === null) return ''
  return [
    '<details class="as-sql"><summary>As SQL, to reproduce it in several terminals</summary>',
    `<pre id="${id}-sql" tabindex="0">${esc(script)}</pre>`,
    `<p class="tools"><button type="button" data-copy="${id}-sql">Copy as SQL</button></p>`,
    '</details>',
  ].join('\n')
}

function describeRegisters(verdict: VerdictJson, evidence: Evidence, formats: readonly Download[]) {
  const { history, leftOut } = buildCore(evidence.example, verdict.initial)
  const note = `Reads of values that other transactions wrote are left out: ${leftOut}.`
  return {
    text: renderNotation(history, undefined, { ids: true }),
    downloads: renderDownloads(verdict, evidence, history, formats),
    note: leftOut > 0 ? note : '',
  }
}

/** Statements in full; the file has what the evidence needs of them. */
function describeSql(
  { example, anomaly, levels }: Evidence,
  tables: readonly TableJson[],
  further: Further | null,
) {
  const text = `${tellTxns(example.txns, tables).join('\n')}\n`
  if (further === null) return { text, downloads: '', note: '' }
  const core = further.buildSqlCore(example, levels)
  if (core.history === null) {
    return { text, downloads: '', note: `They make no history of their own: ${core.reason}.` }
  }
  const parts: string[] = []
  if (core.leftOut > 0) parts.push('leaves out rows that the evidence does not speak of')
  if (core.narrowed > 0) parts.push('narrows clauses so that they do not speak of them either')
  const [full] = further.formats
  return {
    text,
    downloads: `<span>Download: ${renderDownload(full, core.history, anomaly.name)}</span>`,
    note: parts.length > 0 ? `The file ${parts.join(', and ')}.` : '',
  }
}

/** Our own format, and those of others as far as they hold what the verdict rests on. */
function renderDownloads(
  verdict: VerdictJson,
  evidence: Evidence,
  full: History,
  formats: readonly Download[],
): string {
  const { example, anomaly, levels } = evidence
  const needed: Extra[] = []
  if (levels.some((level) => LEVEL_RULES[level].edges.has('RT'))) needed.push('times')
  if (levels.includes('mixed')) needed.push('levels')
  const links: string[] = []
  for (const format of formats) {
    const omit = format.omit.filter((extra) => !needed.includes(extra))
    const fits = format.misfits(full).length === 0
    const history = fits ? full : buildCore(example, verdict.initial, omit).history
    const isHeld = fits || format.misfits(history).length === 0
    if (isHeld) links.push(renderDownload(format, history, anomaly.name))
  }
  return links.length > 0 ? `<span>Download: ${links.join(', ')}</span>` : ''
}

function renderDownload(format: Download, history: History, name: string): string {
  const chunks: string[] = []
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  format.write(history, (bytes) => {
    chunks.push(decoder.decode(bytes, { stream: true }))
  })
  const file = `${name}.${format.ending}`
  const href = `data:text/plain;charset=utf-8,${encodeURIComponent(chunks.join(''))}`
  return `<a download="${esc(file)}" href="${esc(href)}">${esc(format.name)}</a>`
}
