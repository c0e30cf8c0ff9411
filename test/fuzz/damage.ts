// Histories that somebody damaged, or wrote with bad intent, taken the whole way: read, judged at
// every level, certified, told by every renderer, written back and judged again. Whatever happens
// is a verdict, or an error that says what is wrong with the input; never a failed assertion. And
// nothing that is shown holds a character that a terminal would obey. One property a format.

import { createHash } from 'node:crypto'
import { InputError, UsageError } from '../../src/base/errors.ts'
import { stringify } from '../../src/base/json.ts'
import { Random } from '../../src/base/random.ts'
import { check, checkLevels, checkModels } from '../../src/check/check.ts'
import { judge } from '../../src/check/judge.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { FORMATS, type Format } from '../../src/formats/formats.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { describeShape } from '../../src/history/shape.ts'
import { JEPSEN_MODELS } from '../../src/levels/jepsen.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { renderDot } from '../../src/report/dot.ts'
import { ednToJson, renderEdn } from '../../src/report/edn.ts'
import { describeElle } from '../../src/report/elle.ts'
import { renderJunit } from '../../src/report/junit.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { renderHtml } from '../../src/report/page/html.ts'
import { findSections } from '../../src/report/page/sections.ts'
import { renderSvg } from '../../src/report/picture/svg.ts'
import { renderText } from '../../src/report/text.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import { shrinkHistory } from '../../src/verdict/shrink.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'
import { load, save } from '../formats/storage.ts'
import { throughFile } from '../verdict/through-file.ts'
import { damage, hostileFiles } from './mutations.ts'
import type { Property } from './property.ts'

const OPTIONS = { budgetMs: 20_000, all: true }
const ASSETS = {
  script: '',
  style: '',
  sha256: (text: string) => createHash('sha256').update(text).digest('base64'),
}
const MAX_MESSAGE = 2000

/** What one case came to, for those who want to know that the fuzzer gets anywhere. */
export interface Tally {
  judged: number
  refused: number
}

async function survives(format: Format, seed: number, tally?: Tally): Promise<string | null> {
  const random = new Random(seed)
  const files = damage(hostileFiles(format, seed), random)
  let history: History
  try {
    history = load(format, files, 1 + random.below(200))
  } catch (error) {
    if (tally) tally.refused++
    return complaint(error)
  }
  if (tally) tally.judged++
  try {
    return await takeAllTheWay(history, format, random)
  } catch (error) {
    return complaint(error)
  }
}

/** Null if the error is about the input and fit to be shown. */
function complaint(error: unknown): string | null {
  if (!(error instanceof InputError || error instanceof UsageError)) throw error
  const text = `${error instanceof InputError ? error.describe() : error.message}${error.hint ?? ''}`
  if (text.length > MAX_MESSAGE) return `a message of ${text.length} characters`
  return obeyed('an error message', text, '')
}

async function takeAllTheWay(
  history: History,
  format: Format,
  random: Random,
): Promise<string | null> {
  const results = judgeAll(history)
  certifyAll(history, results)
  const shown = showAll(history, results)
  if (shown !== null) return shown
  return writeBack(history, results, random.chance(0.5) ? format : random.pick(FORMATS), random)
}

export function judgeAll(history: History): LevelResult[] {
  if (history.sql) return checkMixed(history, null, OPTIONS)
  const levels = LEVELS.map(({ id }) => id).filter((id) => id !== 'mixed')
  const known = levels.filter((level) => level !== 'lin' || isLight(history))
  return [...checkLevels(history, known, OPTIONS), ...judgeMixed(history)]
}

function isLight(history: History): boolean {
  try {
    check(history, 'lin', OPTIONS)
    return true
  } catch (error) {
    if (error instanceof UsageError || error instanceof InputError) return false
    throw error
  }
}

/** At the level that each transaction asked for, where each did. */
function judgeMixed(history: History): LevelResult[] {
  try {
    return checkMixed(history, ['mixed'], OPTIONS)
  } catch (error) {
    if (error instanceof UsageError || error instanceof InputError) return []
    throw error
  }
}

