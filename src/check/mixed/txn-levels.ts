// The level of every transaction: one, or for `mixed` the one it ran at. Main function: levelsOf.

import { UsageError } from '../../base/errors.ts'
import { type History, NONE } from '../../history/history.ts'
import { LEVELS, type LevelId } from '../../levels/levels.ts'
import { CC, PC, RA, RC, RC_SQL, SER, SI } from '../problem/levels.ts'
import { OUT } from '../problem/mixed-problem.ts'

const PREMISES: Readonly<Partial<Record<LevelId, number>>> = {
  rc: RC,
  ra: RA,
  cc: CC,
  pc: PC,
  si: SI,
  ser: SER,
  sser: SER, // in real time, which is the problem's
}

const HINT = 'transactions may run at rc, ra, cc, pc, si or ser'

/** Node -> RC … SER; throws UsageError for a transaction without a level that can be judged. */
export function levelsOf(history: History, level: LevelId, state: Uint8Array): Uint8Array {
  const levels = new Uint8Array(state.length)
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (state[txn + 1] === OUT) continue
    const id = level === 'mixed' ? recorded(history, txn) : level
    const premise = PREMISES[id]
    if (premise === undefined) {
      const who = level === 'mixed' ? `${history.txnName(txn)} ran at ${id}` : id
      throw new UsageError(`level mixed cannot judge a transaction at its level: ${who}`, HINT)
    }
    levels[txn + 1] = premise === RC && history.sql ? RC_SQL : premise
  }
  return levels
}

function recorded(history: History, txn: number): LevelId {
  const index = history.txnLevel?.[txn] ?? NONE
  if (index === NONE) {
    const message = `level mixed needs the level of every transaction; ${history.txnName(txn)} has none`
    throw new UsageError(message, `${HINT}; or judge all at one level`)
  }
  return LEVELS[index]!.id
}
