// Levels that no premise tells, each by the smallest thing that it forbids: transactions and the
// arrows between them, which the level does not allow to be there together. What is drawn is a
// history, which violates the level. Main table: SHAPES.

import type { ArrowKind } from './axioms.ts'
import type { LevelId } from './levels.ts'

/** Where a transaction stands. */
type Place = 'top left' | 'top right' | 'bottom left' | 'bottom' | 'bottom right'

export interface ShapeBox {
  readonly name: string
  readonly operations: string
  readonly place: Place
  /** Its session, if it shares it with the one before. */
  readonly follows?: true
  /** Start and finish, where they count. */
  readonly times?: readonly [start: number, finish: number]
}

export interface ShapeArrow {
  readonly from: string
  readonly to: string
  readonly kind: ArrowKind
  readonly label: string
}

export interface Shape {
  readonly level: LevelId
  readonly says: string
  readonly boxes: readonly ShapeBox[]
  readonly arrows: readonly ShapeArrow[]
}

function box(name: string, operations: string, place: Place): ShapeBox {
  return { name, operations, place }
}
function arrow(from: string, to: string, kind: ArrowKind, label: string): ShapeArrow {
  return { from, to, kind, label }
}

const ORDER = 'The versions of every key have an order, in which'
const EARLY = [1, 2] as const
const LATE = [3, 4] as const
const READ = [5, 6] as const

