// The initial state spelt out: what leads the input is part of it, any other write of the initial
// value is bad input, in every format.

import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { profile } from '../../src/check/check.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { buildHistory, type Draft, type DraftTxn, spellsInitial } from '../small/draft.ts'

function refusalOf(parse: () => History): InputError | null {
  try {
    parse()
    return null
  } catch (error) {
    if (error instanceof InputError) return error
    throw error
  }
}

const initialOnes = (history: History) =>
  Array.from(history.txnIsInitial.keys()).filter((txn) => history.txnIsInitial[txn])

describe('markInitial', () => {
  it.each([
    ['s1: w(x,1) | w(x,0) | r(x,1)', 1, 14],
    ['s1: w(x,1) | w(x,0) | r(x,0)', 1, 14],
    ['s1: w(x,1) [0,1]\ns2: w(x,0) [2,3]\ns3: r(x,1) [4,5]', 2, 5],
    ['s1: r(y,0) w(x,0)', 1, 12],
    ['s1: w(x,0) [aborted]', 1, 5],
    ['s1: w(x,0) [indeterminate]', 1, 5],
    ['s1: [committed] | w(x,0)', 1, 19],
    ['s1: w(x,0) w(x,1)', 1, 5],
    ['s1: w(x,0) | w(x,1)\ns2: w(y,0)', 2, 5],
    ['s1: insert(x,0)', 1, 5],
    ['s1: cas(x,1,0)', 1, 5],
    ['initial 7\ns1: w(x,0) | w(x,7)', 2, 14],
  ])('refuses %j where it stands', (notation, line, column) => {
    const error = refusalOf(() => parseNotation(notation))
    expect(error?.code).toBe('duplicate-value')
    expect(error?.place).toEqual({ line, column })
    expect(error?.hint).toMatch(/a value of its own/)
  })

  it('refuses one that starts after another transaction finished, and says so', () => {
    const error = refusalOf(() => parseNotation('s2: w(x,0) [2,3]\ns1: w(x,1) [0,1]'))
    expect(error?.message).toMatch(/by T1, which starts after T2 finished$/)
    expect(error?.place).toEqual({ line: 1, column: 5 })
  })

  it.each([
    ['s1: w(x,0) | w(x,1) | r(x,1)', [0]],
    ['s1: w(x,0) | w(x,0) w(y,0) | r(x,0)', [0, 1]],
    ['s1: w(x,0)\ns2: w(y,0)\ns1: w(x,1)\ns2: r(y,0)', [0, 1]],
    ['s2: w(x,0) [1,3]\ns1: w(x,1) [0,1]', [0]],
    ['s2: w(x,0) [0,1] | w(y,0) [2,3]\ns1: w(x,1) [3,4]', [0, 1]],
    ['initial null\ns1: w(x,null) w(y,null) | w(x,0)', [0]],
    ['initial none\ns1: w(x,0) | w(x,1)', []],
  ])('merges what leads %j', (notation, txns) => {
    const history = parseNotation(notation)
    expect(initialOnes(history)).toEqual(txns)
    // What is written can be read again, and means the same.
    expect(initialOnes(parseNotation(renderNotation(history)))).toEqual(txns)
    for (const result of profile(history)) expect(result.certificate?.verified).toBe(true)
  })

  it('judges a history with its initial state spelt out as without', () => {
    const verdicts = (notation: string) =>
      profile(parseNotation(notation)).map(({ level, verdict }) => `${level} ${verdict}`)
    for (const rest of ['s1: w(x,1) | r(x,0)', 's1: w(x,1) | r(x,1)', 's1: r(x,0) w(x,1)']) {
      expect(verdicts(`s1: w(x,0) w(y,0)\n${rest}`)).toEqual(verdicts(rest))
      expect(verdicts(`s2: w(x,0) w(y,0)\n${rest}`)).toEqual(verdicts(rest))
    }
  })

  it('agrees with the rule read off a draft, wherever initial values are written', () => {
    let refused = 0
    for (let seed = 1; seed <= 4000; seed++) {
      const draft = randomDraft(new Random(seed))
      const error = refusalOf(() => buildHistory(draft))
      if (error !== null) refused++
      expect(`${seed} ${error?.code}`).toBe(
        `${seed} ${isBad(draft) ? 'duplicate-value' : undefined}`,
      )
    }
    expect(Math.min(refused, 4000 - refused)).toBeGreaterThan(500)
  })
})

