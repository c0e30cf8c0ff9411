// Histories that show one of the names that random ones seldom come to: a few transactions that
// show it, in any order and sessions of their own, with other keys read and written beside, and
// others around them. Main function: aimedHistory.

import { Random } from '../../src/base/random.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'

interface Aim {
  readonly name: string
  readonly weight: number // how often it is chosen: more where few levels show it
  readonly histories: readonly (readonly string[])[] // transactions; initially registers are 0
}

const AIMS: readonly Aim[] = [
  {
    name: 'NotMyLastWrite',
    weight: 1,
    histories: [['w(x,1) w(x,2) r(x,1)'], ['w(x,1) w(x,2) w(x,3) r(x,2)', 'r(x,3) w(y,1)']],
  },
  {
    name: 'ReadOnlyAnomaly', // as Fekete, O'Neil and O'Neil found it
    weight: 4,
    histories: [
      ['r(x,0) r(y,0) w(x,1)', 'r(y,0) w(y,2)', 'r(x,0) r(y,2)'],
      ['r(x,0) r(y,0) w(x,1)', 'r(y,0) w(y,2)', 'r(y,2) r(x,0) r(z,0)', 'r(x,1) r(y,2) w(z,1)'],
    ],
  },
  {
    name: 'G-nonadjacent', // a long fork in three
    weight: 6,
    histories: [
      ['w(x,1)', 'w(y,1)', 'w(z,1)', 'r(x,1) r(y,0)', 'r(y,1) r(z,0)', 'r(z,1) r(x,0)'],
      ['w(x,1)', 'w(y,1)', 'w(z,1) w(u,1)', 'r(x,1) r(y,0)', 'r(y,1) r(z,0)', 'r(u,1) r(x,0)'],
    ],
  },
  {
    name: 'G0',
    weight: 1,
    histories: [
      ['append(l,1) append(m,1)', 'append(l,2) append(m,2)', 'r(l,[1,2]) r(m,[2,1])'],
      ['append(l,1) append(m,1)', 'append(l,2) append(m,2)', 'r(l,[1,2])', 'r(m,[2,1])'],
    ],
  },
  {
    name: 'G1c',
    weight: 1,
    histories: [
      ['append(l,1) r(m,[2])', 'append(l,2) append(m,2)', 'r(l,[1,2])'],
      ['append(l,1) r(n,[3])', 'append(l,2) append(m,2)', 'r(m,[2]) append(n,3)', 'r(l,[1,2])'],
    ],
  },
]

const WEIGHED = AIMS.flatMap((aim) => Array<Aim>(aim.weight).fill(aim))

export function aimedHistory(seed: number): History {
  const random = new Random(seed ^ 0xa13d)
  const keys = new Map<string, string>()
  const keyOf = (key: string) => {
    const known = keys.get(key) ?? `${key}${random.below(1000)}`
    keys.set(key, known)
    return known
  }
  const renamed = (ops: string) => ops.replaceAll(/\(([a-z])/g, (_, key) => `(${keyOf(key)}`)
  const { histories } = random.pick(WEIGHED)
  const shown = random.pick(histories).map((ops) => beside(renamed(ops), random))
  const others = Array.from(
    { length: random.below(4) },
    (_, i) => `w(around${i},1)${random.chance(0.5) ? ` r(around${random.below(i + 1)},1)` : ''}`,
  )
  const lines = random.shuffle([...shown, ...others]).map((ops, i) => `s${i}: ${ops}`)
  return parseNotation(`initial 0\n${lines.join('\n')}\n`)
}

/** The same operations with others on keys of their own between them. */
function beside(ops: string, random: Random): string {
  return ops
    .split(/(?<=\)) /)
    .flatMap((op) => {
      if (!random.chance(0.3)) return [op]
      const key = `own${random.below(1e9)}`
      const own = random.pick([`w(${key},1)`, `r(${key},0)`, `w(${key},1) r(${key},1)`])
      return random.chance(0.5) ? [op, own] : [own, op]
    })
    .join(' ')
}
