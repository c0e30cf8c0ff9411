// What statements of a run are taken to have touched, and so what is said to commute.

import { describe, expect, it } from 'vitest'
import type { Step } from '../../../src/application/observe/hooks.ts'
import { eventsOf } from '../../../src/application/race/events.ts'
import { conflict } from '../../../src/application/race/footprint.ts'
import type { TableTraits } from '../../../src/application/race/observer.ts'
import type { Turn } from '../../../src/application/race/play.ts'

const plain: TableTraits = { group: 'items', tiesRows: false, sequences: [], runsCode: false }
const traits = new Map([
  ['"public"."items"', plain],
  ['"public"."orders"', { ...plain, group: 'orders', sequences: ['7'] }],
  ['"public"."bills"', { ...plain, group: 'bills', sequences: ['7'] }],
])
const named = (table: string) => ({ table, relation: `"public"."${table}"` })
const ref = (row: string) => ({ ...named(row.replace(/\(.*/, '')), row, version: null })

/** One statement in a transaction of its own actor. */
function turn(actor: string, step: Partial<Step>, waited = false): Turn {
  const usual: Step = {
    actor,
    client: actor.charCodeAt(0),
    processId: null,
    text: '',
    values: [],
    kind: 'write',
    inTransaction: true,
    savepoint: null,
    locks: false,
    takesDefaults: false,
    functions: [],
    level: 'read committed',
    reads: [],
    writes: [],
    clauses: [],
  }
  return { actor, step: { ...usual, ...step }, waited, woke: [] }
}

function commute(a: Turn, b: Turn): boolean {
  const [one, other] = eventsOf([a, b], traits)
  return !conflict(one!.footprint, other!.footprint)
}

describe('eventsOf', () => {
  const where = [{ ...named('items'), where: 'n > 0', row: null }]
  const write = turn('a', { reads: [ref('items(1)')], writes: [ref('items(1)')] })

  it('takes who waited, and passed the row over, for one who asked for its lock', () => {
    expect(commute(write, turn('b', { clauses: where }))).toBe(true)
    expect(commute(write, turn('b', { clauses: where }, true))).toBe(false)
  })

  it('takes rows that are locked for written', () => {
    const read: Partial<Step> = { kind: 'read', clauses: where }
    expect(commute(write, turn('b', read))).toBe(true)
    expect(commute(write, turn('b', { ...read, locks: true }))).toBe(false)
  })

  it('knows that numbers come in the order in which they are asked for', () => {
    const add = (actor: string, row: string, takesDefaults: boolean) =>
      turn(actor, { writes: [ref(row)], takesDefaults })
    expect(commute(add('a', 'orders(1)', true), add('b', 'orders(2)', true))).toBe(false)
    expect(commute(add('a', 'orders(1)', true), add('b', 'bills(2)', true))).toBe(false)
    expect(commute(add('a', 'orders(1)', true), add('b', 'orders(2)', false))).toBe(true)
    expect(commute(add('a', 'items(1)', true), add('b', 'items(2)', true))).toBe(true)
  })

  it('goes by the level of each transaction', () => {
    const look = (actor: string, level: string | null) =>
      turn(actor, { kind: 'read', level, clauses: where })
    const ends = turn('a', { kind: 'commit' })
    const at = (level: string | null) => {
      const [, , done, seen] = eventsOf(
        [turn('a', { kind: 'begin' }), write, ends, look('b', level)],
        traits,
      )
      return [conflict(done!.footprint, seen!.footprint), seen!.footprint.takesSnapshot]
    }
    expect(at('read committed')).toEqual([true, false])
    expect(at('repeatable read')).toEqual([true, true])
    const ser = { ...write, step: { ...write.step, level: 'serializable' } }
    expect(commute(ser, look('b', 'serializable'))).toBe(false)
    expect(commute(ser, look('b', 'repeatable read'))).toBe(true)
    expect(commute(ser, look('b', null))).toBe(false)
  })

  it('lets functions that tell what others did commute with nothing', () => {
    const call = (name: string) => turn('b', { kind: 'read', clauses: where, functions: [name] })
    expect(commute(write, call('length'))).toBe(true)
    for (const name of ['nextval', 'pg_advisory_xact_lock', 'txid_current', 'set_config']) {
      expect(commute(write, call(name)), name).toBe(false)
    }
  })

  it('does not know what ROLLBACK TO lets go of, if it did not know what was touched', () => {
    const back = turn('a', { kind: 'savepoint', savepoint: 'return' })
    const failed = turn('a', { error: new Error('refused') })
    const [, event] = eventsOf([failed, back], traits)
    expect(event!.footprint.isUnknown).toBe(true)
    const [, known] = eventsOf([write, back], traits)
    expect(known!.footprint.isUnknown).toBe(false)
  })
})
