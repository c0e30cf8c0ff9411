// A broken database is a finding: rows that are there twice or not at all, commits that are gone.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { judge } from '../../../src/check/judge.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { describeVerdict } from '../../../src/report/describe-verdict.ts'
import { certifyResult } from '../../../src/verdict/certify.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'

const LEVELS: LevelId[] = ['ci', 'rc', 'ra', 'cc', 'pc', 'si', 'ser', 'pl-2']

/** What every level makes of a history: names of anomalies with their transactions. */
function findings(text: string): string[] {
  const history = parseNotation(text)
  return LEVELS.map((level) => {
    const { verdict, anomalies } = check(history, level)
    const names = anomalies.map(({ name, txns }) => {
      return `${name} ${txns.map((txn) => history.txnName(txn)).join(' ')}`
    })
    return `${verdict} ${names.join(', ')}`.trim()
  })
}

const everywhere = (finding: string) => LEVELS.map(() => finding)

function stories(history: History, level: LevelId): (string | null)[] {
  const context = { path: 'history', format: 'native', parseMs: 0 }
  const { results } = describeVerdict(history, [check(history, level)], context)
  return results[0]!.anomalies.map(({ story }) => story)
}

describe('DuplicateRow', () => {
  it('violates every level, and names whoever wrote the rows', () => {
    const text = 's1: w(x,1) [id=a]\ns2: w(x,2) [id=b]\ns3: rows(x,[1,2]) [id=c]'
    expect(findings(text)).toEqual(everywhere('violated DuplicateRow c a b'))
    expect(findings(text.replace('rows(x,[1,2])', 'r(x,1)'))).toEqual(everywhere('satisfied'))
    expect(stories(parseNotation(text), 'rc')).toEqual([
      'c read x and got several rows for it: x=1 and 2',
    ])
  })

  it('counts even where both rows are the same', () => {
    expect(findings('s1: w(x,1) rows(x,[1,1])')).toEqual(everywhere('violated DuplicateRow T1'))
  })

  it('is found in what a SELECT returned', async () => {
    const sql = (rows: string) =>
      historyOfSql(
        parseSql(`init: x=0\ns1: [si] update(true) as w1 x@0=1\ns2: [si] select(true) ${rows}`),
      )
    const names = async (rows: string) =>
      (await judge(sql(rows), null)).map(({ anomalies }) =>
        anomalies.map(({ name }) => name).join(),
      )
    expect(new Set(await names('x@0 x@w1'))).toEqual(new Set(['DuplicateRow']))
    expect(new Set(await names('x@w1'))).toEqual(new Set(['']))
  })
})

describe('VanishedRow', () => {
  it('violates every level, lists and aborted neighbours included', () => {
    const text = 's1: w(x,1)\ns2: rows(x,[])'
    expect(findings(text)).toEqual(everywhere('violated VanishedRow T2'))
    expect(findings('s1: append(x,1)\ns2: rows(x,[])')).toEqual(
      everywhere('violated VanishedRow T2'),
    )
    expect(findings(`${text} [aborted]`)).toEqual(everywhere('satisfied'))
    expect(stories(parseNotation(text), 'rc')).toEqual([
      'T2 read x and found no such row, though nobody deleted it',
    ])
  })
})

describe('LostCommit', () => {
  const lost =
    's1: r(x,0) w(x,1) [0,1 id=a]\ns2: r(x,1) w(x,2) [2,3 id=b]\ns3: r(x,1) [4,5 audit id=c]'

  it('names the transaction that vanished, at every level', () => {
    expect(findings(lost)).toEqual(everywhere('violated LostCommit b c'))
    expect(stories(parseNotation(lost), 'rc')).toEqual([
      'b was told that its x=2 is committed (at 3); c, an audit that began later and ran alone, read x=1, which is older: the commit of b is gone',
    ])
  })

  it.each([
    ['no audit', lost.replace(' audit', '')],
    ['the newest version', lost.replace('r(x,1) [4', 'r(x,2) [4')],
    ['a commit that was not acknowledged', lost.replace('[2,3', '[indeterminate start=2')],
    ['a commit that was acknowledged only later', lost.replace('[2,3', '[2,4')],
    ['a version that somebody wrote without looking', lost.replace('r(x,1) w(x,2)', 'w(x,2)')],
  ])('is not: %s', (_, text) => {
    expect(findings(text)).not.toContainEqual(expect.stringContaining('LostCommit'))
  })

  it('follows what was built on the version that the audit shows', () => {
    const through = 's1: r(x,0) w(x,1) [indeterminate start=0 id=a] \ns2: r(x,1) w(x,2) [2,3 id=b]'
    expect(findings(`${through}\ns3: r(x,0) [4,5 audit id=c]`)).toEqual(
      everywhere('violated LostCommit b c'),
    )
  })

  it('is told of lists that lack an element, and of keys in their initial state', () => {
    const list = 's1: append(l,1) [0,1]\ns2: append(l,2) [2,3]\ns3: r(l,[1]) [4,5 audit]'
    expect(findings(list)).toEqual(everywhere('violated LostCommit T2 T3'))
    expect(findings('s1: w(x,1) [0,1]\ns2: r(x,0) [2,3 audit]')).toEqual(
      everywhere('violated LostCommit T1 T2'),
    )
    // pl-2 knows no sessions, and here are no times.
    expect(findings('s1: w(x,1) | r(x,0) [audit]')).toEqual([
      ...everywhere('violated LostCommit T1 T2').slice(1),
      'satisfied',
    ])
  })

  it('is found for rows, changed and inserted', async () => {
    const names = async (text: string) =>
      (await judge(historyOfSql(parseSql(text)), ['rc', 'ser', 'mixed'])).map(({ anomalies }) =>
        anomalies.map(({ name, txns }) => `${name} ${txns}`).join(),
      )
    const changed = 'init: x=0\ns1: [rc] update(true) as w1 x@0=1 | [ser audit] select(true) x@0'
    const inserted = 'init: x=-\ns1: [rc] insert as w1 x=1 | [ser audit] select(true)'
    for (const text of [changed, inserted]) {
      expect(await names(text)).toEqual(['LostCommit 0,1', 'LostCommit 0,1', 'LostCommit 0,1'])
    }
    expect(await names(inserted.replace('select(true)', 'select(true) x@w1'))).toEqual(['', '', ''])
  })

  it('convinces nobody with evidence that was changed', async () => {
    const history = parseNotation(lost)
    const result = check(history, 'rc')
    const [anomaly] = result.anomalies
    const forge = (change: object) =>
      certifyResult(history, { ...result, anomalies: [{ ...anomaly!, ...change }] })
    expect(await forge({})).toEqual([])
    expect(await forge({ ops: [anomaly!.ops[0]!, 1] })).not.toEqual([])
    expect(await forge({ ops: [2, 3] })).not.toEqual([])
    expect(await forge({ txns: [0, 2] })).not.toEqual([])
    expect(await forge({ name: 'VanishedRow' })).not.toEqual([])
  })
})
