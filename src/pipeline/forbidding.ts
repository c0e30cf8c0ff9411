// Which levels forbid what the glossary tells of: those that its history violates, judged anew.
// Main functions: readLesson, findForbidding.

import { judge } from '../check/judge.ts'
import type { History } from '../history/history.ts'
import { parseNotation } from '../history/notation.ts'
import type { Topic } from '../levels/glossary.ts'
import type { Lesson } from '../levels/lesson.ts'
import type { LevelId } from '../levels/levels.ts'

/** Most are in notation; for the others come the formats. */
export async function readLesson({ history }: Lesson): Promise<History> {
  if (!history.startsWith('{')) return parseNotation(history)
  const { parseHistory } = await import('../formats/parse.ts')
  return parseHistory(history)
}

export async function findForbidding(topic: Topic): Promise<LevelId[]> {
  if (topic.kind === 'level') return []
  const history = await readLesson(topic.entry)
  const levels: LevelId[] | null =
    history.sql === null ? null : ['mixed', 'rc', 'ra', 'cc', 'pc', 'si', 'ser']
  const results = await judge(history, levels?.map((level) => ({ level })) ?? null)
  return results.filter(({ verdict }) => verdict === 'violated').map(({ level }) => level)
}
