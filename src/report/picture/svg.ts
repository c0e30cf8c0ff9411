// A counterexample as one SVG file: heading, dependency graph, session lanes. Main function:
// renderSvg.

import { cut as cutTo } from '../../base/inert.ts'
import { levelName } from '../../levels/levels.ts'
import type { VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup } from '../escape.ts'
import { cut, plain } from '../names.ts'
import { findSections, type Section } from '../page/sections.ts'
import { buildFigure, type Figure } from './figure.ts'
import { frame } from './frame.ts'
import { drawGraph } from './graph-svg.ts'
import { drawLanes } from './lanes-svg.ts'
import { at, textWidth } from './measure.ts'
import { findArrows, findBranch, firstView, type View } from './visible.ts'

const MARGIN = 16
const MAX_WIDTH = 1000
const MAX_ARROWS = 10
const MAX_WORDS = 160 // about the case that is drawn
const PLAIN = { interactive: false }

/** The first anomaly of the verdict, or the section given. */
export function renderSvg(verdict: VerdictJson, section = findSections(verdict)[0]): string {
  return section ? drawSection(section) : drawNothing(verdict)
}

function drawSection(section: Section): string {
  const { anomaly, levels, example } = section.evidence[0]!
  const figure = buildFigure(example)
  const view = openView(figure)
  const graph = drawGraph(figure, view, PLAIN)
  const lanes = drawLanes(figure, view, PLAIN)
  const names = levels.length > 2 ? levels.join(', ') : levels.map(levelName).join(' and ')
  const heading = `${anomaly.name} violates ${names}`
  const lines = [anomaly.meaning ?? '', tellCase(figure, view)].filter((line) => line !== '')
  const text = lines.map((line, i) => {
    return `<text class="small" x="${MARGIN}" y="${48 + 16 * i}">${escapeMarkup(line)}</text>`
  })
  const top = 48 + 16 * text.length
  // Side by side where both fit, else the lanes below the graph.
  const beside = graph.width + lanes.width + 3 * MARGIN <= MAX_WIDTH
  const lanesX = beside ? graph.width + 2 * MARGIN : MARGIN
  const lanesY = beside ? top : top + graph.height + MARGIN
  const body = [
    `<text class="name" x="${MARGIN}" y="28">${escapeMarkup(heading)}</text>`,
    ...text,
    `<g transform="translate(${MARGIN - 8} ${at(top)})">\n${graph.body}\n</g>`,
    `<g class="lanes" transform="translate(${at(lanesX)} ${at(lanesY)})">\n${lanes.body}\n</g>`,
  ]
  const wide = Math.max(textWidth(heading, 14), ...lines.map((line) => textWidth(line, 11)))
  const width = Math.max(graph.width, lanesX + lanes.width - MARGIN, wide) + 2 * MARGIN
  const height = Math.max(top + graph.height, lanesY + lanes.height) + MARGIN
  return frame(body.join('\n'), width, height, heading)
}

/** Which of several cases is drawn: `One case of several: if T1 commits before T2.` */
export function tellCase(figure: Figure, view: View): string {
  const branch = findBranch(figure, view.branch)
  if (branch === null) return ''
  return `One case of several: ${cutTo(branch.heading.replace(/^If /, 'if '), MAX_WORDS)}.`
}

/** A picture cannot be opened later: forced orders show their reasons, if there is room. */
function openView(figure: Figure): View {
  const view = firstView(figure)
  const forced = figure.steps.filter(({ kind }) => kind === 'CO').map(({ id }) => id)
  const opened = { ...view, open: new Set(forced) }
  return findArrows(figure, opened).length <= MAX_ARROWS ? opened : view
}

function drawNothing(verdict: VerdictJson): string {
  const lines = [
    `${cut(plain(verdict.path))}: no counterexample`,
    ...verdict.results.map((result) => `${result.level}: ${result.verdict}`),
  ]
  const text = lines.map(
    (line, i) => `<text x="${MARGIN}" y="${28 + 20 * i}">${escapeMarkup(line)}</text>`,
  )
  const width = Math.max(...lines.map((line) => textWidth(line, 13))) + 2 * MARGIN
  return frame(text.join('\n'), width, 20 * lines.length + 28, lines[0]!)
}
