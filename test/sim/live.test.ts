// The store driven from outside, as a recorder does, by a small random workload.

import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { ABORTED, COMMITTED, type History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import { FAULTS, type Fault } from '../../src/sim/faults.ts'
import { LiveStore } from '../../src/sim/live.ts'
import { some } from '../long.ts'
import { draftOf } from '../small/draft.ts'
import { type OracleLevel, profileOf } from '../small/oracle.ts'

const TXNS = 2
const OPS = 3

function drive(seed: number, level: LevelId, fault: Fault | null, lists = false): History {
  // A long fork takes four transactions that know nothing of each other.
  const sessionCount = fault?.name === 'long-fork' ? 4 : 3
  const random = new Random(seed)
  const faults = fault ? [fault] : []
  const store = new LiveStore({ level, seed, sessionCount, faults, faultShare: 0.5 })
  const builder = new HistoryBuilder(null)
  const left = new Array<number>(sessionCount).fill(TXNS * (OPS + 2))
  const txns = new Array<number>(sessionCount).fill(-1)
  let value = 0
  for (let step = 1; left.some((steps) => steps > 0); step++) {
    const session = random.below(sessionCount)
    if (left[session] === 0) continue
    const at = (TXNS * (OPS + 2) - left[session]!--) % (OPS + 2)
    if (at === 0) {
      store.begin(session)
      txns[session] = builder.addTxn(builder.session(session + 1), COMMITTED)
      builder.setStart(txns[session]!, step)
    } else if (at === OPS + 1) {
      if (!store.commit(session)) builder.setStatus(txns[session]!, ABORTED)
      builder.setFinish(txns[session]!, step)
    } else {
      const key = random.below(2)
      const txn = txns[session]!
      if (random.chance(0.5)) {
        if (lists) builder.readList(txn, key, store.readList(session, key))
        else builder.read(txn, key, store.read(session, key) ?? null)
      } else {
        store.write(session, key, ++value)
        if (lists) builder.append(txn, key, value)
        else builder.write(txn, key, value)
      }
    }
  }
  return builder.finish()
}

describe('LiveStore', () => {
  for (const level of CHAIN) {
    test(`keeps ${level} when nothing is wrong with it`, () => {
      for (let seed = 0; seed < some(300); seed++) {
        for (const lists of [false, true]) {
          const history = drive(seed, level, null, lists)
          const found = profileOf(draftOf(history).draft)[level as OracleLevel]
          if (found !== 'satisfied') {
            expect.unreachable(`seed ${seed}: ${level} is ${found}\n${renderNotation(history)}`)
          }
        }
      }
    })
  }

  for (const fault of FAULTS.filter(({ needsPlan }) => !needsPlan)) {
    const from = CHAIN.indexOf(fault.forbiddenFrom)

    test(`shows ${fault.name} when asked to`, () => {
      let violated = 0
      // What is rare is sought among all.
      for (let seed = 0; seed < some(1500) || (violated === 0 && seed < 1500); seed++) {
        const history = drive(seed, 'sser', fault)
        const profile = profileOf(draftOf(history).draft)
        if (profile[fault.forbiddenFrom as OracleLevel] === 'violated') violated++
        // These may do more harm than the name says, depending on what the workload does.
        if (['stale-initial-read', 'duplicate-delivery', 'lost-write'].includes(fault.name))
          continue
        for (const allowed of CHAIN.slice(0, from)) {
          if (profile[allowed as OracleLevel] === 'satisfied') continue
          expect.unreachable(`seed ${seed}: ${allowed} is violated\n${renderNotation(history)}`)
        }
      }
      expect(violated).toBeGreaterThan(0)
    })
  }
})
