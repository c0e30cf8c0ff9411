// What the worker finds out for those who learn: a word of the glossary, judged live, and the
// single edits after which a level holds. Main functions: judgeTopic, findMending.

import { nowMs } from '../../base/deadline.ts'
import { InputError, UsageError } from '../../base/errors.ts'
import { judge } from '../../check/judge.ts'
import { parseHistory } from '../../formats/formats.ts'
import { parseNotation } from '../../history/notation.ts'
import { findTopic } from '../../levels/glossary.ts'
import { idOf } from '../../levels/levels.ts'
import { readLevel } from '../../levels/words.ts'
import { findForbidding } from '../../pipeline/forbidding.ts'
import { describeVerdict } from '../../report/describe-verdict.ts'
import { renderView } from '../../report/page/view.ts'
import type { Mending, TopicJudged } from './protocol.ts'
import { applyEdit, type Edit, findSingleEdits } from './single-edits.ts'

/** Looking for edits ends after so long, or when so many are found. */
const LOOKING_MS = 4000
const MAX_FOUND = 12

export async function judgeTopic(name: string): Promise<TopicJudged> {
  const topic = findTopic(name)
  if (topic?.kind !== 'anomaly') throw new UsageError(`${name} is no anomaly`)
  const { history: text, level } = topic.entry
  const history = parseHistory(text)
  const asked = level === undefined ? null : [level]
  const results = await judge(history, asked)
  const context = { path: topic.entry.name, format: 'native', parseMs: 0, asked }
  const verdict = describeVerdict(history, results, context)
  const found = results.flatMap(({ anomalies }) => anomalies.map((anomaly) => anomaly.name))
  return {
    kind: 'topic',
    forbidding: await findForbidding(topic),
    found: [...new Set(found)],
    view: renderView(verdict),
  }
}

/** Judges every single edit; most histories that people write have a few dozen. */
export async function findMending(text: string, word: string): Promise<Mending> {
  const request = readLevel(word)
  parseNotation(text) // whose errors say where
  const startMs = nowMs()
  const edits: Edit[] = []
  const all = findSingleEdits(text)
  let tried = 0
  for (const edit of all) {
    if (edits.length >= MAX_FOUND || nowMs() - startMs > LOOKING_MS) break
    tried++
    if (await holds(applyEdit(text, edit), request)) edits.push(edit)
  }
  return { kind: 'mending', level: idOf(request), edits, tried, count: all.length }
}

async function holds(text: string, request: ReturnType<typeof readLevel>): Promise<boolean> {
  try {
    const [result] = await judge(parseNotation(text), [request])
    return result!.verdict === 'satisfied'
  } catch (error) {
    if (error instanceof InputError) return false // such as a value that is written twice then
    throw error
  }
}
