// The argument of a figure in plain lines, for places that know neither colours nor pictures: test
// reports, job summaries. Main function: tellStory.

import type { AnomalyJson } from '../verdict/verdict-file.ts'
import { type Figure, nameOf, type Step } from './picture/figure.ts'

const MAX_LINES = 60

/** Numbered steps with their reasons indented; every case in turn. */
export function tellStory(figure: Figure): string[] {
  const lines: string[] = []
  tellSteps(figure, figure.steps, '', lines)
  for (const branch of figure.branches) {
    lines.push(branch.steps.length > 0 ? `${branch.heading}:` : `${branch.heading}.`)
    tellSteps(figure, branch.steps, '  ', lines)
  }
  const left = lines.length - MAX_LINES
  return left > 1 ? [...lines.slice(0, MAX_LINES), `… ${left} more lines`] : lines
}

/** What an anomaly takes for granted where reads have several possible writers; mostly nothing. */
export function tellGiven({ given = [] }: AnomalyJson): string {
  return given.length === 0 ? '' : `If ${given.map(({ says }) => says).join(' and ')}:`
}

function tellSteps(figure: Figure, steps: readonly Step[], indent: string, lines: string[]): void {
  steps.forEach((step, i) => {
    const arrow = `${nameOf(figure, step.from)} → ${nameOf(figure, step.to)}`
    lines.push(`${indent}${i + 1}. ${arrow}: ${step.because}`)
    // Plain reads speak for themselves, and so does what a heading assumes.
    const reasons = step.premises.filter(
      ({ kind, premises, absent, assumed }) =>
        kind !== 'WR' || premises.length > 0 || (absent && !assumed),
    )
    tellSteps(figure, reasons, `${indent}   `, lines)
  })
}
