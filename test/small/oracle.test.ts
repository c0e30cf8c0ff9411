// Tests the definitions against one another by brute force: the chain of levels, what an
// indeterminate transaction means, the patterns of the weak levels, the graph forms of the strong
// ones, and the meaning of lists. Each on every small history and on seeded random ones.

import { describe, expect, test } from 'vitest'
import { LONG, some } from '../long.ts'
import { draftsFor } from './compare.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { graphProfile } from './graph-forms.ts'
import { judge, type Situation, settle } from './judge.ts'
import {
  axiomProfile,
  forEachOrder,
  ORACLE_LEVELS,
  type OracleLevel,
  type Profile,
  profileByOutcomes,
  profileOf,
  satisfiesAxiom,
} from './oracle.ts'
import type { RandomShape } from './random-history.ts'
import { type Tap, tapOracle } from './taps.ts'

const SEEDS = some(10_000, 12)
const STRIDE = LONG ? 3 : 36 // not every small history, to keep the tests short

/** Runs a claim over the small histories and the seeded ones; `claim` returns what is wrong. */
function holds(
  claim: (draft: Draft) => string | null,
  options: { shape?: Partial<RandomShape>; exhaustive?: boolean } = {},
): number {
  const families = options.exhaustive === false ? { families: [] } : {}
  const shape = options.shape ?? {}
  let count = 0
  for (const { draft, source } of draftsFor({ ...families, stride: STRIDE, seeds: SEEDS, shape })) {
    const wrong = claim(draft)
    if (wrong !== null) expect.unreachable(`${source}: ${wrong}\n${renderDraft(draft)}`)
    count++
  }
  return count
}

const situationOf = (draft: Draft, sessionOrder = true) =>
  judge(draft, settle(draft), { sessionOrder })

/** The weaker and the stronger level of every implication. */
const IMPLICATIONS: [OracleLevel, OracleLevel][] = [
  ['ser', 'sser'],
  ['si', 'ser'],
  ['pc', 'si'],
  ['cc', 'pc'],
  ['ra', 'cc'],
  ['rc', 'ra'],
  ['ci', 'ra'],
]

describe('the levels', () => {
  const brokenLink = (profile: Profile) => {
    const broken = IMPLICATIONS.find(
      ([weak, strong]) => profile[strong] === 'satisfied' && profile[weak] !== 'satisfied',
    )
    return broken ? `${broken[1]} holds, ${broken[0]} does not` : null
  }

  test('form the chain rc … sser, with ci below ra', () => {
    expect(holds((draft) => brokenLink(profileOf(draft)))).toBeGreaterThan(SEEDS)
  })

  test('form the same chain on lists and without session order', () => {
    holds((draft) => brokenLink(profileOf(draft)), { shape: { lists: 0.7 }, exhaustive: false })
    holds((draft) => brokenLink(profileOf(draft, { sessionOrder: false })))
  })

  test('are all different, and ci and rc are independent', () => {
    const apart = new Set<string>()
    holds((draft) => {
      const profile = profileOf(draft)
      for (const weak of ORACLE_LEVELS) {
        for (const strong of ORACLE_LEVELS) {
          if (profile[weak] === 'satisfied' && profile[strong] === 'violated') {
            apart.add(`${weak} without ${strong}`)
          }
        }
      }
      return null
    })
    for (const [weak, strong] of IMPLICATIONS) expect(apart).toContain(`${weak} without ${strong}`)
    expect(apart).toContain('ci without rc')
    expect(apart).toContain('rc without ci')
  })
})

describe('an indeterminate transaction', () => {
  const differs = (draft: Draft) => {
    const counted = profileOf(draft)
    const tried = profileByOutcomes(draft)
    const level = ORACLE_LEVELS.find((id) => counted[id] !== tried[id])
    return level ? `${level}: ${counted[level]} by counting, ${tried[level]} by outcomes` : null
  }

  test('counts exactly when some outcome needs it', () => {
    holds(differs, { shape: { indeterminate: 0.4 } })
  })

  test('counts exactly when some outcome needs it, on lists', () => {
    holds(differs, { shape: { indeterminate: 0.4, lists: 0.7 }, exhaustive: false })
  })

  test('is counted by the dense history as by the oracle', () => {
    holds(
      (draft) => {
        const counted = settle(draft).map(Number)
        const dense = [...buildHistory({ ...draft, lead: [] }).txnCounts]
        return dense.join() === counted.join()
          ? null
          : `${dense} counted, the oracle says ${counted}`
      },
      { shape: { indeterminate: 0.3, lists: 0.3, wild: 0.2 } },
    )
  })
})

