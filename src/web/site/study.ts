// What is found out for those who learn: a word of the glossary, judged live, and the single edits
// after which a level holds. Main functions: judgeTopic, findMending.

import { nowMs } from '../../base/deadline.ts'
import { InputError } from '../../base/errors.ts'
import { judge } from '../../check/judge.ts'
import type { History } from '../../history/history.ts'
import { parseNotation } from '../../history/notation.ts'
import type { HistoryTopic } from '../../levels/glossary.ts'
import { idOf, type LevelId } from '../../levels/levels.ts'
import { readLevel } from '../../levels/words.ts'
import { findForbidding, readLesson } from '../../pipeline/forbidding.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import type { Mending } from './protocol.ts'
import { applyEdit, type Edit, findSingleEdits } from './single-edits.ts'

/** Looking for edits ends after so long, or when so many are found. */
const LOOKING_MS = 4000
const MAX_FOUND = 12

/** A history of the glossary, as it was judged. */
export interface JudgedTopic {
  readonly topic: HistoryTopic
  readonly history: History
  readonly asked: readonly { level: LevelId }[] | null
  readonly results: readonly LevelResult[]
  /** The levels that the history violates. */
  readonly forbidding: readonly LevelId[]
  /** The anomalies that were found in it. */
  readonly found: readonly string[]
}

export async function judgeTopic(topic: HistoryTopic): Promise<JudgedTopic> {
  const { level } = topic.entry
  const history = await readLesson(topic.entry)
  const asked = level === undefined ? null : [{ level }]
  const results = await judge(history, asked)
  const names = results.flatMap(({ anomalies }) => anomalies.map((anomaly) => anomaly.name))
  const forbidding = await findForbidding(topic)
  return { topic, history, asked, results, forbidding, found: [...new Set(names)] }
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
