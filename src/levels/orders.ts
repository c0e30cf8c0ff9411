// The orders that a level is asked to respect, as a user writes them: session order, real time,
// both or none. Most levels take either; of Adya's, which know none, the weakest two have forms with
// them. Main functions: parseOrders, withOrders.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { isAdyaLevel, type LevelId, type LevelRequest } from './levels.ts'

export interface Orders {
  readonly sessionOrder: boolean
  readonly realTime: boolean
}

export const ORDER_WORDS = ['session', 'real-time', 'session,real-time', 'none'] as const

/** `session,real-time`, either, or `none`. Throws UsageError. */
export function parseOrders(text: string): Orders {
  const words = text.split(',').map((word) => word.trim())
  if (words.length === 1 && words[0] === 'none') return { sessionOrder: false, realTime: false }
  const known = ['session', 'real-time']
  for (const word of words) {
    if (known.includes(word)) continue
    const message = `--order knows no ${JSON.stringify(word)}`
    throw new UsageError(message, hintFor(word, [...known, 'none']))
  }
  return { sessionOrder: words.includes('session'), realTime: words.includes('real-time') }
}

/** The weakest of Adya's levels with an order -> with session order, and with real time. */
const ADYA_FORMS: Partial<Record<LevelId, readonly [LevelId, LevelId]>> = {
  'pl-1': ['strong-session-pl-1', 'strong-pl-1'],
  'pl-2': ['strong-session-pl-2', 'strong-pl-2'],
}

/** A level with exactly these orders, whatever its name says. Throws UsageError. */
export function withOrders({ level }: LevelRequest, orders: Orders): LevelRequest {
  const { sessionOrder, realTime } = orders
  if (!isAdyaLevel(level)) return { level, sessionOrder, realTime }
  if (!sessionOrder && !realTime) return { level }
  const forms = ADYA_FORMS[level]
  if (!forms) {
    const hint = 'psi is pl-2+ with session order, ser is pl-2.99; pl-1 and pl-2 take any order'
    throw new UsageError(`level ${level} knows neither session order nor real time`, hint)
  }
  return { level: realTime ? forms[1] : forms[0], sessionOrder }
}
