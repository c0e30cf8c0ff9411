// The words for levels: which are one level, which are refused, and what is said then.

import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { DATABASE_LEVELS, findOwnLevel } from '../../src/levels/databases.ts'
import { JEPSEN_MODELS } from '../../src/levels/jepsen.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import {
  levelWords,
  readDatabaseLevel,
  readLevel,
  readLevelBeside,
} from '../../src/levels/words.ts'
import { TARGETS } from '../../src/record/targets.ts'

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof UsageError) return `${error.message}; ${error.hint}`
    throw error
  }
  return 'none'
}

describe('readLevel', () => {
  it('knows our ids, which say nothing of session order', () => {
    for (const { id } of LEVELS) expect(readLevel(id)).toEqual({ level: id })
    expect(readLevel(' SER ')).toEqual({ level: 'ser' })
  })

  it('knows Jepsen’s names, with Elle’s meaning', () => {
    for (const { name, level, sessionOrder } of JEPSEN_MODELS) {
      // Databases differ about what it means.
      if (name !== 'repeatable-read') expect(readLevel(name)).toEqual({ level, sessionOrder })
      expect(readLevel(`elle:${name}`)).toEqual({ level, sessionOrder })
      expect(readLevel(`Jepsen:${name.replaceAll('-', ' ')}`)).toEqual({ level, sessionOrder })
    }
    expect(readLevel('serializable')).toEqual({ level: 'ser', sessionOrder: false })
    expect(readLevel('read-committed')).toEqual({ level: 'pl-2', sessionOrder: false })
    expect(readLevel('1SR')).toEqual(readLevel('serializable'))
    expect(readLevel('strong-session-PL-2')).toEqual({ level: 'strong-session-pl-2' })
  })

  it.each([
    ['postgres:read-committed', 'rc'],
    ['PostgreSQL:REPEATABLE READ', 'si'],
    ['postgres:serializable', 'ser'],
    ['mariadb:repeatable_read', 'pc'],
    ['mysql:repeatable-read', 'pc'],
    ['sqlite:serializable', 'ser'],
    ['turso:begin concurrent', 'si'],
    ['duckdb:snapshot isolation', 'si'],
  ])('knows %s as %s, as the database means it', (word, level) => {
    expect(readLevel(word)).toEqual({ level })
  })

  it('takes a name that only one level has', () => {
    expect(readLevel('Causal Consistency')).toEqual({ level: 'cc' })
    expect(readLevel('serializability')).toEqual({ level: 'ser' })
    expect(readLevel('strict serializability')).toEqual({ level: 'sser' })
    expect(readLevel('read your writes')).toEqual({ level: 'ryw' })
  })

  it.each(['linearizable', 'jepsen:sequential', 'elle:PRAM', 'jepsen:read-your-writes'])(
    'says of %s, a model of single objects, what to ask for',
    (word) => {
      const told = refusal(() => readLevel(word))
      expect(told).toMatch(/is a model of single objects, not of transactions; (lin|ser|cc|ryw) is/)
    },
  )

  it.each([
    ['repeatable-read', ["jepsen:repeatable-read (Jepsen's, pl-2.99 without session order)"]],
    ['repeatable-read', ['postgres:repeatable-read (si)', 'mariadb:repeatable-read (pc)']],
    ['Repeatable Read', ['postgres:repeatable-read (si)', 'mariadb:repeatable-read (pc)']],
    ['read committed', ['rc (Read Committed, with', 'read-committed (Jepsen', 'postgres:read-com']],
    ['SNAPSHOT ISOLATION', ['si (Snapshot', "snapshot-isolation (Jepsen's, si without"]],
  ])('refuses %s, which has several meanings, with all of them', (word, ways) => {
    const told = refusal(() => readLevel(word))
    expect(told).toContain('has more than one meaning; say which: ')
    for (const way of ways) expect(told).toContain(way)
    // Whatever it offers instead has one meaning.
    for (const [, offered] of told.matchAll(/(?:: |\), )([\w:-]+) \(/g)) readLevel(offered!)
  })

  it.each([
    ['serialisable', 'did you mean serializable?'],
    ['sre', 'there are ci, rc'],
    ['postgras:serializable', 'did you mean postgres?'],
    ['postgres:repeatable-raed', 'did you mean repeatable-read?'],
    ['elle:snapshot-isolatoin', 'did you mean snapshot-isolation?'],
    ['oracle:serializable', 'no levels of such a database are known: "oracle"'],
  ])('says of %s what may have been meant', (word, what) => {
    expect(refusal(() => readLevel(word))).toContain(what)
  })

  it('does not repeat what may be an address', () => {
    const told = refusal(() => readLevel('postgres://me:SECRET@host/db'))
    expect(told).toContain('PostgreSQL has no such level that is judged here; ')
    expect(told).not.toContain('SECRET')
  })

  it('offers only words that it takes', () => {
    for (const word of levelWords()) expect(() => readLevel(word)).not.toThrow()
  })
})

