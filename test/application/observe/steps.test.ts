// What hooks are told of each statement, by which a race judges what commutes.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Step } from '../../../src/application/observe/hooks.ts'
import { instrument } from '../../../src/application/observe/instrument.ts'
import { onServer, reset } from '../server.ts'

const UUID = '5c0b7bd5-3d5b-4d0e-9a35-0b8f6f3a5d11'
const stage = onServer()
let client: pg.Client
let restore: () => void
const steps: Step[] = []
beforeAll(async () => {
  await reset(
    stage.pool,
    'CREATE TABLE items (id int PRIMARY KEY, "Id" int, n int DEFAULT 7)',
    'CREATE TABLE files (id uuid PRIMARY KEY, day date)',
    'INSERT INTO items VALUES (1, 5, 10), (2, 5, 20)',
  )
  client = new pg.Client(stage.server.address)
  await client.connect()
  await client.query("SET default_transaction_isolation = 'repeatable read'")
  ;({ restore } = instrument(client, { after: (step) => void steps.push(step) }))
})
afterAll(async () => {
  restore()
  await client.end()
})

/** The steps of some statements. */
async function told(...texts: string[]): Promise<Step[]> {
  steps.length = 0
  for (const text of texts) await client.query(text).catch(() => {})
  return [...steps]
}

describe('a step', () => {
  it('has the level that its transaction runs at', async () => {
    const levels = async (...texts: string[]) => (await told(...texts)).map(({ level }) => level)
    const look = 'SELECT n FROM items'
    expect(await levels('BEGIN', look, 'COMMIT')).toEqual(Array(3).fill('repeatable read'))
    expect(await levels(look)).toEqual(['repeatable read'])
    const set = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'
    const found = await levels('BEGIN', set, look, 'COMMIT AND CHAIN', 'COMMIT')
    expect(found).toEqual(['repeatable read', ...Array(4).fill('read committed')])
    const words = "BEGIN /* isolation level serializable */; SELECT 'isolation level serializable'"
    expect(await levels(...words.split('; '), 'ROLLBACK')).not.toContain('serializable')
    await told("SET default_transaction_isolation = 'serializable'")
    expect(await levels('BEGIN', look, 'COMMIT')).toEqual(Array(3).fill('serializable'))
    await told("SET default_transaction_isolation = 'repeatable read'")
  })

  it.each([
    ['SELECT n FROM items WHERE id = 1', 'items(1)'],
    ['SELECT n FROM items AS i WHERE i.n > 3 AND i.id = 9', 'items(9)'],
    ['SELECT n FROM items WHERE id = 1 LIMIT 1', 'items(1)'],
    ['UPDATE items SET n = 10 WHERE n = 10 AND id = 1', 'items(1)'],
    ['SELECT n FROM items WHERE "Id" = 5', null],
    ['SELECT n FROM items WHERE id = 1 OR n = 10', null],
    ['SELECT n FROM items WHERE n = 10', null],
    ['SELECT n FROM items LIMIT 1', null],
    ['SELECT n FROM items WHERE n > 0 FOR UPDATE SKIP LOCKED', null],
    [`SELECT id FROM files WHERE id = '${UUID}'`, `files('${UUID}')`],
  ])('knows the one row that it can be about: %s', async (text, row) => {
    const [{ clauses }] = (await told(text)) as [Step]
    expect(clauses).toHaveLength(1)
    expect(clauses![0]!.row).toBe(row)
  })

  it.each([
    ['SELECT n FROM items WHERE id = 1 FOR NO KEY UPDATE', { locks: true }],
    ['SELECT n FROM items WHERE n = 5 -- for update', { locks: false }],
    ['SAVEPOINT rollback', { kind: 'savepoint', savepoint: 'set' }],
    ['/* back */ ROLLBACK TO SAVEPOINT s', { kind: 'savepoint', savepoint: 'return' }],
    ['SET CONSTRAINTS ALL IMMEDIATE', { kind: 'other' }],
    ["SET application_name = 'constraints'", { kind: 'set' }],
    ['UPDATE items SET n = DEFAULT WHERE id = 1', { takesDefaults: true }],
    ['UPDATE items SET n = 10 WHERE id = 1', { takesDefaults: false }],
    ["SELECT n FROM items WHERE id = length('nextval(')", { functions: ['length'] }],
    ['SELECT pg_catalog.nextval($1) FROM items', { functions: ['nextval'] }],
  ])('is read by its words, not by its text: %s', async (text, expected) => {
    const [step] = await told(text)
    expect(step).toMatchObject(expected)
  })
})
