import { describe, expect, it } from 'vitest'
import { InputError, UsageError } from '../../../src/base/errors.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { IN, MAYBE, OUT, UNSEEN } from '../../../src/check/problem/mixed-problem.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'

/** What the problem says, in the order of its reads; nodes by number, 0 is the initial one. */
function outlineOf(history: History, level: LevelId) {
  const problem = buildMixedProblem(history, level)
  const { fixedKey, fixedNode, openKey, zeroStart, zeroNode } = problem
  const name = (key: number) => String(history.keyName(key)).replace(/t\('(.)'\)/, '$1')
  return {
    fixed: Array.from(fixedKey, (key, pair) => `${name(key)}<-${fixedNode[pair]}`),
    open: Array.from(openKey, (key, open) => {
      const zeros = zeroNode.subarray(zeroStart[open]!, zeroStart[open + 1]!)
      return `${name(key)}<-${[...zeros].join('|')}`
    }),
    offences: problem.offences.map((it) => `${it.name} ${it.txn + 1} ${name(it.key)}`),
    state: [...problem.state],
  }
}

function outline(sql: string, level: LevelId = 'mixed') {
  return outlineOf(historyOfSql(parseSql(sql)), level)
}

const NOTHING = { fixed: [], open: [], offences: [] }

describe('buildMixedProblem', () => {
  it('makes a conflict of a row that was passed over, with those who may explain it', () => {
    const made = outline(`init: x=1 y=-
s1: [ser] select(v = 1) x@0
s2: [ser] insert as w1 y=1
s3: [ser] delete(id = 'y') as w2 y@w1`)
    expect(made.fixed).toEqual(['x<-0', 'y<-2'])
    expect(made.open).toEqual(['y<-0|3'])
    expect(made.offences).toEqual([])
  })

  it('has no conflict where no version satisfies the predicate', () => {
    const sql = 'init: x=1 y=-\ns1: [ser] select(v = 2) \ns2: [ser] insert as w1 y=1'
    expect(outline(sql)).toMatchObject(NOTHING)
    expect(outline(sql.replace('y=1', 'y=2')).open).toEqual(['y<-0'])
  })

  it('gives every row a writer where what it passed over matters to somebody at cc', () => {
    const sql = 'init: x=1 y=-\ns1: [ser] select(v = 2) \ns2: [cc] insert as w1 y=1'
    expect(outline(sql).open).toEqual(['y<-0|2'])
    expect(outline(sql.replace('[ser]', '[ra]')).open).toEqual([])
    expect(outline(sql, 'ser').open).toEqual([])
  })

  it('reads its own rows locally', () => {
    const make = (rest: string) => outline(`init: x=-\ns1: [ser] insert as w1 x=1 ; ${rest}`)
    expect(make('select(v = 1) x@w1')).toMatchObject(NOTHING)
    expect(make('select(v = 2)')).toMatchObject(NOTHING)
    expect(make('select(v = 1)').offences).toEqual(['NotMyOwnWrite 1 x'])
    expect(make('select(v = 2) x@w1').offences).toEqual(['PredicateMismatch 1 x'])
    expect(make('delete(v = 1) as w2 x@w1 ; select(v = 1)')).toMatchObject(NOTHING)
  })

  it('takes the writers of unreturned rows that a history names', () => {
    const make = (named: string) =>
      outline(`init: x=-\ns1: [ser] insert as w1 x=1\ns2: [ser] select(v = 1) ${named}`)
    expect(make('!x@0')).toMatchObject({ ...NOTHING, fixed: ['x<-0'] })
    expect(make('!x@w1')).toMatchObject({ ...NOTHING, offences: ['PredicateMismatch 2 x'] })
  })

  it('names a returned row that is not there, deleted, aborted or overwritten', () => {
    const make = (first: string) => {
      return outline(`init: x=1 y=-\ns1: ${first}\ns2: [ser] select(id = 'x') x@w1`).offences
    }
    expect(make('[ser] update(v = 1) as w1 x@0=2')).toEqual([])
    expect(make('[ser] delete(v = 1) as w1 x@0')).toEqual(['PredicateMismatch 2 x'])
    expect(make('[ser aborted] update(v = 1) as w1 x@0=2')).toEqual(['AbortedRead 2 x'])
    expect(make('[ser] update(v = 1) as w1 x@0=2 ; insert as w2 x=3')).toEqual([
      'IntermediateRead 2 x',
    ])
    expect(make('[ser] select(v = 1) x@0')).toEqual(['ThinAirRead 2 x'])
    expect(outline('init: x=-\ns1: [ser] select(true) x@0').offences).toEqual(['ThinAirRead 1 x'])
  })

  it('names a row that was passed over though all its versions satisfy the predicate', () => {
    const sql = 'init: x=1\ns1: [ser] select(v > 0)\ns2: [ser] insert as w1 x=2'
    expect(outline(sql)).toMatchObject({ ...NOTHING, offences: ['VanishedRow 1 x'] })
    expect(outline(sql.replace('x=2', 'x=0')).open).toEqual(['x<-2'])
  })

  it('lets lost transactions take part or not, unless their own reads exclude them', () => {
    const reader = 'init: x=1\ns1: [ser] select(v = 1)\n'
    const may = outline(`${reader}s2: [ser indeterminate] delete(v = 1) as w1 x@0`)
    expect(may.state).toEqual([IN, IN, MAYBE])
    expect(may.open).toEqual(['x<-2'])

    // It deleted a version that nobody wrote; who read from it falls with it, then the row.
    const never = outline(`${reader}s2: [ser indeterminate] delete(v = 1) as w1 x@w9
s3: [ser indeterminate] select(v = 1) !x@w1`)
    expect(never.state).toEqual([IN, IN, OUT, OUT])
    expect(never).toMatchObject({ ...NOTHING, offences: ['VanishedRow 1 x'] })
  })

  it('works without SQL, each transaction at its own level', () => {
    const history = parseNotation('s1: r(x,0) w(x,1) [level=ser] | r(x,1) [level=rc]')
    const problem = buildMixedProblem(history, 'mixed')
    expect([...problem.level]).toEqual([0, 6, 0])
    expect([...problem.before]).toEqual([0, 0, 1])
    expect(outlineOf(history, 'mixed').fixed).toEqual(['x<-0', 'x<-1'])
  })

  it('knows in which order lists were appended to, as far as reads show it', () => {
    const history = parseNotation(`
      s1: append(x,1) w(y,1) [level=ser] | append(x,2) [level=rc]
      s2: append(x,3) [level=rc] | append(x,4) [level=si aborted]
      s3: r(x,[3,1]) append(x,5) [level=rc] | append(x,6) [level=rc indeterminate]`)
    const { writerNode, writerStart, writerPlace, state } = buildMixedProblem(history, 'mixed')
    const x = Array.from(writerNode.subarray(writerStart[0], writerStart[1]))
    expect(x).toEqual([0, 1, 2, 3, 5])
    expect(Array.from(writerPlace!.subarray(writerStart[0], writerStart[1]))).toEqual([
      -1,
      1,
      UNSEEN,
      0,
      UNSEEN,
    ])
    expect(Array.from(writerPlace!.subarray(writerStart[1], writerStart[2]))).toEqual([-1, -1])
    // Nobody saw what the last one appended.
    expect(state[6]).toBe(OUT)
    expect(buildMixedProblem(parseNotation('s1: w(x,1)'), 'ser').writerPlace).toBeNull()
  })

  it('refuses transactions whose level it does not know, and lists beside SQL', () => {
    const history = parseNotation('s1: r(x,0) [level=ser] | r(x,0) [id=T7]')
    expect(() => buildMixedProblem(history, 'mixed')).toThrow(/T7 has none/)
    expect(() => buildMixedProblem(history, 'ci')).toThrow(UsageError)
    const { sql } = historyOfSql(parseSql('init: x=0\ns1: [ser] insert as w1 x=1'))
    const both = { ...parseNotation('s1: append(x,1)'), sql }
    expect(() => buildMixedProblem(both, 'ser')).toThrow(/lists/)
  })

  it('says which predicate it cannot use', () => {
    const make = (where: string) => () => outline(`init: x=1\ns1: [ser] select(${where})`)
    expect(make('v = ')).toThrow(InputError)
    expect(make('w = 1')).toThrow(/in the predicate w = 1/)
  })
})