/** Evidence written to a file proves the same when read back. */
function certifyAll(history: History, results: readonly LevelResult[]): void {
  const known = results.filter(({ verdict }) => verdict !== 'unknown')
  for (const result of throughFile(history, known)) {
    const needsSql = history.sql !== null || result.level === 'mixed'
    const [problem] = needsSql
      ? certifyMixed(history, result).problems
      : certifyPlain(history, result).problems
    if (problem) throw new Error(`${result.level}: ${problem}\n${renderNotation(history)}`)
  }
}

/** Every output there is; the first that holds something a terminal would obey. */
function showAll(history: History, results: readonly LevelResult[]): string | null {
  describeShape(history)
  const context = { path: 'h', format: 'native', parseMs: 0, all: true }
  const json = stringify(describeVerdict(history, results, context))
  const texts: [string, string][] = [
    ['the text', renderText(history, results, { all: true })],
    ['the JSON', json],
    ['notation', renderNotation(history, undefined, { ids: true })],
  ]
  if (!history.sql) {
    const elle = describeElle(history, JEPSEN_MODELS, checkModels(history, OPTIONS))
    texts.push(['EDN', renderEdn(elle)], ["Elle's JSON", stringify(ednToJson(elle) as object)])
  }
  const problem = firstObeyed(texts) ?? showVerdict(parseVerdicts(json)[0]!.verdict)
  return problem === null ? null : `${problem}\n${renderNotation(history)}`
}

/** The same of everything that is made from a verdict alone. */
export function showVerdict(verdict: VerdictJson): string | null {
  const texts: [string, string][] = [
    ['the page', renderHtml(verdict, ASSETS)],
    ['JUnit', renderJunit([verdict])],
    ['Markdown', renderMarkdown([verdict])],
  ]
  for (const section of findSections(verdict)) {
    texts.push(['SVG', renderSvg(verdict, section)], ['DOT', renderDot(verdict, section)])
  }
  return firstObeyed(texts)
}

function firstObeyed(texts: readonly [what: string, text: string][]): string | null {
  for (const [what, text] of texts) {
    const problem = obeyed(what, text, '\n')
    if (problem !== null) return problem
  }
  return null
}

/** Controls, marks of direction and other characters without a shape of their own. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

function obeyed(what: string, text: string, allowed: string): string | null {
  for (const [found] of text.matchAll(OBEYED)) {
    if (!allowed.includes(found)) return `${what} holds U+${found.codePointAt(0)!.toString(16)}`
  }
  return null
}

/** What a format can hold comes back with the same verdicts, and can be shrunk. */
async function writeBack(
  history: History,
  results: readonly LevelResult[],
  format: Format,
  random: Random,
): Promise<string | null> {
  const violated = results.filter(({ verdict }) => verdict === 'violated')
  if (violated.length > 0 && random.chance(0.1)) {
    const { level } = random.pick(violated)
    const decide = async (part: History) => (await judge(part, [level], OPTIONS))[0]!
    await shrinkHistory(history, decide, { whole: level === 'lin' })
  }
  const misfits = format.misfits(history)
  if (misfits.length > 0) return obeyed('a reason to refuse', misfits.join(), '')
  const back = load(format, save(format, history))
  const again = judgeAll(back)
  for (const { level, verdict } of results) {
    const other = again.find((result) => result.level === level)
    if (
      other &&
      other.verdict !== verdict &&
      other.verdict !== 'unknown' &&
      verdict !== 'unknown'
    ) {
      const [was, is] = [renderNotation(history), renderNotation(back)]
      return `${level} is ${verdict}, as ${format.id} ${other.verdict}\n${was}\n${is}`
    }
  }
  return null
}

export const DAMAGE: readonly Property[] = FORMATS.map((format) => ({
  name: `damage-${format.id}`,
  run: (seed: number) => survives(format, seed),
}))
