// The statements of anomalies that several terminals must take part in, or that follow from many
// reads: what is typed where, from top to bottom, and what comes out. Main table: SCRIPTS.

export type Terminal = 'A' | 'B' | 'C' | 'D'

/** Statements in the order in which they run, each with the terminal it is typed into. */
export type Script = readonly (readonly [Terminal, string])[]

/** A transaction is begun before its first step, and ended after its last one. */
const begin = 'BEGIN; '
const end = '; COMMIT'
const set = (key: string, value: number) => `UPDATE t SET v = ${value} WHERE k = '${key}'`
const get = (key: string) => `SELECT v FROM t WHERE k = '${key}'`
const shown = (value: number | string) => `  -- ${value}`

/** Three writers: each of the readers below proves that one of them came after another. */
export const CYCLE_OF_THREE: Script = [
  ['A', "UPDATE t SET v = 1 WHERE k IN ('a', 'x', 'z')"],
  ['B', "UPDATE t SET v = CASE k WHEN 'x' THEN 2 ELSE 1 END WHERE k IN ('b', 'x', 'y')"],
  ['C', "UPDATE t SET v = CASE k WHEN 'c' THEN 1 ELSE 2 END WHERE k IN ('c', 'y', 'z')"],
  ['A', begin + get('a') + shown(1)],
  ['A', get('x') + end + shown('2: B came after A')],
  ['B', begin + get('b') + shown(1)],
  ['B', get('y') + end + shown('2: C came after B')],
  ['C', begin + get('c') + shown(1)],
  ['C', get('z') + end + shown('1: A came after C')],
]

export const SCRIPTS = {
  WrongVersion: [
    ['A', `${set('x', 1)} RETURNING version${shown(1)}`],
    ['B', `${set('x', 2)} RETURNING version${shown(2)}`],
    ['C', `SELECT v, version FROM t WHERE k = 'x'${shown('1, version 2: the value of version 1')}`],
  ],
  FracturedReadCM: [
    ['A', set('x', 2)],
    ['B', set('x', 1)],
    ['A', get('x') + shown('1: the other came last')],
    ['B', get('x') + shown('2: no, the first one did')],
    ['A', set('x', 4)],
    ['B', set('x', 3)],
  ],
  ConflictCM: [
    ['A', begin + set('x', 1)],
    ['A', set('a', 1) + end],
    ['B', begin + set('x', 2)],
    ['B', set('b', 1) + end],
    ['C', begin + get('a') + shown(1)],
    ['C', `${set('c', 1)}${end}  -- rests on A`],
    ['D', begin + get('b') + shown(1)],
    ['D', `${set('d', 1)}${end}  -- rests on B`],
    ['A', begin + get('c') + shown('1: knows of A')],
    ['A', get('x') + end + shown('2: B came after A')],
    ['B', begin + get('d') + shown('1: knows of B')],
    ['B', get('x') + end + shown('1: A came after B')],
  ],
  G1c: [
    ['A', get('y') + shown('1, at two o’clock')],
    ['B', `${set('y', 1)}  -- begun at three o’clock`],
  ],
  'G-single': [
    ['A', begin + get('y') + shown(0)],
    ['B', begin + get('x') + shown(0)],
    ['A', set('x', 1) + end],
    ['B', set('y', 1)],
    ['B', `${set('x', 2)}${end}  -- over an x that it has not seen`],
  ],
  'G-nonadjacent': [
    ['B', set('y', 1)],
    ['D', begin + get('y') + shown(1)],
    ['B', set('y', 2)],
    ['A', begin + get('y') + shown(2)],
    ['C', set('y', 4)],
    ['B', begin + get('y') + shown(4)],
    ['B', get('x') + end + shown(0)],
    ['D', set('x', 7) + end],
    ['A', `${set('x', 3)}${end}  -- and D was not refused`],
  ],
  'G2-item': [
    ['A', begin + get('y') + shown(0)],
    ['A', get('x') + shown(0)],
    ['B', begin + get('x') + shown(0)],
    ['B', set('x', 1) + end],
    ['B', begin + get('y') + shown(0)],
    ['A', set('y', 1) + end],
    ['B', `${set('x', 2)}${end}  -- though y is no longer 0`],
  ],
  IncompatibleOrder: [
    ['A', "UPDATE lists SET elements = elements || 1 WHERE k = 'l'"],
    ['B', "UPDATE lists SET elements = elements || 2 WHERE k = 'l'"],
    ['A', "SELECT elements FROM lists WHERE k = 'l'  -- {1,2}"],
    ['B', "SELECT elements FROM lists WHERE k = 'l'  -- {2,1}"],
  ],
  DuplicateElements: [
    ['A', "UPDATE lists SET elements = elements || 1 WHERE k = 'l'"],
    ['B', "SELECT elements FROM lists WHERE k = 'l'  -- {1,1}"],
  ],
} satisfies Record<string, Script>
