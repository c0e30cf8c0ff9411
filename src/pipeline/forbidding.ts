// Which levels forbid an anomaly: those that its history in the glossary violates, judged anew.
// Main function: findForbidding.

import { judge } from '../check/judge.ts'
import { parseHistory } from '../formats/formats.ts'
import type { Topic } from '../levels/glossary.ts'
import type { LevelId } from '../levels/levels.ts'

export async function findForbidding(topic: Topic): Promise<LevelId[]> {
  if (topic.kind === 'level') return []
  const history = parseHistory(topic.entry.history)
  const levels: LevelId[] | null =
    history.sql === null ? null : ['mixed', 'rc', 'ra', 'cc', 'pc', 'si', 'ser']
  const results = await judge(history, levels?.map((level) => ({ level })) ?? null)
  return results.filter(({ verdict }) => verdict === 'violated').map(({ level }) => level)
}
