// The argument in words: numbered steps, each with its reasons folded below it, and where
// there are cases each in turn. Works without scripts; ids link the steps to the pictures.

import { escapeMarkup as esc } from '../escape.ts'
import { type Branch, type Figure, nameOf, type Step } from '../picture/figure.ts'
import { findLeaves } from '../picture/visible.ts'

export function renderStory(figure: Figure, isCycle: boolean): string {
  if (figure.branches.length > 0) return renderCases(figure)
  const steps = renderSteps(figure, figure.steps)
  return isCycle ? `${steps}${renderCircle(figure, figure.steps)}` : steps
}

function renderSteps(figure: Figure, steps: readonly Step[]): string {
  return `<ol class="steps">${steps.map((step) => renderStep(figure, step)).join('')}</ol>`
}

function renderStep(figure: Figure, step: Step): string {
  const arrow = `${nameOf(figure, step.from)} → ${nameOf(figure, step.to)}`
  const kind = step.kind.toLowerCase()
  const because = /[.!?]$/.test(step.because) ? step.because : `${step.because}.`
  const line = `<button type="button" class="step" data-step="${step.id}" aria-pressed="false"><span class="kind ${kind}">${kind}</span> <b>${esc(arrow)}:</b> ${esc(because)}</button>`
  if (step.premises.length === 0) return `<li>${line}</li>`
  const what = step.refutes ? 'Why not the other way round?' : 'Why?'
  const reasons = renderSteps(figure, step.premises)
  const intro = step.refutes
    ? `<p class="intro">Suppose ${esc(nameOf(figure, step.to))} came before ${esc(nameOf(figure, step.from))}. Then there is a circle:</p>`
    : ''
  return `<li>${line}<details data-step="${step.id}"><summary>${what}</summary>${intro}${reasons}</details></li>`
}

function renderCircle(figure: Figure, steps: readonly Step[]): string {
  const [first] = steps
  if (!first) return ''
  if (steps[steps.length - 1]!.to !== first.from) {
    return '<p class="circle">The circle goes on through steps that are left out here.</p>'
  }
  const chain = [...steps.map((step) => step.from), first.from].map((node) => nameOf(figure, node))
  const shown = chain.length > 12 ? [...chain.slice(0, 6), '…', ...chain.slice(-5)] : chain
  return `<p class="circle">That is a circle: <b>${esc(shown.join(' < '))}</b>.</p>`
}

function renderCases(figure: Figure): string {
  const leaves = findLeaves(figure)
  const walk = `<p class="walk"><button type="button" data-walk="-1">Previous case</button> <button type="button" data-walk="1">Next case</button> <span class="position" aria-live="polite">Case 1 of ${leaves.length}</span></p>`
  const intro = `<p>${introduce(figure.branches)}</p>`
  return `${intro}${leaves.length > 1 ? walk : ''}${renderBranches(figure, leaves)}`
}

/** What is open: the order of two writes, or whose version of a row was not returned. */
function introduce(branches: readonly Branch[]): string {
  const assumed = branches.flatMap(({ assumptions }) => assumptions)
  const kinds = new Set(assumed.map(({ kind }) => kind))
  if (!kinds.has('WR'))
    return 'Two writes of one key come in some order. Either way there is a circle:'
  const row = 'A row that was not returned was seen in some version that the clause passes over'
  if (kinds.size === 1) return `${row}. Whichever it was, there is a circle:`
  return `${row}, and two writes of one row come in some order. In every case there is a circle:`
}

function renderBranches(figure: Figure, leaves: readonly Branch[]): string {
  const items = figure.branches.map((branch) => {
    const isLeaf = branch.steps.length > 0
    // Whose version of a row was passed over is said in full already.
    const keys = branch.assumptions.filter(({ kind }) => kind === 'WW').map(({ label }) => label)
    const words = `${branch.heading}${keys.length > 0 ? ` (${keys.join(', ')})` : ''}${isLeaf ? ':' : '.'}`
    if (!isLeaf) return `<li class="branch"><b>${esc(words)}</b></li>`
    const number = leaves.indexOf(branch) + 1
    const show = `<button type="button" class="case" data-case="${branch.id}" aria-pressed="${number === 1}"><b>Case ${number}.</b> ${esc(words)}</button>`
    const inner = renderSteps(figure, branch.steps) + renderCircle(figure, branch.steps)
    return `<li class="branch">${show}${inner}</li>`
  })
  return `<ul class="cases">${items.join('')}</ul>`
}
