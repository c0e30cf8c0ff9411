// Rules about how strong levels are decided: all deciders say the same, and histories that have
// nothing to do with each other, or share no more than one session, are judged together as each of
// them alone.

import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import { ALGORITHMS } from '../../src/check/general/strong-levels.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { buildHistory, type Draft, type DraftTxn, draftOf } from '../small/draft.ts'
import { anyHistory } from './histories.ts'
import type { Judge, Property } from './property.ts'

const STRONG = ['pc', 'si', 'ser', 'sser'] as const

/** A search may take for ever; what it does not settle in this time is left open. */
const SEARCH_MS = 500

function decidersAgree(seed: number): string | null {
  const history = anyHistory(seed)
  for (const level of STRONG) {
    const verdicts = ALGORITHMS.map((algorithm) => {
      const budgetMs = algorithm === 'search' ? SEARCH_MS : null
      return check(history, level, { algorithm, budgetMs }).verdict
    })
    const known = new Set(verdicts.filter((verdict) => verdict !== 'unknown'))
    if (known.size <= 1) continue
    return `${level}: ${ALGORITHMS.join(', ')} say ${verdicts.join(', ')}\n${renderNotation(history)}`
  }
  return null
}

/** The second history beside the first, or behind it in one of its sessions. */
function joinsComponents(seed: number, judge: Judge): string | null {
  const random = new Random(seed ^ 0x70c4)
  const { lead: _, ...first } = draftOf(anyHistory(seed)).draft
  const second = partnerOf(first, random)
  if (second === null) return null
  const glued = random.chance(0.5)
  // Times of one half only are no times, and say nothing about who shares a session.
  const isTimed = (draft: Draft) => draft.sessions.flat().every(({ start }) => start !== undefined)
  const timed = !glued && isTimed(first) && isTimed(second)
  const halves = [first, second].map((draft, i) => renamed(draft, `half ${i} `, timed))
  const [a, b] = halves as [Draft, Draft]
  const sessions = glued
    ? [[...(a.sessions[0] ?? []), ...(b.sessions[0] ?? [])], ...a.sessions.slice(1)]
    : [...a.sessions]
  sessions.push(...b.sessions.slice(glued ? 1 : 0))
  const whole = buildHistory({ initial: a.initial, sessions })
  const alone = halves.map((half) => judge(buildHistory(half)))
  for (const [i, { level, verdict }] of judge(whole).entries()) {
    const verdicts = alone.map((results) => results[i]!.verdict)
    if ([verdict, ...verdicts].includes('unknown')) continue
    const wanted = verdicts.includes('violated') ? 'violated' : 'satisfied'
    if (verdict === wanted) continue
    return `${level} of two halves is ${verdict}, not ${wanted}\n${renderNotation(whole)}`
  }
  return null
}

/** A history with the same initial value, null if none turns up. */
function partnerOf({ initial }: Draft, random: Random): Draft | null {
  for (let tries = 0; tries < 10; tries++) {
    const { draft } = draftOf(anyHistory(random.uint32()))
    const { lead: _, ...plain } = draft
    if (draft.initial === initial) return plain
  }
  return null
}

function renamed(draft: Draft, prefix: string, timed: boolean): Draft {
  const change = ({ start, finish, ...txn }: DraftTxn): DraftTxn => ({
    ...txn,
    ops: txn.ops.map((op) => ({ ...op, key: `${prefix}${op.key}` })),
    ...(txn.id === undefined ? {} : { id: `${prefix}${txn.id}` }),
    ...(txn.after ? { after: txn.after.map((id) => `${prefix}${id}`) } : {}),
    ...(timed && start !== undefined ? { start } : {}),
    ...(timed && finish !== undefined ? { finish } : {}),
  })
  return { ...draft, sessions: draft.sessions.map((txns) => txns.map(change)) }
}

export const DECIDERS: Property = { name: 'deciders', run: decidersAgree }
export const COMPONENTS: Property = { name: 'components', run: joinsComponents }
