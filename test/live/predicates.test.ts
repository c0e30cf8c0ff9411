// Our predicates against PostgreSQL's: the same clauses on the same rows, the same answers.

import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { findEmbeddedPackage } from '../../src/record/embedded/binaries.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { type Predicate, parsePredicate, SqlError } from '../../src/sql/predicate.ts'
import { renderSqlValue, type SqlRow } from '../../src/sql/value.ts'
import { some } from '../long.ts'
import { COLUMNS, type Kind, RandomPredicate, randomRow } from '../sql/random-predicate.ts'
import { targetOf, withClient } from './postgres.ts'

const SEED = 20240607
const ROW_COUNT = 16
const BATCH = 125
const ALL_FAIL = 'e'.repeat(ROW_COUNT)
const COUNTS: Record<Kind, number> = {
  total: some(2500, 10),
  failing: some(1500, 10),
  untyped: some(500),
  free: some(500),
}

const random = new Random(SEED)
const rows = Array.from({ length: ROW_COUNT }, () => randomRow(random))

/** The rows; judge(clause): for each row t, f, n (NULL) or e (error); or an SQLSTATE for all. */
function setUp(): string {
  const types = { boolean: 'boolean', integer: 'bigint', numeric: 'numeric', text: 'text' }
  const columns = COLUMNS.map(
    ({ name, type }) => `"${name.replaceAll('"', '""')}" ${types[type]}`,
  ).join(', ')
  const values = rows.map((row, index) => `(${[index, ...row.map(literalOf)].join(', ')})`)
  return `
    CREATE TABLE rows (id integer, ${columns});
    INSERT INTO rows VALUES ${values.join(', ')};
    -- The one cast that we have and PostgreSQL has not.
    CREATE FUNCTION truth(bigint) RETURNS boolean IMMUTABLE STRICT LANGUAGE sql AS 'SELECT $1 <> 0';
    CREATE CAST (bigint AS boolean) WITH FUNCTION truth(bigint);
    CREATE FUNCTION ask(clause text, condition text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE answer text;
    BEGIN
      EXECUTE format('SELECT string_agg(CASE WHEN (%1$s) THEN ''t'' WHEN NOT (%1$s) THEN ''f''
        ELSE ''n'' END, '''' ORDER BY id) FROM rows WHERE %2$s', clause, condition) INTO answer;
      RETURN answer;
    END $$;
    CREATE FUNCTION judge(clause text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE answer text := '';
    BEGIN
      BEGIN
        RETURN ask(clause, 'true');
      EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE LIKE '42%' THEN RETURN SQLSTATE; END IF;
      END;
      FOR id IN 0 .. ${ROW_COUNT - 1} LOOP
        BEGIN
          answer := answer || ask(clause, 'id = ' || id);
        EXCEPTION WHEN OTHERS THEN
          answer := answer || 'e';
        END;
      END LOOP;
      RETURN answer;
    END $$`
}

function literalOf(value: SqlRow[number]): string {
  return typeof value === 'bigint' ? `'${value}'` : renderSqlValue(value)
}

interface Case {
  readonly clause: RandomPredicate
  /** Null if the clause is refused. */
  readonly predicate: Predicate | null
  /** A letter a row, as judge says it. */
  readonly ours: string
}

/** Null if the clause is one that we want (more) parentheses in, or do not support. */
function tryCase(clause: RandomPredicate): Case | null {
  let predicate: Predicate
  try {
    predicate = parsePredicate(clause.text, COLUMNS, clause.params, 'rows')
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    if (error.message.includes('parentheses')) return null
    if (error.message.includes('is not supported')) return null
    return { clause, predicate: null, ours: ALL_FAIL }
  }
  return { clause, predicate, ours: rows.map((row) => answerOf(predicate, row)).join('') }
}

function answerOf(predicate: Predicate, row: SqlRow): string {
  try {
    const answer = predicate.evaluate(row)
    return answer === null ? 'n' : answer ? 't' : 'f'
  } catch (error) {
    if (error instanceof SqlError) return 'e'
    throw error
  }
}

