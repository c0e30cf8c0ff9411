// The report of a night as files: a first page, a page and a history for each finding, and what
// continuous integration reads, JUnit and Markdown. Main function: renderNightFiles.

import { counted } from '../base/counted.ts'
import { levelName } from '../levels/levels.ts'
import { escapeAttribute, escapeMarkdown, escapeMarkup, fence } from '../report/escape.ts'
import { loadPageAssets } from '../report/page/assets.ts'
import { renderHtml } from '../report/page/html.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { commandOf } from './job.ts'
import { isOver, type NightOverview, unknownFindings, untoldFailures } from './overview.ts'
import { type Finding, Results } from './read-results.ts'
import { pageOf } from './report-names.ts'
import { renderNightPage } from './report-page.ts'
import type { FleetStore } from './store.ts'

/** Name -> content. */
export async function renderNightFiles(
  store: FleetStore,
  overview: NightOverview,
): Promise<Map<string, string | Uint8Array>> {
  const assets = await loadPageAssets()
  const results = new Results(store.connection)
  const files = new Map<string, string | Uint8Array>([
    ['index.html', renderNightPage(overview, assets)],
    ['junit.xml', renderNightJunit(overview)],
    ['summary.md', renderNightMarkdown(overview)],
  ])
  for (const finding of overview.findings) {
    const { fingerprint, notation, night, number } = finding
    files.set(pageOf(fingerprint), renderHtml(namedVerdict(finding), assets))
    files.set(`finding-${fingerprint}.txt`, notation)
    const history = await results.history(night, number)
    if (history) files.set(`finding-${fingerprint}.history.gz`, history)
  }
  return files
}

/** The verdict with the names that the report has for it. */
function namedVerdict({ verdict, fingerprint, spec }: Finding): VerdictJson {
  return { ...verdict, path: `finding-${fingerprint}.txt`, command: commandOf(spec) }
}

/** A suite for each target: a level that is violated in a new way is a failure. */
export function renderNightJunit(overview: NightOverview): string {
  const { night, cells, findings, failures, counts } = overview
  const fresh = unknownFindings(overview)
  const cases = cells.map(({ target, level, violated, unknown, satisfied }) => {
    const name = escapeAttribute(`${level}: ${satisfied + violated + unknown} checks`)
    const open = `<testcase classname="${escapeAttribute(target)}" name="${name}" time="0"`
    const own = fresh.filter((each) => each.level === level && each.targets.includes(target))
    if (own.length > 0) {
      const message = own.map(({ fingerprint, anomalies }) => `${anomalies} (${fingerprint})`)
      const text = own.map((each) => `${each.notation}\n${commandOf(each.spec)}`).join('\n\n')
      return `${open}><failure message="${escapeAttribute(message.join(', '))}">${escapeMarkup(text)}</failure></testcase>`
    }
    if (unknown > 0) {
      return `${open}><error type="unknown" message="${counted(unknown, 'verdict')} unknown"/></testcase>`
    }
    return `${open}/>`
  })
  const errors = failures.map(({ blame, reason, count, spec }) => {
    const name = escapeAttribute(`${counted(count, 'job')} without a verdict`)
    const message = escapeAttribute(reason)
    return `<testcase classname="${blame}" name="${name}" time="0"><error type="${blame}" message="${message}">${escapeMarkup(commandOf(spec))}</error></testcase>`
  })
  const all = [...cases, ...errors, ...missingCases(overview)]
  const failed = cases.filter((each) => each.includes('<failure')).length
  const wrong = all.filter((each) => each.includes('<error')).length
  const sums = `tests="${all.length}" failures="${failed}" errors="${wrong}" time="0"`
  const name = escapeAttribute(`night ${night.id} of ${night.name}`)
  const told = `${counts.done} jobs, ${counted(findings.length, 'finding')}`
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="isobar" ${sums}>`,
    `<testsuite name="${name}" ${sums}>`,
    `<properties><property name="night" value="${escapeAttribute(told)}"/></properties>`,
    ...all,
    '</testsuite>',
    '</testsuites>',
  ].join('\n')}\n`
}

/** What has no verdict and no reason either is no success. */
function missingCases(overview: NightOverview): string[] {
  const { night, counts } = overview
  const untold = untoldFailures(overview)
  const missing = isOver(overview)
    ? []
    : [`${counts.done} of ${counted(night.jobs, 'job')} done; the night is ${night.state}`]
  return [...missing, ...(untold ? [`without a verdict: ${untold}`] : [])].map(
    (message) =>
      `<testcase classname="night" name="all jobs" time="0"><error type="missing" message="${escapeAttribute(message)}"/></testcase>`,
  )
}

function renderNightMarkdown(overview: NightOverview): string {
  const { night, counts, cells, splits, findings, failures, changes } = overview
  const { satisfied, violated, unknown, failed } = counts
  const known = night.settings.known
  const lines = [
    `## Night ${night.id} of ${escapeMarkdown(night.name)}`,
    '',
    `${counts.done} of ${counted(night.jobs, 'job')}: ${satisfied} satisfied, ${violated} violated, ${unknown} unknown, ${failed} failed.`,
    '',
    '| target | level | satisfied | violated | unknown |',
    '|---|---|---|---|---|',
    ...cells.map(
      (cell) =>
        `| ${escapeMarkdown(cell.target)} | ${escapeMarkdown(cell.level)} | ${cell.satisfied} | ${cell.violated} | ${cell.unknown} |`,
    ),
  ]
  if (splits.length > 0) {
    lines.push('', '| history | level | parts | verdict |', '|---|---|---|---|')
  }
  for (const { path, level, parts, verdict } of splits) {
    lines.push(`| ${escapeMarkdown(path)} | ${escapeMarkdown(level)} | ${parts} | ${verdict} |`)
  }
  for (const finding of findings) {
    const { fingerprint, anomalies, level, count, notation, spec, firstNight } = finding
    const state = known.includes(fingerprint) ? ', known' : ''
    lines.push(
      '',
      `### ${escapeMarkdown(anomalies)} at ${escapeMarkdown(level)} (${fingerprint}${state})`,
      '',
      `${counted(count, 'time')}, first in night ${firstNight}. ${levelName(finding.verdict.results[0]!.level)} does not hold:`,
      '',
      fence(notation),
      '',
      fence(commandOf(spec), 'sh'),
    )
  }
  if (failures.length > 0) lines.push('', '### Jobs without a verdict', '')
  for (const { blame, reason, count } of failures) {
    lines.push(`- ${counted(count, 'job')}, ${blame}: ${escapeMarkdown(reason)}`)
  }
  const untold = untoldFailures(overview)
  if (untold) lines.push(`- ${untold}`)
  if (changes) {
    const list = (which: readonly string[]) => (which.length > 0 ? which.join(', ') : 'none')
    lines.push(
      '',
      `Since night ${changes.since}: new ${list(changes.come)}; gone ${list(changes.gone)}.`,
    )
  }
  return `${lines.join('\n')}\n`
}
