// Under which orders a verdict was reached, besides its level: in words, and whether several were
// reached under the same, so that one of them says something about another. Main functions:
// scopeOf, haveSameOrders.

import { isAdyaLevel, takesTime } from '../levels/levels.ts'
import { knowsSessions } from '../verdict/level-rules.ts'
import type { LevelResult } from '../verdict/verdict.ts'

type Scope = Pick<LevelResult, 'level' | 'sessionOrder' | 'realTime' | 'abortedReads'>

/** What to add to the name of the level; mostly nothing. */
export function scopeOf({ level, sessionOrder, realTime, abortedReads }: Scope): string {
  if (abortedReads === 'ignore') return ', reads of rolled back transactions ignored'
  // Adya's level knows no session order anyway.
  const session = sessionOrder === false && !isAdyaLevel(level) ? ' without session order' : ''
  return `${session}${realTime ? `${session && ','} with real time` : ''}`
}

/** Whether session order and real time count alike at all levels that they matter to. */
export function haveSameOrders(results: readonly Scope[]): boolean {
  const sessions = results.filter(({ level }) => knowsSessions(level))
  const times = results.filter(({ level }) => takesTime(level) && !isAdyaLevel(level))
  return (
    new Set(sessions.map(({ sessionOrder }) => sessionOrder !== false)).size < 2 &&
    new Set(times.map(({ realTime }) => realTime === true)).size < 2
  )
}
