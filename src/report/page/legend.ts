// What the pictures of a finding are made of, as far as they show it: kinds of arrows, reads and
// writes, frames of transactions that did not commit. Main function: renderLegend.

import { addAll } from '../../base/grow.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { type Figure, INITIAL_NODE } from '../picture/figure.ts'
import { KIND_WORDS } from '../picture/style.ts'
import { findSteps } from '../picture/visible.ts'

export function renderLegend(figure: Figure): string {
  const steps = findSteps(figure)
  for (const step of steps) addAll(steps, step.premises)
  const kinds = new Set(steps.map(({ kind }) => kind.toLowerCase()))
  const arrows = Object.entries(KIND_WORDS)
    .filter(([kind]) => kinds.has(kind))
    .map(([kind, words]) =>
      item(`<g class="${kind}"><path class="line" d="M0 7H36"/></g>`, kind, words),
    )
  const ops = figure.txns.flatMap((txn) => txn.ops)
  const has = (status: string) => figure.txns.some((txn) => txn.status === status)
  const isInitial = steps.some(({ from, to }) => from === INITIAL_NODE || to === INITIAL_NODE)
  const others = [
    ops.some(({ isWrite }) => !isWrite) && item(chip('read'), 'read', 'what a transaction saw'),
    ops.some(({ isWrite }) => isWrite) && item(chip('write'), 'write', 'what it wrote'),
    has('aborted') && item(frame('aborted'), 'aborted', 'rolled back: nothing of it counts'),
    has('indeterminate') &&
      item(
        frame('indeterminate'),
        'outcome unknown',
        'the client never learned whether it committed',
      ),
    isInitial && item(frame('initial'), 'initial state', 'what was there before any transaction'),
    steps.some(({ premises }) => premises.length > 0) &&
      item(
        '<text x="14" y="12">+</text>',
        'inferred',
        'follows from others: open it for the reasons',
      ),
    steps.some(({ assumed }) => assumed) &&
      item('<text x="10" y="12">if</text>', 'assumed', 'holds in this case only'),
  ].filter((each) => each !== false)
  return `<ul class="legend" aria-label="Legend">${[...arrows, ...others].join('')}</ul>`
}

function item(sign: string, name: string, words: string): string {
  const drawing = `<svg class="isobar" width="36" height="14" aria-hidden="true">${sign}</svg>`
  return `<li>${drawing} <b>${esc(name)}</b> ${esc(words)}</li>`
}

function chip(kind: string): string {
  return `<g class="op ${kind}"><rect x="4" y="1" width="28" height="12" rx="4"/></g>`
}

function frame(status: string): string {
  return `<g class="node ${status}"><rect x="4" y="1" width="28" height="12" rx="4"/></g>`
}