export const SHAPES: readonly Shape[] = [
  {
    level: 'ci',
    says: 'No transaction reads one key from two others, as t3 does here.',
    boxes: [
      box('t1', 'w(x,1)', 'top left'),
      box('t2', 'w(x,2)', 'top right'),
      box('t3', 'r(x,1) r(x,2)', 'bottom'),
    ],
    arrows: [arrow('t1', 't3', 'wr', 'wr: reads x'), arrow('t2', 't3', 'wr', 'wr: reads x')],
  },
  {
    level: 'lin',
    says: 'There is one order of all transactions that agrees with real time, in which each reads what the last one before it wrote: so nobody who began when t1 had ended misses what t1 wrote, as t2 does here.',
    boxes: [
      { ...box('t1', 'w(x,1)', 'top left'), times: EARLY },
      { ...box('t2', 'r(x,0)', 'top right'), times: LATE },
    ],
    arrows: [arrow('t1', 't2', 'rt', 'rt: earlier'), arrow('t2', 't1', 'rw', 'rw: misses x')],
  },
  {
    level: 'pl-1',
    says: `${ORDER} writers do not replace one another in a circle (ww), as here, where lists show who appended first.`,
    boxes: [
      box('t1', 'append(x,1) append(y,1)', 'top left'),
      box('t2', 'append(x,2) append(y,2)', 'top right'),
      box('t3', 'r(x,[1,2]) r(y,[2,1])', 'bottom'),
    ],
    arrows: [arrow('t1', 't2', 'ww', 'ww: x'), arrow('t2', 't1', 'ww', 'ww: y')],
  },
  {
    level: 'pl-2',
    says: `${ORDER} nothing is read or replaced in a circle (wr, ww): here each has read what the other one wrote.`,
    boxes: [box('t1', 'w(y,1) r(x,2)', 'top left'), box('t2', 'w(x,2) r(y,1)', 'top right')],
    arrows: [arrow('t1', 't2', 'wr', 'wr: y'), arrow('t2', 't1', 'wr', 'wr: x')],
  },
  {
    level: 'pl-cs',
    says: `${ORDER} there is no circle of wr and ww, and none of overwrites of one key with one read that misses one of them (rw): here t2 replaces what it has not read.`,
    boxes: [box('t1', 'r(x,0) w(x,1)', 'top left'), box('t2', 'r(x,0) w(x,2)', 'top right')],
    arrows: [arrow('t1', 't2', 'ww', 'ww: x'), arrow('t2', 't1', 'rw', 'rw: misses x')],
  },
  {
    level: 'pl-2l',
    says: `${ORDER} there is no circle of wr and ww, and no read misses (rw) what an earlier operation of its transaction depends on: here t2 read y first.`,
    boxes: [box('t1', 'r(x,0) w(x,1) w(y,1)', 'top left'), box('t2', 'r(y,1) r(x,0)', 'top right')],
    arrows: [arrow('t1', 't2', 'wr', 'wr: y, earlier'), arrow('t2', 't1', 'rw', 'rw: misses x')],
  },
  {
    level: 'pl-2+',
    says: `${ORDER} there is no circle of wr and ww, nor one with a single read that misses something (rw): here t2 sees y of t1, and not its x.`,
    boxes: [box('t1', 'r(x,0) w(x,1) w(y,1)', 'top left'), box('t2', 'r(x,0) r(y,1)', 'top right')],
    arrows: [arrow('t1', 't2', 'wr', 'wr: y'), arrow('t2', 't1', 'rw', 'rw: misses x')],
  },
  {
    level: 'pl-3u',
    says: `${ORDER} there is no circle of wr, ww and rw through transactions that write and at most one that only reads: here each misses what the other one writes.`,
    boxes: [
      box('t1', 'r(x,0) r(y,0) w(x,1)', 'top left'),
      box('t2', 'r(x,0) r(y,0) w(y,1)', 'top right'),
    ],
    arrows: [arrow('t1', 't2', 'rw', 'rw: misses y'), arrow('t2', 't1', 'rw', 'rw: misses x')],
  },
  {
    level: 'pl-2.99',
    says: `${ORDER} there is no circle of wr, ww and rw, of whichever transactions: here two who only read disagree about who wrote first.`,
    boxes: [
      box('t1', 'w(x,1)', 'top left'),
      box('t3', 'r(x,1) r(y,0)', 'top right'),
      box('t2', 'w(y,1)', 'bottom right'),
      box('t4', 'r(x,0) r(y,1)', 'bottom left'),
    ],
    arrows: [
      arrow('t1', 't3', 'wr', 'wr: x'),
      arrow('t3', 't2', 'rw', 'rw: misses y'),
      arrow('t2', 't4', 'wr', 'wr: y'),
      arrow('t4', 't1', 'rw', 'rw: misses x'),
    ],
  },
  {
    level: 'strong-session-pl-1',
    says: `${ORDER} writers do not replace one another in a circle of overwrites and session order (ww, so): here what a session appended first comes last.`,
    boxes: [
      box('t1', 'append(x,1)', 'top left'),
      { ...box('t2', 'append(x,2)', 'top right'), follows: true },
      box('t3', 'r(x,[2,1])', 'bottom'),
    ],
    arrows: [arrow('t1', 't2', 'so', 'so'), arrow('t2', 't1', 'ww', 'ww: x')],
  },
  {
    level: 'strong-session-pl-2',
    says: `${ORDER} nothing is read or replaced in a circle, session order included (wr, ww, so): here a session reads what it writes only later.`,
    boxes: [
      box('t1', 'r(x,1)', 'top left'),
      { ...box('t2', 'w(x,1)', 'top right'), follows: true },
    ],
    arrows: [arrow('t1', 't2', 'so', 'so'), arrow('t2', 't1', 'wr', 'wr: x')],
  },
  {
    level: 'strong-pl-1',
    says: `${ORDER} writers do not replace one another in a circle of overwrites, session order and real time (ww, so, rt): here what was appended when t1 had ended comes before it.`,
    boxes: [
      { ...box('t1', 'append(x,1)', 'top left'), times: EARLY },
      { ...box('t2', 'append(x,2)', 'top right'), times: LATE },
      { ...box('t3', 'r(x,[2,1])', 'bottom'), times: READ },
    ],
    arrows: [arrow('t1', 't2', 'rt', 'rt: earlier'), arrow('t2', 't1', 'ww', 'ww: x')],
  },
  {
    level: 'strong-pl-2',
    says: `${ORDER} nothing is read or replaced in a circle, session order and real time included (wr, ww, so, rt): here t1 reads what was written when it had ended.`,
    boxes: [
      { ...box('t1', 'r(x,1)', 'top left'), times: EARLY },
      { ...box('t2', 'w(x,1)', 'top right'), times: LATE },
    ],
    arrows: [arrow('t1', 't2', 'rt', 'rt: earlier'), arrow('t2', 't1', 'wr', 'wr: x')],
  },
]

/** What is drawn, in notation. */
export function historyOf({ boxes }: Shape): string {
  return boxes
    .map(({ operations, follows, times }, i) => {
      const when = times ? ` [start=${times[0]} finish=${times[1]}]` : ''
      return `${follows ? ' | ' : `${i === 0 ? '' : '\n'}s${i + 1}: `}${operations}${when}`
    })
    .join('')
}
