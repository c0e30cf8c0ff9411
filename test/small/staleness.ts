// Bounded staleness by its definition: a read missed a version if its writer had finished when the
// reader started, and comes after whom the read saw in every total order that session order, reads,
// known versions and real time allow. All those orders are gone through. Main functions:
// stalenessOf, disagreementOnStaleness.

import { check } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { INIT, judge, settle } from './judge.ts'
import { forEachOrder } from './oracle.ts'

export interface Staleness {
  /** The longest time for which a version that some read missed had been there. */
  readonly time: number
  /** The most versions that a read missed. */
  readonly versions: number
}

/** Null: some read is not sound, or no order is left; without times nobody knows: 'unknown'. */
export function stalenessOf(draft: Draft, sessionOrder = true): Staleness | 'unknown' | null {
  const situation = judge(draft, settle(draft), { sessionOrder })
  const { so, wr, ww, rt, reads, writers, txnOf, count, offences } = situation
  const must = so.map((mask, t) => mask | wr[t]! | ww[t]! | (rt?.[t] ?? 0))
  // before[t]: whoever precedes t in every order
  const before = new Array<number>(count).fill((1 << count) - 1)
  let isPossible = false
  forEachOrder(must, (order) => {
    isPossible = true
    for (let t = 0; t < count; t++) before[t]! &= order[t]!
    return true
  })
  if (offences.length > 0 || !isPossible) return null
  if (rt === null) return 'unknown'
  const txns = draft.sessions.flat()
  const draftTxn = (t: number) => txns[txnOf.indexOf(t)]!
  let [time, versions] = [0, 0]
  for (const { reader, from, key } of reads) {
    const missed: number[] = []
    for (let t = 1; t < count; t++) {
      const isWriter = ((writers.get(key)! >> t) & 1) === 1
      const isNewer = ((before[t]! >> from) & 1) === 1 || from === INIT
      const isOver = ((rt[reader]! >> t) & 1) === 1
      if (isWriter && isNewer && isOver && t !== from && t !== reader) missed.push(t)
    }
    versions = Math.max(versions, missed.length)
    for (const t of missed) {
      time = Math.max(time, draftTxn(reader).start! - draftTxn(t).finish!)
    }
  }
  return { time, versions }
}

/** What is wrong with the verdicts on a draft; null if they agree with the definition. */
export function disagreementOnStaleness(draft: Draft, sessionOrder: boolean): string | null {
  const truth = stalenessOf(draft, sessionOrder)
  const history: History = { ...buildHistory(draft), timeUnit: 'ms' }
  const told = (bound: string | undefined) => {
    const request = { level: 'stale' as const, sessionOrder, ...(bound ? { bound } : {}) }
    const result = check(history, request)
    const isProved = result.verdict === 'unknown' || result.certificate?.verified === true
    if (!isProved) throw new Error('a verdict without a verified certificate')
    return result
  }
  const differs = (bound: string | undefined, expected: string) => {
    const { verdict } = told(bound)
    if (verdict === expected) return null
    return `stale:${bound}: ${verdict}, not ${expected}\n${renderDraft(draft)}`
  }
  const [none, time, versions] =
    truth === 'unknown' || truth === null ? [truth, 0, 0] : [undefined, truth.time, truth.versions]
  const wrong = (isBeyond: boolean) =>
    none === undefined ? (isBeyond ? 'violated' : 'satisfied') : (none ?? 'violated')
  for (const bound of [0, 1, 2]) {
    const found = differs(`${bound}`, wrong(versions > bound))
    if (found !== null) return found
  }
  for (const bound of [0, time - 1, time].filter((each) => each >= 0)) {
    const found = differs(`${bound}ms`, wrong(time > bound))
    if (found !== null) return found
  }
  const least = told(undefined)
  const expected = none === undefined ? { time: `${time}ms`, versions } : undefined
  if (JSON.stringify(least.staleness) === JSON.stringify(expected))
    return differs(undefined, wrong(false))
  return `${JSON.stringify(least.staleness)}, not ${JSON.stringify(expected)}\n${renderDraft(draft)}`
}
