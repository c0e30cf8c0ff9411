// What each level asks of a commit order, for a picture: whenever t3 reads x from t1, another one,
// t2, writes x, and the premise leads from t2 to t3, then t2 commits before t1. The same premises
// as in docs/levels.md; what no premise tells is in forbidden-shapes.ts. Main table: AXIOMS.

import type { LevelId } from './levels.ts'

/** As edges have them; co is the commit order. */
export type ArrowKind = 'so' | 'wr' | 'ww' | 'rw' | 'rt' | 'co'

export interface AxiomArrow {
  readonly kind: ArrowKind
  readonly label: string
}

export interface Axiom {
  readonly level: LevelId
  /** The premise in words, behind "whenever t3 reads x from t1, t2 writes x, and". */
  readonly premise: string
  /** From t2 to t3, or from t2 to t4 and from there to t3. */
  readonly way: readonly [AxiomArrow] | readonly [AxiomArrow, AxiomArrow]
  /** What t2, t4 and t3 do besides. */
  readonly besides?: { readonly t2?: string; readonly t4?: string; readonly t3?: string }
  /** What the commit order has to respect besides so and wr. */
  readonly order?: string
}

const co = (label: string): AxiomArrow => ({ kind: 'co', label })
const so = (label: string): AxiomArrow => ({ kind: 'so', label })
const wr = (label: string): AxiomArrow => ({ kind: 'wr', label })
const EARLIER = wr('wr, earlier')
const BEFORE = co('co, or the same')
/** What a read of t3 sees before it reads x. */
const READS_Y = { t2: 'w(y,2)', t3: 'r(y,2)' }
const T4_WRITES = { t4: 'w(y,4)', t3: 'r(y,4)' }

export const AXIOMS: readonly Axiom[] = [
  { level: 'rc', premise: 't3 read from t2 before this read', way: [EARLIER], besides: READS_Y },
  {
    level: 'ryw',
    premise: 't2 is before t3 in its session, or t3 read from t2 before this read',
    way: [so('so')],
  },
  {
    level: 'mr',
    premise:
      't4, which is before t3 in its session, read from t2, or t3 itself did before this read',
    way: [wr('wr'), so('so')],
    besides: { t4: 'r(x,2)' },
  },
  {
    level: 'mw',
    premise:
      't2 is before t4 in its session, and t3 read from t4, or from t2 itself, before this read',
    way: [so('so'), EARLIER],
    besides: T4_WRITES,
  },
  {
    level: 'wfr',
    premise:
      't4 read from t2, or comes after one that did, and t3 read from t4, or from t2 itself, before this read',
    way: [wr('wr, any further'), EARLIER],
    besides: { t4: 'r(x,2) w(y,4)', t3: 'r(y,4)' },
  },
  {
    level: 'ra',
    premise: 't3 read from t2, sooner or later, or comes after it in its session',
    way: [wr('so or wr')],
  },
  {
    level: 'cc',
    premise: 't3 comes after t2 in any number of steps of session order and reads',
    way: [wr('so or wr, any steps')],
  },
  {
    level: 'pc',
    premise:
      't3 read from t4, or comes after it in its session, and t2 is t4 or committed before it',
    way: [BEFORE, wr('so or wr')],
  },
  {
    level: 'psi',
    premise:
      't3 comes after t2 in any number of steps of session order, reads, and writes of one key one after another',
    way: [{ kind: 'ww', label: 'so, wr or ww, any steps' }],
  },
  {
    level: 'si',
    premise:
      't4, which writes a key that t3 writes too, committed before t3, and t2 is t4 or committed before it; or as pc says',
    way: [BEFORE, co('co')],
    besides: { t4: 'w(y,4)', t3: 'w(y,3)' },
  },
  {
    level: 'strong-si',
    premise: 't4 ended before t3 began, and t2 is t4 or committed before it; or as si says',
    way: [BEFORE, { kind: 'rt', label: 'real time' }],
    order: 'who ended before another began',
  },
  { level: 'ser', premise: 't2 committed before t3', way: [co('co')] },
  {
    level: 'ser+lin',
    premise: 't2 committed before t3',
    way: [co('co')],
    order: 'who ended before another began, of those that use a common key',
  },
  {
    level: 'sser',
    premise: 't2 committed before t3',
    way: [co('co')],
    order: 'who ended before another began',
  },
  {
    level: 'stale',
    premise: 't2 ended longer before t3 began than the bound allows',
    way: [{ kind: 'rt', label: 'real time' }],
    order: 'who ended before another began, and may be another one for each read',
  },
  {
    level: 'mixed',
    premise: 'the premise of the level that t3 itself ran at leads from t2 to t3',
    way: [co('as t3’s level says')],
  },
]

/** The axiom as a sentence. */
export function tellAxiom({ premise, order }: Axiom): string {
  const more = order === undefined ? '' : ` The commit order respects ${order}, too.`
  return `There is a commit order that respects session order and reads, in which this holds: whenever t3 reads x from t1, another transaction t2 writes x, and ${premise}, then t2 commits before t1.${more}`
}
