// A counterexample in the DOT language of Graphviz: its transactions with what they did, the steps
// of the circle, and in thin lines the reads that force them, with their readers. Main function:
// renderDot.

import type { VerdictJson } from '../verdict/verdict-file.ts'
import { quoteDot } from './escape.ts'
import { plain } from './names.ts'
import { findSections } from './page/sections.ts'
import { buildFigure, type FigureTxn } from './picture/figure.ts'
import { nameNode } from './picture/graph-layout.ts'
import { KIND_COLOURS } from './picture/style.ts'
import { tellCase } from './picture/svg.ts'
import { findArrows, firstView } from './picture/visible.ts'

const STYLES: Record<string, string> = { WW: 'dashed', RW: 'dotted', RT: 'dashed', CO: 'bold' }

/** The first anomaly of the verdict, or the section given; without one, a graph without nodes. */
export function renderDot(verdict: VerdictJson, section = findSections(verdict)[0]): string {
  const lines = ['digraph counterexample {']
  if (!section) {
    lines.push(`  label=${quoteDot(`${plain(verdict.path)}: no counterexample`)}`, '}')
    return `${lines.join('\n')}\n`
  }
  const { anomaly, levels, example } = section.evidence[0]!
  const figure = buildFigure(example)
  const closed = firstView(figure)
  // What a picture shows when a step is clicked is there from the start.
  const forced = findArrows(figure, closed).flatMap(({ step, ids }) =>
    step.premises.length > 0 ? ids : [],
  )
  const view = { ...closed, open: new Set(forced) }
  const arrows = findArrows(figure, view)
  const title = [`${anomaly.name} violates ${levels.join(', ')}`, tellCase(figure, view)]
  lines.push(
    `  label=${quoteDot(title.filter((part) => part !== '').join('. '))}`,
    '  rankdir=LR',
    '  node [shape=box, style=rounded]',
  )
  const nodes = new Set(arrows.flatMap(({ step }) => [step.from, step.to]))
  for (const node of [...nodes].sort((a, b) => a - b)) {
    const txn = figure.txns[node]
    // Lines of a transaction, each from the left.
    const told = txn && tellTxn(txn).map((line) => `${quoteDot(line).slice(1, -1)}\\l`)
    const label = told ? `"${told.join('')}"` : quoteDot(nameNode(node))
    const dashed = txn?.status === 'committed' ? '' : ', style="rounded,dashed"'
    lines.push(`  ${nodeId(node)} [label=${label}${dashed}]`)
  }
  for (const { step, isReason } of arrows) {
    const [colour] = KIND_COLOURS[step.kind.toLowerCase()]!
    const parts = [`label=${quoteDot(step.label)}`, `tooltip=${quoteDot(step.because)}`]
    parts.push(`color="${colour}"`)
    if (step.kind in STYLES) parts.push(`style=${STYLES[step.kind]}`)
    if (isReason) parts.push('penwidth=0.5')
    lines.push(`  ${nodeId(step.from)} -> ${nodeId(step.to)} [${parts.join(', ')}]`)
  }
  lines.push('}')
  return `${lines.join('\n')}\n`
}

/** The name of a transaction, then its operations, a line each. */
function tellTxn({ name, session, note, ops }: FigureTxn): string[] {
  const head = `${name} (session ${session}${note ? `, ${note}` : ''})`
  return [head, ...ops.map(({ text, result }) => (result ? `${text} ${result}` : text))]
}

function nodeId(node: number): string {
  return node >= 0 ? `t${node + 1}` : node === -1 ? 'initial' : 'nobody'
}
