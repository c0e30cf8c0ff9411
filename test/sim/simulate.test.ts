// The store keeps the promises of its level, and only those; faults break exactly what they should.
// Judged by the brute-force oracle on small programs.

import { describe, expect, test } from 'vitest'
import { renderNotation } from '../../src/history/render-notation.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import { type GenerateOptions, generate } from '../../src/pipeline/generate.ts'
import { FAULTS } from '../../src/sim/faults.ts'
import { scriptOf } from '../../src/sim/script.ts'
import { some } from '../long.ts'
import { draftOf } from '../small/draft.ts'
import { type OracleLevel, type Profile, profileOf } from '../small/oracle.ts'

type Small = GenerateOptions['workload']

const SMALL: Small = { shape: 'general', sessions: 3, transactions: 6, ops: 3, keys: 2 }
const LISTS: Small = { ...SMALL, shape: 'append', transactions: 4, ops: 2, sessions: 2 }

function generateSmall(seed: number, workload: Small, store: GenerateOptions['store']) {
  const { history } = generate({ seed, workload, store: { lag: 3, ...store } })
  return { profile: profileOf(draftOf(history).draft), text: renderNotation(history) }
}

function expectVerdict(profile: Profile, level: LevelId, verdict: string, what: string): void {
  const found = profile[level as OracleLevel]
  if (found !== verdict) expect.unreachable(`${what}: ${level} is ${found}, not ${verdict}`)
}

describe('a store without faults', () => {
  for (const level of CHAIN) {
    const stronger = CHAIN[CHAIN.indexOf(level) + 1]

    test(`satisfies ${level} and shows what stronger levels forbid`, () => {
      let apart = 0
      const isSought = () => stronger !== undefined && apart === 0
      for (let seed = 0; seed < some(1000) || (isSought() && seed < 1000); seed++) {
        const { profile, text } = generateSmall(seed, SMALL, { level, conflicts: 'abort' })
        expectVerdict(profile, level, 'satisfied', `seed ${seed}\n${text}`)
        if (stronger && profile[stronger as OracleLevel] === 'violated') apart++
      }
      if (stronger) expect(apart).toBeGreaterThan(0)
    })

    test(`satisfies ${level} with aborted and indeterminate transactions, and retries`, () => {
      for (let seed = 0; seed < 200; seed++) {
        const store = { level, aborts: 0.2, indeterminates: 0.3 }
        const { profile, text } = generateSmall(seed, SMALL, store)
        expectVerdict(profile, level, 'satisfied', `seed ${seed}\n${text}`)
      }
    })

    test(`satisfies ${level} on mini-transactions and on lists`, () => {
      for (let seed = 0; seed < 100; seed++) {
        const mini = generateSmall(seed, { ...SMALL, shape: 'mini' }, { level })
        expectVerdict(mini.profile, level, 'satisfied', `seed ${seed}\n${mini.text}`)
        const lists = generateSmall(seed, LISTS, { level })
        expectVerdict(lists.profile, level, 'satisfied', `seed ${seed}\n${lists.text}`)
      }
    })
  }
})

describe('a fault', () => {
  const shapes: [string, Small][] = [
    ['general', { shape: 'general', sessions: 4, transactions: 6, ops: 2, keys: 4 }],
    ['mini', { sessions: 4, transactions: 6, keys: 3, shape: 'mini' }],
    ['append', { sessions: 4, transactions: 6, ops: 1, keys: 2, shape: 'append', reads: 0.3 }],
    ['lwt', { sessions: 4, transactions: 7, keys: 2, shape: 'lwt' }],
    [
      'disjoint',
      { shape: 'general', sessions: 4, transactions: 6, ops: 2, keys: 8, disjointWrites: true },
    ],
  ]
  for (const fault of FAULTS) {
    for (const [shape, workload] of shapes) {
      if (shape === 'disjoint' && fault.name === 'lost-update') continue
      if (shape === 'lwt' && !scriptOf(fault).lightweight) continue
      const expected = (shape === 'append' && fault.onLists) || fault
      const from = CHAIN.indexOf(expected.forbiddenFrom)

      test(`${fault.name} breaks ${CHAIN[from]} and stronger levels only (${shape})`, () => {
        for (let seed = 0; seed < 60; seed++) {
          const store = { level: 'sser' as const, faults: [{ fault, count: 1 }] }
          const sessions = fault.sessions.length > 2 ? 4 : 2
          const { profile, text } = generateSmall(seed, { ...workload, sessions }, store)
          CHAIN.forEach((level, i) => {
            const verdict = i < from ? 'satisfied' : 'violated'
            expectVerdict(profile, level, verdict, `seed ${seed}\n${text}`)
          })
          const cut = expected.breaksCut ? 'violated' : 'satisfied'
          expectVerdict(profile, 'ci', cut, `seed ${seed}\n${text}`)
        }
      })
    }
  }
})
