// No two transactions, and no two sessions, go by one name; 1n and 1 are one value.

import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../src/formats/parse.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { COMMITTED, type History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import type { Value } from '../../src/history/values.ts'
import { subHistory } from './sub-history.ts'

function named(ids: readonly Value[], sessions: readonly Value[] = ids.map(() => 0)): History {
  const lines = ids.map((id, i) => {
    const name = id === null ? '' : `,"id":${typeof id === 'bigint' ? id : JSON.stringify(id)}`
    return `{"session":${JSON.stringify(sessions[i])}${name},"ops":[["w","x",${i}]]}`
  })
  return parseHistory(`${lines.join('\n')}\n`)
}

const namesOf = (history: History) =>
  Array.from({ length: history.txnCount }, (_, txn) => history.txnName(txn))

describe('txnName', () => {
  it.each([
    [
      [1, 'T1'],
      ["T1'", 'T1'],
    ],
    [
      ['T1', 1, "T1'"],
      ['T1', "T1''", "T1'"],
    ],
    [
      ['#2', null],
      ['#2', "#2'"],
    ],
    [
      [null, '#1', 7],
      ["#1'", '#1', 'T7'],
    ],
    [
      [-1, 'T-1'],
      ["T-1'", 'T-1'],
    ],
    [
      [2n ** 53n + 1n, `T${2n ** 53n}`, 2n ** 53n],
      ['T9007199254740993', 'T9007199254740992', "T9007199254740992'"],
    ],
    [
      [null, null],
      ['T1', 'T2'],
    ],
  ] as [Value[], string[]][])('tells %s apart', (ids, names) => {
    const history = named(ids)
    expect(namesOf(history)).toEqual(names)
    // Parts, and what is written, keep the names.
    expect(namesOf(subHistory(history, history.opTxn.keys()))).toEqual(names)
    if (ids.some((id) => id !== null)) {
      expect(namesOf(parseNotation(renderNotation(history, null, { ids: true })))).toEqual(names)
    }
    const last = subHistory(history, [history.opCount - 1])
    expect(namesOf(last)).toEqual(names.slice(-1))
  })
})

describe('sessionName', () => {
  it('tells session 1 from session "s1"', () => {
    const history = named([1, 2], [1, 's1'])
    expect([0, 1].map((session) => history.sessionName(session))).toEqual(["s1'", 's1'])
  })
})

describe('HistoryBuilder', () => {
  it('takes 1n and 1 for the same value, id, key, session and initial value', () => {
    const builder = new HistoryBuilder(0n)
    const txn = builder.addTxn(builder.session(1n), COMMITTED, 5n)
    builder.write(txn, 1n, 1n)
    const reader = builder.addTxn(builder.session(2), COMMITTED, 6)
    builder.read(reader, 1, 1)
    builder.read(reader, 2, 0)
    expect(builder.session(1)).toBe(0)
    const history = builder.finish()
    expect(renderNotation(history, null, { ids: true })).toBe(
      's1: w(1,1) [id=T5]\ns2: r(1,1) r(2,0) [id=T6]\n',
    )
    expect(Array.from(history.readTxn)).toEqual([-1, 0, -2])
    expect(history.initial).toBe(0)
  })

  it('refuses a value that is written as 1 and as 1n', () => {
    const builder = new HistoryBuilder(null)
    builder.write(builder.addTxn(builder.session(1), COMMITTED), 'x', 1)
    builder.write(builder.addTxn(builder.session(1), COMMITTED), 'x', 1n)
    expect(() => builder.finish()).toThrow('value 1 of key "x" is written twice')
  })
})
