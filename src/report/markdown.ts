// Verdicts as Markdown for the summary of a job: a table of levels, then each finding as a story in
// words, a Mermaid graph and its transactions in notation. Main function: renderMarkdown.

import { renderNotation } from '../history/render-notation.ts'
import { levelName } from '../levels/levels.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { buildCore } from './core-history.ts'
import { escapeMarkdown, fence, quoteMermaid } from './escape.ts'
import { plain } from './names.ts'
import { findSections, type Section } from './page/sections.ts'
import { buildFigure, type Figure } from './picture/figure.ts'
import { nameNode } from './picture/graph-layout.ts'
import { findArrows, firstView } from './picture/visible.ts'
import { scopeOf } from './scope.ts'
import { tellGiven, tellStory } from './story-text.ts'
import { tellTxns } from './txn-text.ts'

const SIGNS = { satisfied: '✅', violated: '❌', unknown: '❔' }
const MAX_FINDINGS = 10 // of one history: summaries of jobs have limits
const MAX_NOTATION = 8000 // characters

/** @param unread what is wrong with inputs that could not be read, each with its path. */
export function renderMarkdown(
  verdicts: readonly VerdictJson[],
  unread: readonly string[] = [],
): string {
  const parts = verdicts.map(renderVerdict)
  if (parts.length === 0) parts.push('No history was judged.')
  if (unread.length > 0) {
    const items = unread.map((message) => `- ${escapeMarkdown(message)}`)
    parts.push(['## Inputs that could not be read', '', ...items].join('\n'))
  }
  return `${parts.join('\n\n')}\n`
}

function renderVerdict(verdict: VerdictJson): string {
  const rows = verdict.results.map((result) => {
    const names = [...new Set(result.anomalies.map((anomaly) => anomaly.name))].join(', ')
    const note = [names, result.reason ?? ''].filter((part) => part !== '').join('; ')
    return `| \`${result.level}\` | ${levelName(result.level)}${scopeOf(result)} | ${SIGNS[result.verdict]} ${result.verdict} | ${escapeMarkdown(note)} |`
  })
  const sections = findSections(verdict)
  const shown = sections.slice(0, MAX_FINDINGS)
  const more = sections.length - shown.length
  return [
    `## Isolation of ${escapeMarkdown(plain(verdict.path))}`,
    '',
    '| level | name | verdict | shown by |',
    '|---|---|---|---|',
    ...rows,
    ...verdict.warnings.map((text) => `\n**Warning:** ${escapeMarkdown(text)}`),
    ...shown.map((section) => renderFinding(verdict, section)),
    ...(more > 0 ? [`\n… and ${more} more findings.`] : []),
  ].join('\n')
}

function renderFinding(verdict: VerdictJson, section: Section): string {
  const { anomaly, levels, example } = section.evidence[0]!
  const heading = `\n### ${escapeMarkdown(anomaly.name)} violates ${levels.map(levelName).join(', ')}`
  const meaning = escapeMarkdown(anomaly.meaning ?? '')
  if (section.sameAs) {
    const other = escapeMarkdown(section.sameAs.name)
    return [heading, meaning, `Shown by the same evidence as ${other}.`].join('\n\n')
  }
  const figure = buildFigure(example)
  const notation = example.tables
    ? tellTxns(example.txns, example.tables).join('\n')
    : renderNotation(buildCore(example, verdict.initial).history, undefined, { ids: true })
  const parts = [
    heading,
    meaning,
    escapeMarkdown(tellGiven(anomaly)),
    fence(tellStory(figure).join('\n'), 'text'),
    fence(renderMermaid(figure), 'mermaid'),
  ]
  if (notation.length <= MAX_NOTATION) parts.push(fence(notation, 'text'))
  return parts.filter((part) => part !== '').join('\n\n')
}

function renderMermaid(figure: Figure): string {
  const arrows = findArrows(figure, firstView(figure))
  const nodes = new Set(arrows.flatMap(({ step }) => [step.from, step.to]))
  const id = (node: number) => (node >= 0 ? `t${node + 1}` : `n${-node}`)
  return [
    'graph LR',
    ...[...nodes]
      .sort((a, b) => a - b)
      .map((node) => `  ${id(node)}[${quoteMermaid(figure.txns[node]?.name ?? nameNode(node))}]`),
    ...arrows.map(
      ({ step }) => `  ${id(step.from)} -->|${quoteMermaid(step.label)}| ${id(step.to)}`,
    ),
  ].join('\n')
}
