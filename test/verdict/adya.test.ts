// Anomalies by Adya's and Jepsen's names.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { adyaNames } from '../../src/verdict/adya.ts'
import { historyOfSql, parseSql } from '../small/sql-draft.ts'

function names(level: LevelId, notation: string): string[] {
  const history = parseNotation(notation)
  const { anomalies } = check(history, level)
  return [...new Set(anomalies.flatMap((anomaly) => adyaNames(history, anomaly)))]
}

describe('adyaNames', () => {
  it.each<[string, LevelId, string, string[]]>([
    [
      'dirty writes',
      'pl-2',
      's0: append(x,1) append(y,1)\ns1: append(x,2) append(y,2)\ns2: r(x,[1,2]) r(y,[2,1])',
      ['G0'],
    ],
    ['an aborted read', 'rc', 's0: w(x,1) [aborted]\ns1: r(x,1)', ['G1a']],
    [
      'an append on top of an aborted one',
      'rc',
      's0: append(x,1) [aborted]\ns1: append(x,2)\ns2: r(x,[1,2])',
      ['G1a', 'dirty-update'],
    ],
    ['an intermediate read', 'rc', 's0: w(x,1) w(x,2)\ns1: r(x,1)', ['G1b']],
    ['circular information flow', 'pl-2', 's0: w(x,1) r(y,2)\ns1: w(y,2) r(x,1)', ['G1c']],
    ['the same through a session', 'rc', 's0: r(x,1) | w(y,1)\ns1: r(y,1) w(x,1)', ['G1c-process']],
    ['a missed effect', 'ra', 's0: w(x,1) w(y,1)\ns1: r(x,1) r(y,0)', ['G-single']],
    ['a missed effect of one’s own', 'ra', 's0: w(x,1) | r(x,0)', ['G-single-process']],
    ['a lost update', 'si', 's0: r(x,0) w(x,1)\ns1: r(x,0) w(x,2)', ['G-single', 'lost-update']],
    [
      'a long fork',
      'si',
      's0: w(x,1)\ns1: w(y,1)\ns2: r(x,1) r(y,0)\ns3: r(x,0) r(y,1)',
      ['G-nonadjacent'],
    ],
    ['write skew', 'ser', 's0: r(x,0) w(y,1)\ns1: r(y,0) w(x,2)', ['G2-item']],
    [
      'the same through sessions',
      'ser',
      's0: w(x,1) | r(y,0)\ns1: w(y,2) | r(x,0)',
      ['G-nonadjacent-process'],
    ],
    [
      'a stale read',
      'sser',
      's0: w(x,1) [start=0 finish=1]\ns1: r(x,0) [start=2 finish=3]',
      ['G-single-realtime'],
    ],
    ['a read that skips an own write', 'rc', 's0: w(x,1) r(x,0)', ['internal']],
    [
      'two orders of a list',
      'rc',
      's0: append(x,1)\ns1: append(x,2)\ns2: r(x,[1,2])\ns3: r(x,[2,1])',
      ['incompatible-order'],
    ],
    ['an element twice', 'rc', 's0: append(x,1)\ns1: r(x,[1,1])', ['duplicate-elements']],
    ['a value that nobody wrote', 'rc', 's0: r(x,1)', []],
  ])('names %s', (_, level, notation, expected) => {
    expect(names(level, `initial 0\n${notation}`)).toEqual(expected)
  })

  it('tells items from predicates', () => {
    const skew = `
      init: x=0 y=0
      s1: [si] select(v = 1) ; insert as w1 x=1
      s2: [si] select(v = 1) ; insert as w2 y=1`
    const history = historyOfSql(parseSql(skew))
    const found = checkMixed(history, ['ser'])[0]!.anomalies
    expect(found.map((anomaly) => adyaNames(history, anomaly))).toEqual([['G2']])
    const items = historyOfSql(parseSql(skew.replaceAll('v = 1)', 'true) x@0 y@0')))
    const plain = checkMixed(items, ['ser'])[0]!.anomalies
    expect(plain.map((anomaly) => adyaNames(items, anomaly))).toEqual([['G2-item']])
  })
})
