// A night as a few lines for a person. Main function: renderNight.

import { counted } from '../base/counted.ts'
import { inert } from '../base/inert.ts'
import { alignRows } from '../report/align.ts'
import { commandOf } from './job.ts'
import { type NightOverview, untoldFailures } from './overview.ts'
import type { Failure, Finding } from './read-results.ts'

export function renderNight(overview: NightOverview): string {
  const { night, counts, findings, failures, cells, splits, changes } = overview
  const { satisfied, violated, unknown, failed } = counts
  const lines = [
    `night ${night.id} of ${inert(night.name)}: ${counts.done} of ${counted(night.jobs, 'job')}` +
      ` (${satisfied} satisfied, ${violated} violated, ${unknown} unknown, ${failed} failed)`,
    '',
    ...alignRows([
      ['target', 'level', 'satisfied', 'violated', 'unknown'],
      ...cells.map((cell) => [
        ...[inert(cell.target), cell.level],
        ...[cell.satisfied, cell.violated, cell.unknown].map(String),
      ]),
    ]),
  ]
  const rows = splits.map(({ path, level, parts, verdict }) => {
    return [inert(path), level, String(parts), verdict]
  })
  if (rows.length > 0) {
    lines.push('', ...alignRows([['history', 'level', 'parts', 'verdict'], ...rows]))
  }
  if (findings.length > 0) lines.push('', `${counted(findings.length, 'finding')}:`)
  for (const finding of findings) lines.push(...tellFinding(finding, night.settings.known))
  if (failures.length > 0) lines.push('', 'jobs without a verdict:')
  for (const failure of failures) lines.push(...tellFailure(failure))
  const untold = untoldFailures(overview)
  if (untold) lines.push(`  ${untold}`)
  if (changes) {
    const { since, come, gone } = changes
    const tell = (what: string, which: readonly string[]) =>
      which.length === 0 ? [] : [`${what} since night ${since}: ${which.join(', ')}`]
    const told = [...tell('new', come), ...tell('gone', gone)]
    lines.push('', ...(told.length > 0 ? told : [`the same findings as in night ${since}`]))
  }
  return `${lines.join('\n')}\n`
}

function tellFinding(finding: Finding, known: readonly string[]): string[] {
  const { fingerprint, level, anomalies, count, targets, notation, spec, firstNight } = finding
  const state = known.includes(fingerprint) ? ', known' : ''
  return [
    `  ${fingerprint}  ${anomalies} at ${level}: ${counted(count, 'time')}, first in night ${firstNight}${state}`,
    `    on ${targets.map(inert).join(', ')}`,
    ...notation
      .trimEnd()
      .split('\n')
      .map((line) => `    ${inert(line)}`),
    `    ${inert(commandOf(spec))}`,
  ]
}

function tellFailure({ blame, reason, count, spec }: Failure): string[] {
  return [`  ${counted(count, 'job')}, ${blame}: ${inert(reason)}`, `    ${inert(commandOf(spec))}`]
}