describe('tapOracle', () => {
  const PATTERNS: [OracleLevel, string][] = [
    ['rc', 'abcdefghi'],
    ['ra', 'abcdefghijkl'],
    ['cc', 'abcdefghijklmn'],
  ]

  test('finds a pattern of a level exactly when the level is violated', () => {
    const seen = new Set<string>()
    for (const sessionOrder of [true, false]) {
      holds((draft) => {
        const profile = profileOf(draft, { sessionOrder })
        const taps = tapOracle(draft, { sessionOrder })
        for (const tap of Object.keys(taps)) if (taps[tap as Tap].length > 0) seen.add(tap)
        for (const [level, letters] of PATTERNS) {
          const shown = [...letters].filter((tap) => taps[tap as Tap].length > 0)
          if (shown.length > 0 !== (profile[level] === 'violated')) {
            return `${level} is ${profile[level]} with patterns ${shown.join()}`
          }
        }
        return null
      })
    }
    expect([...seen].sort().join('')).toBe('abcdefghijklmn')
  })
})

describe('graphProfile', () => {
  const differs = (draft: Draft, sessionOrder: boolean) => {
    const situation = situationOf(draft, sessionOrder)
    const axioms = axiomProfile(situation)
    const graphs = graphProfile(situation)
    const level = (['ser', 'si', 'pc'] as const).find(
      (id) => graphs[id] !== (axioms[id] === 'satisfied'),
    )
    return level ? `${level}: ${axioms[level]} by the axiom, ${graphs[level]} by graphs` : null
  }

  test('agrees with the axioms of ser, si and pc', () => {
    holds((draft) => differs(draft, true))
    holds((draft) => differs(draft, false), { exhaustive: false })
  })

  test('agrees with the axioms on lists', () => {
    const unclear = (draft: Draft) =>
      situationOf(draft).offences.some(({ name }) => name === 'IncompatibleOrder')
    holds((draft) => (unclear(draft) ? null : differs(draft, true)), {
      shape: { lists: 0.7 },
      exhaustive: false,
    })
  })
})

describe('lists', () => {
  /** A read of a list shows what everybody up to its source appended, in commit order. */
  const replays = (situation: Situation, before: readonly number[]) =>
    situation.reads.every(({ elements, key, from }) => {
      if (elements === null) return true
      const byTxn = situation.appends.get(key) ?? []
      const upToSource = byTxn
        .map((_, t) => t)
        .filter((t) => t === from || (before[from]! >> t) & 1)
        .sort((a, b) => ((before[b]! >> a) & 1 ? -1 : 1))
      return elements.join() === upToSource.flatMap((t) => byTxn[t]!).join()
    })

  test('satisfy a level exactly when replaying some commit order gives every read', () => {
    const levels = ORACLE_LEVELS.filter((level) => level !== 'ci' && level !== 'sser')
    const shape = { lists: 0.8, wild: 0, thinAir: 0 }
    let violated = 0
    holds(
      (draft) => {
        const situation = situationOf(draft)
        const profile = profileOf(draft)
        const must = situation.so.map((mask, t) => mask | situation.wr[t]!)
        const found = new Set<OracleLevel>()
        const sound = situation.offences.every(({ name }) => name === 'IncompatibleOrder')
        forEachOrder(must, (before) => {
          if (!sound || !replays(situation, before)) return sound
          for (const level of levels) if (satisfiesAxiom(situation, before, level)) found.add(level)
          return found.size < levels.length
        })
        if (sound && found.size === 0) violated++
        const level = levels.find((id) => found.has(id) !== (profile[id] === 'satisfied'))
        return level ? `${level} is ${profile[level]}, replayed: ${found.has(level)}` : null
      },
      { shape, exhaustive: false },
    )
    expect(violated).toBeGreaterThan(SEEDS / 100)
  })
})
