// Under which orders a verdict was reached, besides its level: in words, and whether several were
// reached under the same, so that one of them says something about another. Main functions:
// scopeOf, haveSameOrders.

import { counted } from '../base/counted.ts'
import { isAdyaLevel, takesTime } from '../levels/levels.ts'
import { knowsSessions } from '../verdict/level-rules.ts'
import type { LevelResult } from '../verdict/verdict.ts'

type Scope = Pick<
  LevelResult,
  'level' | 'sessionOrder' | 'realTime' | 'bound' | 'abortedReads' | 'staleness'
>

/** What to add to the name of the level; mostly nothing. */
export function scopeOf(scope: Scope): string {
  const { level, sessionOrder, realTime, abortedReads } = scope
  if (abortedReads === 'ignore') return ', reads of rolled back transactions ignored'
  // Adya's level knows no session order anyway.
  const session = sessionOrder === false && !isAdyaLevel(level) ? ' without session order' : ''
  return `${boundOf(scope)}${session}${realTime ? `${session && ','} with real time` : ''}`
}

/** How stale reads may be; if nothing was asked for, how stale they are. */
function boundOf({ bound, staleness }: Scope): string {
  if (bound !== undefined) {
    return ` of ${/\d$/.test(bound) ? counted(Number(bound), 'version') : bound}`
  }
  if (!staleness) return ''
  const { time, versions } = staleness
  return ` of ${time}${versions === undefined ? '' : ` and ${counted(versions, 'version')}`}`
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