function randomDraft(random: Random): Draft {
  let value = 0
  const timed = random.chance(0.5)
  const sessions = Array.from({ length: 1 + random.below(3) }, () => {
    let clock = 0
    return Array.from({ length: 1 + random.below(2) }, (): DraftTxn => {
      const start = clock + random.below(3)
      const finish = start + random.below(3)
      clock = finish
      const initial = random.chance(0.5)
      const status = random.chance(0.9) ? 'committed' : 'aborted'
      const ops = Array.from({ length: random.below(3) }, () => ({
        kind: random.chance(0.9) ? ('w' as const) : ('r' as const),
        key: random.pick(['x', 'y']),
        value: initial ? 0 : ++value,
      }))
      return { status, ops, ...(timed ? { start, finish } : {}) }
    })
  })
  return { initial: 0, sessions }
}

/** The rule of docs/formats.md, plainly. */
function isBad(draft: Draft): boolean {
  const txns = draft.sessions.flat()
  const leads = (at: number) => txns.slice(0, at + 1).every((txn) => spellsInitial(txn, 0))
  const others = txns.filter((_, at) => !leads(at))
  return txns.some((txn, at) => {
    if (!txn.ops.some((op) => op.kind === 'w' && op.value === 0)) return false
    return !leads(at) || others.some(({ finish }) => finish! < txn.start!)
  })
}

const EVENT = (type: string, index: number, process: number, ops: string) =>
  `{:index ${index}, :type :${type}, :process ${process}, :f :txn, :value ${ops}}`

/** x gets 1, then its initial value, in each format that can say so; then the other way round. */
const LATE: Record<string, [late: string, lead: string]> = {
  plume: ['w(1,5,0,1)\nw(1,0,0,2)\n', 'w(1,0,0,2)\nw(1,5,0,1)\n'],
  native: [
    '{"session":0,"ops":[["w","x",1]]}\n{"session":0,"ops":[["w","x",null]]}\n',
    '{"session":0,"ops":[["w","x",null]]}\n{"session":0,"ops":[["w","x",1]]}\n',
  ],
  hist: ['[x:=1]\n[x:=0]\n', '[x:=0]\n[x:=1]\n'],
  jepsen: [
    [EVENT('ok', 0, 0, '[[:w :x 1]]'), EVENT('ok', 1, 1, '[[:w :x nil]]')].join('\n'),
    [EVENT('ok', 0, 0, '[[:w :x nil]]'), EVENT('ok', 1, 1, '[[:w :x 1]]')].join('\n'),
  ],
  'dbcop-json': [
    '{"data":[[{"events":[["w",0,1]],"committed":true},{"events":[["w",0,0]],"committed":true}]]}',
    '{"data":[[{"events":[["w",0,0]],"committed":true},{"events":[["w",0,1]],"committed":true}]]}',
  ],
  viper: [
    '{"value":[["w","x",1,true]]}\n{"value":[["w","x",null,true]]}\n',
    '{"value":[["w","x",null,true]]}\n{"value":[["w","x",1,true]]}\n',
  ],
}

describe('parseHistory', () => {
  it.each(Object.entries(LATE))('refuses a late write of the initial value in %s', (id, texts) => {
    const [late, lead] = texts
    const error = refusalOf(() => parseHistory(late, { format: id }))
    expect(error?.code).toBe('duplicate-value')
    expect(error?.place ?? error?.message).toBeTruthy()
    expect(error?.hint).toMatch(/a value of its own/)
    expect(initialOnes(parseHistory(lead, { format: id }))).toEqual([0])
  })

  it('takes them as values like any other where there is no initial value', () => {
    expect(initialOnes(parseHistory('w 1 5\n-\nw 1 0\n', { format: 'awdit' }))).toEqual([])
  })

  it('reads back what any format writes of an initial state in two sessions', () => {
    const history = parseNotation('s0: w(1,0)\ns1: w(2,0)\ns0: w(1,1)\ns1: r(2,0) w(2,2)')
    for (const format of FORMATS) {
      if (format.writeFiles) continue
      const chunks: Uint8Array[] = []
      format.write(history, (bytes) => chunks.push(bytes.slice()))
      const back = parseHistory(chunks, { format: format.id })
      const whole = format.misfits(history).length === 0
      expect([format.id, back.txnIsInitial.includes(1)]).toEqual([format.id, format.id !== 'awdit'])
      if (whole) expect(initialOnes(back)).toEqual([0, 1])
    }
  })
})
