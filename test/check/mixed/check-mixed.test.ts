// Verdicts on SQL histories with their evidence: names, words, and that the certifier takes only
// what is true.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { checkMixed } from '../../../src/check/mixed/check-mixed.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { ABORTED, type History, NONE } from '../../../src/history/history.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { renderText } from '../../../src/report/text.ts'
import { parseFaults } from '../../../src/sim/faults.ts'
import { certifyMixed } from '../../../src/verdict/certify-mixed.ts'
import { foreignVersion, isWrite } from '../../../src/verdict/certify-reads.ts'
import type { LevelResult } from '../../../src/verdict/verdict.ts'
import { some } from '../../long.ts'
import { randomSql, sqlShapeOf } from '../../small/random-sql.ts'
import { historyOfSql, parseSql, SQL_LEVELS } from '../../small/sql-draft.ts'
import { SqlOracle } from '../../small/sql-oracle.ts'
import { throughFile } from '../../verdict/through-file.ts'

function judge(text: string, level: LevelId): LevelResult {
  return checkMixed(historyOfSql(parseSql(text)), [level])[0]!
}

/** Whether two that committed read one version of a row, and no other, and both wrote the row. */
function losesUpdate(history: History): boolean {
  const { txnCount, keyCount, txnCounts, txnStatus, txnOpStart, opKey } = history
  const updates = new Set<string>()
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn] || txnStatus[txn] === ABORTED) continue
    for (let key = 0; key < keyCount; key++) {
      const ops = Array.from({ length: txnOpStart[txn + 1]! - txnOpStart[txn]! })
        .map((_, i) => txnOpStart[txn]! + i)
        .filter((op) => opKey[op] === key)
      const isWritten = ops.some((op) => isWrite(history, op))
      const reads = ops.filter((op) => !isWrite(history, op))
      const versions = new Set(reads.map((op) => foreignVersion(history, op)))
      versions.delete(NONE)
      if (!isWritten || versions.size !== 1) continue
      const update = `${key} ${[...versions][0]}`
      if (updates.has(update)) return true
      updates.add(update)
    }
  }
  return false
}

const PHANTOM = `
  init: x=0 y=-
  s1: [ser] select(v = 1) ; select(v = 1) y@w1
  s2: [ser] insert as w1 y=1`

const SKEW = `
  init: x=0 y=0
  s1: [si] select(v = 1) ; insert as w1 x=1
  s2: [si] select(v = 1) ; insert as w2 y=1`

const LOST = `
  init: x=0
  s1: [si] update(id = 'x') as w1 x@0=1
  s2: [si] update(id = 'x') as w2 x@0=2`

