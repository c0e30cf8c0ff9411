import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../src/base/errors.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { IN, MAYBE, OUT } from '../../../src/check/mixed/problem.ts'
import type { History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { aborted, insert, lost, remove, select, shop, txn, update } from './shop.ts'

/** What the problem says, in the order of its reads. */
function outline(history: History, level: LevelId = 'ser') {
  const problem = buildMixedProblem(history, level)
  const { fixedKey, fixedNode, openKey, zeroStart, zeroNode } = problem
  return {
    fixed: Array.from(fixedKey, (key, pair) => `${history.keyName(key)}<-${fixedNode[pair]}`),
    open: Array.from(openKey, (key, open) => {
      const zeros = zeroNode.subarray(zeroStart[open]!, zeroStart[open + 1]!)
      return `${history.keyName(key)}<-${[...zeros].join('|')}`
    }),
    offences: problem.offences.map(
      ({ name, txn, key }) => `${name} ${txn + 1} ${history.keyName(key)}`,
    ),
    state: [...problem.state],
  }
}

describe('buildMixedProblem', () => {
  it('makes a conflict of a row that was passed over, with those who may explain it', () => {
    const history = shop({ 1: 'open' }, [
      txn('s1', null, select(null, { 1: null })),
      txn('s2', null, insert('a', { 2: 'open' })),
      txn('s3', null, remove('b', null, { 2: 'a' })),
    ])
    const { fixed, open, offences } = outline(history)
    expect(fixed).toEqual(['orders(1)<-0', 'orders(2)<-2'])
    expect(open).toEqual(['orders(2)<-0|3'])
    expect(offences).toEqual(['MissingRow 3 orders(1)'])
  })

  it('has no conflict where no version can match', () => {
    const history = shop({}, [
      txn('s1', null, select(null, {})),
      txn('s2', null, select(null, { 2: null })),
    ])
    expect(outline(history)).toMatchObject({ fixed: [], open: [] })
    expect(outline(history).offences).toEqual(['ThinAirRead 2 orders(2)'])
  })

  it('reads its own rows locally', () => {
    const writes = insert('a', { 1: 'open' })
    const sees = shop({}, [txn('s1', null, writes, select(null, { 1: 'a' }))])
    expect(outline(sees)).toMatchObject({ fixed: [], open: [], offences: [] })
    const misses = shop({}, [txn('s1', null, writes, select(null, {}))])
    expect(outline(misses).offences).toEqual(['NotMyOwnWrite 1 orders(1)'])
    const gone = shop({}, [
      txn('s1', null, writes, remove('b', null, { 1: 'a' }), select(null, {})),
    ])
    expect(outline(gone)).toMatchObject({ fixed: [], open: [], offences: [] })
  })

  it('takes the writers of unreturned rows that a history names', () => {
    const txns = [txn('s1', null, insert('a', { 1: 'open' }))]
    const named = shop({}, [...txns, txn('s2', null, select(null, {}, { 1: null }))])
    expect(outline(named)).toMatchObject({ fixed: ['orders(1)<-0'], open: [], offences: [] })
    const wrong = shop({}, [...txns, txn('s2', null, select(null, {}, { 1: 'a' }))])
    expect(outline(wrong)).toMatchObject({ fixed: [], open: [] })
    expect(outline(wrong).offences).toEqual(['PredicateMismatch 2 orders(1)'])
  })

  it('names a returned row that was deleted, aborted or overwritten', () => {
    const make = (first: ReturnType<typeof txn>) =>
      shop({ 1: 'open' }, [first, txn('s2', null, select(null, { 1: 'a' }))])
    const deletes = txn('s1', null, remove('a', null, { 1: null }))
    expect(outline(make(deletes)).offences).toEqual(['PredicateMismatch 2 orders(1)'])
    const changes = txn('s1', null, update('a', null, { 1: null }, { 1: 'done' }))
    expect(outline(make(changes)).offences).toEqual([])
    expect(outline(make(aborted(changes))).offences).toEqual(['AbortedRead 2 orders(1)'])
    const twice = txn('s1', null, ...changes.statements, insert('b', { 1: 'open' }))
    expect(outline(make(twice)).offences).toEqual(['IntermediateRead 2 orders(1)'])
  })

  it('lets lost transactions take part or not, unless their own reads exclude them', () => {
    const reader = txn('s1', null, select(null, {}))
    const make = (...more: ReturnType<typeof txn>[]) => outline(shop({ 1: 'open' }, more))
    const deletes = lost(txn('s2', null, remove('a', null, { 1: null })))
    const may = make(reader, deletes)
    expect(may.state).toEqual([IN, IN, MAYBE])
    expect(may.open).toEqual(['orders(1)<-2'])

    // It deleted a version that nobody wrote; who read from it falls with it, then the row.
    const wild = lost(txn('s2', null, remove('a', null, { 1: 'nobody' })))
    const follower = lost(txn('s3', null, select(null, {}, { 1: 'a' })))
    const never = make(reader, wild, follower)
    expect(never.state).toEqual([IN, IN, OUT, OUT])
    expect(never.open).toEqual([])
    expect(never.offences).toEqual(['MissingRow 1 orders(1)'])
  })

  it('works without SQL, each transaction at its own level', () => {
    const history = parseNotation('s1: r(x,0) w(x,1) [level=ser] | r(x,1) [level=rc]')
    const problem = buildMixedProblem(history, 'mixed')
    expect([...problem.level]).toEqual([0, 6, 0])
    expect([...problem.before]).toEqual([0, 0, 1])
    expect(outline(history, 'mixed').fixed).toEqual(['x<-0', 'x<-1'])
  })

  it('refuses transactions whose level it does not know', () => {
    const history = parseNotation('s1: r(x,0) [level=ser] | r(x,0) [id=T7]')
    expect(() => buildMixedProblem(history, 'mixed')).toThrow(/T7 has none/)
    expect(() => buildMixedProblem(history, 'ci')).toThrow(UsageError)
    expect(() => buildMixedProblem(parseNotation('s1: append(x,1)'), 'ser')).toThrow(/lists/)
  })
})
