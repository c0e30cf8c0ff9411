// Verdicts as a JUnit report: a suite a history, a test case a level. Violated is a failure with
// the story, unknown is an error: neither may look like a pass. Main function: renderJunit.

import { levelName } from '../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../verdict/verdict-file.ts'
import { escapeAttribute, escapeMarkup } from './escape.ts'
import { Example } from './example.ts'
import { plain } from './names.ts'
import { buildFigure } from './picture/figure.ts'
import { scopeOf } from './scope.ts'
import { tellStory } from './story-text.ts'

const MAX_STORIES = 100 // of a level

/** @param unread what is wrong with inputs that could not be read, each with its path. */
export function renderJunit(
  verdicts: readonly VerdictJson[],
  unread: readonly string[] = [],
): string {
  const all = verdicts.flatMap((verdict) => verdict.results)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="isobar" ${countsOf(all, unread.length)}>`,
    ...verdicts.map(renderSuite),
    ...unread.map(renderUnread),
    '</testsuites>\n',
  ].join('\n')
}

function renderUnread(message: string): string {
  const text = escapeAttribute(message)
  const open = `<testcase classname="input" name="${text}" time="0.000">`
  return `<testsuite name="${text}" ${countsOf([], 1)}>\n${open}<error type="input" message="${text}"/></testcase>\n</testsuite>`
}

function countsOf(results: readonly ResultJson[], unread = 0): string {
  const count = (outcome: string) => results.filter(({ verdict }) => verdict === outcome).length
  const seconds = results.reduce((sum, result) => sum + result.elapsedMs, 0) / 1000
  const errors = count('unknown') + unread
  return `tests="${results.length + unread}" failures="${count('violated')}" errors="${errors}" time="${seconds.toFixed(3)}"`
}

function renderSuite(verdict: VerdictJson): string {
  const name = escapeAttribute(plain(verdict.path))
  const cases = verdict.results.map((result) => `${renderCase(name, verdict, result)}\n`)
  return `<testsuite name="${name}" ${countsOf(verdict.results)}>\n${cases.join('')}</testsuite>`
}

function renderCase(suite: string, whole: VerdictJson, result: ResultJson): string {
  const name = escapeAttribute(`${result.level}: ${levelName(result.level)}${scopeOf(result)}`)
  const time = (result.elapsedMs / 1000).toFixed(3)
  const open = `<testcase classname="${suite}" name="${name}" time="${time}"`
  if (result.verdict === 'satisfied') return `${open}/>`
  if (result.verdict === 'unknown') {
    const reason = escapeAttribute(result.reason ?? 'not decided')
    return `${open}><error type="unknown" message="${reason}"/></testcase>`
  }
  const names = [...new Set(result.anomalies.map((anomaly) => anomaly.name))]
  const message = names.length > 0 ? names.join(', ') : `implied by ${result.impliedBy ?? '?'}`
  const text = escapeMarkup(tellStories(whole, result).join('\n'))
  return `${open}><failure type="violated" message="${escapeAttribute(message)}">${text}</failure></testcase>`
}

/** The anomalies of a level; a story that two names share is told once. */
function tellStories(verdict: VerdictJson, result: ResultJson): string[] {
  const told = new Map<string, string>() // story -> name it was told for
  const left = result.anomalies.length - MAX_STORIES
  const stories = result.anomalies.slice(0, MAX_STORIES).flatMap((anomaly) => {
    const story = tellStory(buildFigure(new Example(verdict, anomaly))).map((line) => `  ${line}`)
    const known = told.get(story.join('\n'))
    if (known === undefined) told.set(story.join('\n'), anomaly.name)
    const heading = `${anomaly.name}: ${anomaly.meaning ?? ''}`
    return known === undefined ? [heading, ...story] : [heading, `  Shown as ${known} is.`]
  })
  return left > 0 ? [...stories, `… and ${left} more findings.`] : stories
}