describe('checkMixed', () => {
  it('tells the update that is lost, not one by somebody who saw two versions', () => {
    const seen = `${LOST}
  s3: [si] select(id = 'x') x@w1 ; update(id = 'x') as w3 x@0=3`
    for (const level of ['si', 'ser'] as const) {
      const [first] = judge(seen.replace('s3', 's0'), level).anomalies
      expect(first).toMatchObject({ name: 'LostUpdate', cases: [], edges: [{}, {}] })
      // Of the two one saw the other's version as well: nothing is lost.
      const one = seen.replace(/s2.*\n/, '')
      expect(judge(one, level).anomalies.map(({ name }) => name)).not.toContain('LostUpdate')
    }
  })

  it('calls an update lost wherever two read one version of a row and replaced it', () => {
    const sound = { wrong: 0, unsound: 0, doubled: 0, audits: 0 }
    let count = 0
    for (let seed = 1; seed <= 400; seed++) {
      const history = historyOfSql(randomSql(seed, sqlShapeOf(seed, sound)))
      for (const level of ['si', 'ser'] as const) {
        if (!losesUpdate(history)) continue
        const names = checkMixed(history, [level])[0]!.anomalies.map(({ name }) => name)
        expect(names, `seed ${seed}`).toContain('LostUpdate')
        count++
      }
    }
    expect(count).toBeGreaterThan(50)
  })

  it('finds a phantom: a row that came into being between two statements', () => {
    expect(judge(PHANTOM, 'mixed')).toMatchObject({
      verdict: 'violated',
      anomalies: [{ name: 'Phantom', txns: [0, 1] }],
      certificate: { kind: 'cycle', verified: true },
    })
    expect(judge(PHANTOM.replace('[ser] select', '[rc] select'), 'mixed').verdict).toBe('satisfied')
  })

  it('finds a write skew by predicate at ser, not at si', () => {
    expect(judge(SKEW, 'ser').anomalies.map(({ name }) => name)).toEqual(['PredicateWriteSkew'])
    expect(judge(SKEW, 'mixed').verdict).toBe('satisfied')
  })

  it('finds a lost update at si, not at pc', () => {
    expect(judge(LOST, 'si').anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
    expect(judge(LOST, 'pc').verdict).toBe('satisfied')
  })

  it('calls it a lost update where two rows are, and not a write skew', () => {
    const twice = `
      init: x=0 y=0
      s1: [ser] update(true) as w1 x@0=1 y@0=1
      s2: [ser] update(id = 'y') as w2 y@0=2 ; update(id = 'x') as w3 x@0=2`
    for (const level of ['mixed', 'si', 'ser'] as const) {
      const { anomalies } = judge(twice, level)
      expect(anomalies.map(({ name, edges }) => [name, edges.length])).toEqual([['LostUpdate', 2]])
    }
    const blind = twice.replace("; update(id = 'x') as w3 x@0=2", '; insert as w3 x=2')
    expect(judge(blind, 'ser').anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
    expect(judge(twice.replaceAll('[ser]', '[rc]'), 'mixed').verdict).toBe('satisfied')
    expect(judge(twice.replace('[ser]', '[rc]'), 'mixed').verdict).toBe('satisfied')
  })

  it('shows registers by the transactions that the decider of that level names, and whom they read from', () => {
    for (const fault of ['lost-update', 'write-skew', 'long-fork']) {
      const { history } = generate({
        workload: { shape: 'general', transactions: 500, sessions: 10, ops: 6, keys: 300 },
        store: { level: 'ser', faults: parseFaults(`${fault}:1`) },
      })
      const names = ({ anomalies }: LevelResult) => anomalies.map(({ name }) => name)
      const sizes = ({ anomalies }: LevelResult) => anomalies.map(({ txns }) => txns.length)
      const [mixed] = checkMixed(history, ['ser'])
      const alone = check(history, 'ser')
      expect(alone.verdict).toBe('violated')
      expect(names(mixed!), fault).toEqual(names(alone))
      // Beside each of them, mixed levels name who wrote what it read.
      expect(Math.max(...sizes(mixed!)), fault).toBeLessThanOrEqual(2 * Math.max(...sizes(alone)))
    }
  })

  it('says why a row that was not returned matters', () => {
    const text = `
      init: x=0 y=1
      s1: [ser] select(v = 1)
      s2: [rc] update(v = 1) as w1 y@0=2 | [rc] select(v = 2) y@w1 | [rc] insert as w2 y=1
      s3: [rc] select(v = 1) y@w2 | [rc] insert as w3 x=5
      s4: [ser] select(v = 5) x@w3 | [ser] select(v = 1)`
    const history = historyOfSql(parseSql(text))
    const results = checkMixed(history, ['mixed'])
    const words = renderText(history, results)
    expect(words).toContain(
      "T8 did not return t('y'), so it saw a version that fails `v = 1`; the only one is t('y') as T2 left it (v = 2)",
    )
    expect(words).toContain('Phantom')
  })

  it('names what rc of SQL forbids beyond plain rc', () => {
    const named = (text: string) => judge(text, 'rc').anomalies.map(({ name }) => name)
    const wrote = 'init: x=0 y=0\ns1: [rc] insert as w1 x=1 y=1'
    expect(named(`${wrote} | [rc] select(true) x@0 y@0`)).toEqual(['SessionGuaranteeViolation'])
    expect(named(`${wrote}\ns2: [rc] select(true) x@w1 y@0`)).toEqual(['FracturedRead'])
    const twice = "select(id = 'x') x@w1 ; select(id = 'y') y@0"
    expect(named(`${wrote}\ns2: [rc] ${twice}`)).toEqual(['NonMonotonicRead'])
  })

  it('judges registers beside statements, in program order', () => {
    const select = '{"select":"t","rows":[{"key":1,"from":"w1"}]}'
    const verdicts = (ops: string, levels: LevelId[]) => {
      const history = parseHistory(`
        {"isobar":1,"tables":{"t":{"columns":{"id":"integer"},"key":["id"]}}}
        {"session":0,"ops":[["w","x",1],{"insert":"t","write":"w1","rows":[{"id":1}]}]}
        {"session":1,"ops":[${ops}]}`)
      return checkMixed(history, levels).map(({ verdict }) => verdict)
    }
    expect(verdicts(`${select},["r","x",null]`, ['rc'])).toEqual(['violated'])
    expect(verdicts(`["r","x",null],${select}`, ['rc', 'ra'])).toEqual(['satisfied', 'violated'])
    expect(verdicts(`${select},["r","x",1]`, ['ser'])).toEqual(['satisfied'])
  })

  it('says why rows that were not returned are of different states', () => {
    const text = `
      init: x=0 y=1
      s1: [rc] update(true) as w1 x@0=1 y@0=2
      s2: [rc] select(v = 1)`
    const history = historyOfSql(parseSql(text))
    const words = renderText(history, checkMixed(history, ['rc']))
    expect(words).toContain(
      "T2 saw t('y') as T1 left it (v = 2); T1 writes t('x') too, and yet T2 saw it as it was at first (v = 0); T1 would have to precede the initial state.",
    )
    expect(words).toContain("- T2 did not return t('x'), so it saw a version that fails `v = 1`;")
    expect(words).toContain("- T2 did not return t('y'), so it saw a version that fails `v = 1`;")
  })

  it('takes nothing for seen that an insert did not meet which was refused', () => {
    const history = (statement: string) => `
      init: w=0 x=0 y=0 z=0
      s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
      s2: [ser] ${statement} ; insert as w3 w=1 | [cc] select(id = 'z') z@0`
    expect(judge(history("select(id = 'x') x@0"), 'mixed').verdict).toBe('violated')
    expect(judge(history('refused x@0'), 'mixed').verdict).toBe('satisfied')
  })

  it('splits into cases where several versions could have been passed over', () => {
    const text = `
      init: x=0 y=-
      s1: [rc] insert as w1 y=1 | [rc] delete(v = 1) as w2 y@w1 | [rc] insert as w3 y=1 x=1
      s2: [ser] select(v = 1) x@w3`
    const [result] = checkMixed(historyOfSql(parseSql(text)), ['mixed'])
    expect(result).toMatchObject({ verdict: 'violated', certificate: { kind: 'cases' } })
    expect(result!.anomalies[0]!.cases.map(({ assumptions }) => assumptions[0]!.from)).toEqual([
      -2, 1,
    ])
  })

  it('lets an indeterminate transaction explain a row that is gone', () => {
    const text = `
      init: x=1
      s1: [ser] select(v = 1)
      s2: [ser indeterminate] delete(v = 1) as w1 x@0`
    const [result] = checkMixed(historyOfSql(parseSql(text)), ['mixed'])
    expect(result).toMatchObject({ verdict: 'satisfied', proof: { kind: 'witness' } })
    const without = text.replace('indeterminate', 'aborted')
    expect(judge(without, 'mixed').anomalies.map(({ name }) => name)).toEqual(['VanishedRow'])
  })

  it('asks nothing of versions that no statement can have seen', () => {
    const judged = (text: string) => judge(text, 'ser').verdict
    expect(judged("init: x=1 y=0\ns1: [ser] select(4 / v > 1 AND id = 'x') x@0")).toBe('satisfied')
    const zero = `
      init: x=1
      s1: [ser STATUS] insert as w1 x=0
      s2: [ser] select(4 / v > 4)`
    expect(judged(zero.replace('STATUS', 'aborted'))).toBe('satisfied')
    expect(() => judged(zero.replace('STATUS', 'committed'))).toThrow(
      'division by zero: 4 / v, in the predicate 4 / v > 4',
    )
    const late = zero.replace('4 / v > 4', 'v = 1 AND u = 1')
    expect(() => judged(late)).toThrow('no column "u", at character 11 of the predicate')
  })

  it('gives a profile: the own levels first, then each level for all', () => {
    const results = checkMixed(historyOfSql(parseSql(SKEW)), null)
    expect(results.map(({ level, verdict }) => `${level} ${verdict}`)).toEqual([
      'mixed satisfied',
      'rc satisfied',
      'ra satisfied',
      'cc satisfied',
      'pc satisfied',
      'si satisfied',
      'ser violated',
    ])
  })

  it('judges nothing without session order, the profile neither', () => {
    const history = historyOfSql(parseSql(SKEW))
    for (const asked of [null, ['ser'] as const]) {
      expect(() => checkMixed(history, asked, { sessionOrder: false })).toThrow(/session order/)
      expect(checkMixed(history, asked, { sessionOrder: true })).not.toEqual([])
    }
  })

  it('leaves its own levels out of the profile where one may count that has none', () => {
    const history = historyOfSql(parseSql(SKEW.replace('[si] select', '[si indeterminate] select')))
    history.txnLevel![0] = -1
    expect(checkMixed(history, null).map(({ level }) => level)).toEqual([...SQL_LEVELS])
    expect(() => checkMixed(history, ['mixed'])).toThrow(/needs the level of every transaction/)
  })

  it('reports what a statement did even if there is no time for the rest', () => {
    const text = `
      init: x=1
      s1: [ser] select(v = 0) x@0`
    const inNoTime = { algorithm: 'search', budgetMs: 1e-9 } as const
    const [result] = checkMixed(historyOfSql(parseSql(text)), ['mixed'], inNoTime)
    const sound = historyOfSql(parseSql(text.replace('v = 0', 'v = 1')))
    expect(checkMixed(sound, ['mixed'], inNoTime)[0]!.verdict).toBe('unknown')
    expect(result).toMatchObject({ verdict: 'violated', reason: null })
    expect(result!.anomalies.map(({ name }) => name)).toEqual(['PredicateMismatch'])
  })

  it('agrees with the oracle, every verdict certified, by both algorithms', () => {
    for (let seed = 20_001; seed <= 20_000 + some(400); seed++) {
      const draft = randomSql(seed)
      const history = historyOfSql(draft)
      const abortedReads = seed % 2 === 0 ? 'judge' : 'ignore'
      const oracle = new SqlOracle(history, abortedReads === 'judge')
      const own = draft.sessions.flat().map(({ level }) => level)
      for (const level of ['mixed', ...SQL_LEVELS] as const) {
        const { consistent } = oracle.decide(level === 'mixed' ? own : own.map(() => level))
        for (const algorithm of ['solve', 'search'] as const) {
          const [result] = checkMixed(history, [level], { algorithm, abortedReads })
          const expected = consistent ? 'satisfied' : 'violated'
          expect(`${seed} ${level} ${result!.verdict}`).toBe(`${seed} ${level} ${expected}`)
          expect(result!.certificate!.verified).toBe(true)
        }
      }
    }
  })
})

describe('certifyMixed', () => {
  const reread = (text: string, level: LevelId, edit: (text: string) => string) => {
    const history = historyOfSql(parseSql(text))
    const [result] = throughFile(history, checkMixed(history, [level]), (written) => {
      const edited = edit(written)
      if (edited === written) throw new Error('the edit changed nothing')
      return edited
    })
    return certifyMixed(history, result!).problems
  }

  it('takes back what was written to a file', () => {
    for (const text of [PHANTOM, SKEW, LOST]) {
      const history = historyOfSql(parseSql(text))
      for (const level of ['mixed', 'si', 'ser'] as const) {
        const [result] = throughFile(history, checkMixed(history, [level]))
        expect(certifyMixed(history, result!).problems).toEqual([])
      }
    }
  })

  it('refuses a witness that is in the wrong order, or misses a choice', () => {
    const order = (text: string) => text.replace('"order":[0,1]', '"order":[1,0]')
    const reader = PHANTOM.replace('select(v = 1) ; ', '')
    expect(
      reread(reader, 'mixed', (text) => text.replace('"order":[1,0]', '"order":[0,1]')),
    ).not.toEqual([])
    expect(reread(SKEW, 'si', (text) => text.replace(/"choices":.*?\]\]/, '"choices":[]'))).toEqual(
      [
        expect.stringContaining('nobody is named for row'),
        expect.stringContaining('nobody is named for row'),
      ],
    )
    expect(reread(SKEW, 'si', order)).toEqual([])
  })

  it('refuses a circle with an edge that does not hold', () => {
    expect(
      reread(PHANTOM, 'mixed', (text) => text.replace('"kind":"RW"', '"kind":"SO"')),
    ).not.toEqual([])
    expect(
      reread(PHANTOM, 'mixed', (text) => text.replace('"statement":0', '"statement":1')),
    ).not.toEqual([])
    expect(reread(LOST, 'si', (text) => text.replace('"level":"si"', '"level":"pc"'))).not.toEqual(
      [],
    )
    expect(
      reread(SKEW, 'ser', (text) => text.replace('"level":"ser"', '"level":"si"')),
    ).not.toEqual([])
  })

  it('refuses cases that leave out a version', () => {
    const text = `
      init: x=0 y=-
      s1: [rc] insert as w1 y=1 | [rc] delete(v = 1) as w2 y@w1 | [rc] insert as w3 y=1 x=1
      s2: [ser] select(v = 1) x@w3`
    const history = historyOfSql(parseSql(text))
    const [result] = checkMixed(history, ['mixed'])
    result!.anomalies[0]!.cases.pop()
    expect(certifyMixed(history, result!).problems).not.toEqual([])
  })
})