describe('readLevelBeside', () => {
  const { levels } = DATABASE_LEVELS[0]

  it('takes a word with several meanings as the database at hand means it', () => {
    expect(readLevelBeside('repeatable read', levels)).toEqual({ level: 'si' })
    expect(readLevelBeside('repeatable-read', levels)).toEqual({ level: 'si' })
    expect(readLevelBeside('repeatable read', DATABASE_LEVELS[1].levels)).toEqual({ level: 'pc' })
  })

  it('leaves words alone that have one meaning, or none', () => {
    expect(readLevelBeside('serializable', levels)).toEqual({ level: 'ser', sessionOrder: false })
    expect(readLevelBeside('si', levels)).toEqual({ level: 'si' })
    expect(refusal(() => readLevelBeside('repeatable raed', levels))).toContain('unknown level')
  })
})

describe('readDatabaseLevel', () => {
  const levels = DATABASE_LEVELS[0].levels

  it.each([
    ['repeatable read', 'si'],
    ['REPEATABLE-READ', 'si'],
    ['serializable', 'ser'],
    ['read_committed', 'rc'],
    ['si', 'si'],
    ['snapshot-isolation', 'si'],
    ['cc', 'cc'], // which opening it refuses
  ])('reads %j as %s of PostgreSQL', (word, level) => {
    expect(readDatabaseLevel(word, 'PostgreSQL', levels)).toBe(level)
  })

  it('says what the database offers', () => {
    const told = refusal(() => readDatabaseLevel('repeatable red', 'PostgreSQL', levels))
    expect(told).toContain('did you mean repeatable read? PostgreSQL offers rc (READ COMMITTED)')
    expect(refusal(() => readDatabaseLevel('mixed up', 'PostgreSQL', levels))).toContain('offers')
  })
})

describe('DATABASE_LEVELS', () => {
  it('has a row for every database that runs, but for stores that are simulated', () => {
    const real = TARGETS.filter(({ form }) => !form.startsWith('sim:'))
    const known = new Set<unknown>(DATABASE_LEVELS.map(({ levels }) => levels))
    expect(real.length).toBeGreaterThan(3)
    for (const { form, parse } of real) {
      const address = form.replace(/\[.*\]/, '').replace(/[A-Z]+/g, 'x')
      const target = parse(address, { environment: {}, password: undefined })
      expect(known, form).toContain(target.levels)
    }
  })

  it('gives the weaker level where one name stands for two', () => {
    const maria = DATABASE_LEVELS.find(({ product }) => product === 'MariaDB or MySQL')!
    expect(maria.levels.get('si')).toBe('REPEATABLE READ')
    expect(findOwnLevel(maria.levels, 'repeatable read')).toBe('pc')
    expect(findOwnLevel(maria.levels, 'nothing')).toBeNull()
  })
})