async function judge(client: Client, cases: readonly Case[]): Promise<string[]> {
  const clauses = cases.map(({ clause }) => clause.literal)
  const sql = 'SELECT judge(clause) FROM unnest($1::text[]) WITH ORDINALITY u(clause, n) ORDER BY n'
  const result = await client.query({ text: sql, values: [clauses], rowMode: 'array' })
  return result.rows.map(([answer]) => answer as string)
}

const installed = findEmbeddedPackage() !== null
if (!installed) process.stderr.write('SKIPPED: predicates against PostgreSQL (not installed)\n')

describe.skipIf(!installed)('parsePredicate against the embedded PostgreSQL', () => {
  const cases: Case[] = []
  const theirs: string[] = []
  let wantParentheses = 0
  let embedded: EmbeddedServer

  function makeCases(kind: Kind, count: number): Case[] {
    const made: Case[] = []
    while (made.length < count) {
      const found = tryCase(new RandomPredicate(random, kind))
      if (found) made.push(found)
      else wantParentheses++
    }
    return made
  }

  beforeAll(async () => {
    embedded = await EmbeddedServer.start()
    await withClient(targetOf(embedded), async (client) => {
      await client.query(setUp())
      // The server judges one batch while we make the next.
      let judged: Promise<unknown> = Promise.resolve()
      for (const kind of Object.keys(COUNTS) as Kind[]) {
        for (let done = 0; done < COUNTS[kind]; done += BATCH) {
          const batch = makeCases(kind, BATCH)
          await judged
          cases.push(...batch)
          judged = judge(client, batch).then((answers) => theirs.push(...answers))
          await new Promise(setImmediate)
        }
      }
      await judged
    })
  })
  afterAll(() => embedded.stop())

  /** The cases of the kind on which we differ; always those that only one refuses outright. */
  function differences(kind: Kind, same: (ours: string, theirs: string) => boolean): string[] {
    const found: string[] = []
    for (const [index, { clause, predicate, ours }] of cases.entries()) {
      if (clause.kind !== kind) continue
      const answer = theirs[index]!
      const refused = answer.startsWith('42')
      const wrong = predicate ? refused || !same(ours, answer) : !refused && answer !== ALL_FAIL
      if (wrong) found.push(`${clause.literal}\n  ours   ${ours}\n  theirs ${answer}`)
    }
    return found
  }
  const equal = (ours: string, expected: string) => ours === expected

  it('gives the same answers where nothing can fail', () => {
    expect(differences('total', equal)).toEqual([])
  })

  it('fails on the same rows', () => {
    expect(differences('failing', equal)).toEqual([])
  })

  it('refuses the same types', () => {
    expect(differences('untyped', agreeButErrors)).toEqual([])
    const refused = cases.filter(({ clause, predicate }) => clause.kind === 'untyped' && !predicate)
    expect(refused.length).toBeGreaterThan(COUNTS.untyped / 5)
  })

  it('differs at most in whether an error is reached where that is open', () => {
    expect(differences('free', agreeButErrors)).toEqual([])
    expect(differences('free', equal).length).toBeLessThan(COUNTS.free / 10)
  })

  it('fixes columns only to values that satisfying rows have', () => {
    let hints = 0
    for (const { clause, predicate, ours } of cases) {
      for (const [column, value] of predicate?.fixed ?? []) {
        hints++
        for (const [index, row] of rows.entries()) {
          if (ours[index] === 't') expect(row[column], clause.literal).toBe(value)
        }
      }
    }
    expect(hints).toBeGreaterThan(some(100, 10))
  })

  it('meets every answer often', () => {
    const all = cases.map(({ ours }) => ours).join('')
    for (const letter of 'tfne') expect(all.split(letter).length).toBeGreaterThan(some(4000, 10))
    expect(wantParentheses).toBeLessThan(cases.length / 10)
  })
})

function agreeButErrors(ours: string, theirs: string): boolean {
  for (let i = 0; i < ROW_COUNT; i++) {
    if (ours[i] !== theirs[i] && ours[i] !== 'e' && theirs[i] !== 'e') return false
  }
  return true
}
