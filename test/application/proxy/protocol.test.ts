// The protocol through the proxy: to the same requests the same bytes come back as from the server.

import { describe, expect, it } from 'vitest'
import { frame, int32 } from '../../../src/application/proxy/frames.ts'
import { reset } from '../server.ts'
import { onProxiedServer, proxyTo } from './stage.ts'
import {
  B,
  C,
  COPY_DONE,
  COPY_FAIL,
  copyData,
  D,
  E,
  H,
  P,
  Q,
  type Round,
  S,
  transcriptOf,
} from './transcript.ts'

const stage = onProxiedServer()

const TABLES = [
  'CREATE TABLE items (id int PRIMARY KEY, n bigint NOT NULL, name text, flag bool)',
  "INSERT INTO items VALUES (1, 10, 'ä', true), (2, 20, NULL, false), (3, 30, 'c', NULL)",
  'CREATE TABLE later (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)',
]
const all = 'SELECT id, n, name, flag FROM items ORDER BY id'
const one = 'SELECT n, name FROM items WHERE id = $1'
const add = 'UPDATE items SET n = n + 1'

const int = (value: number) => int32(value)
const go = (...send: Buffer[]): Round => ({ send: [...send, S] })
const simple = (text: string): Round => ({ send: [Q(text)] })

const CASES: Record<string, Round[]> = {
  'one request': [go(P(one), B(['1']), D('P'), E())],
  'numbers in binary': [
    go(P(one, '', [23]), B([int(2)], { formats: [1], answers: [1] }), D('P'), E()),
  ],
  'a format for each column': [
    go(P(all), B([], { answers: [1, 1, 0, 0] }), D('P'), E()),
    go(P(add), B([], { answers: [1] }), D('P'), E()),
  ],
  'statements that are prepared first': [
    go(P(one, 'q'), D('S', 'q')),
    go(B(['1'], { name: 'q' }), E()),
    go(B([null], { name: 'q', answers: [1] }), D('P'), E()),
    go(C('S', 'q')),
    go(B(['1'], { name: 'q' }), E()),
  ],
  'a name that is taken': [go(P(one, 'q')), go(P(all, 'q')), go(B(['3'], { name: 'q' }), E())],
  'statements that were deallocated': [
    go(P(one, 'q'), B(['1'], { name: 'q' }), E()),
    simple('DEALLOCATE q'),
    go(B(['1'], { name: 'q' }), E()),
    go(P(one, 'q'), P(all, 'r')),
    go(P('DISCARD ALL'), B(), E()),
    go(B(['1'], { name: 'q' }), E()),
    go(B([], { name: 'r' }), E()),
  ],
  'UPDATE, INSERT and DELETE': [
    go(P(add), B(), D('P'), E()),
    go(P('INSERT INTO items VALUES ($1, $2)'), B(['4', '40']), D('P'), E()),
    go(P('INSERT INTO items VALUES (5, 50) RETURNING *'), B(), D('P'), E()),
    go(P('DELETE FROM items WHERE n > $1 RETURNING id'), B(['31']), D('P'), E()),
    go(P(all), B(), D('P'), E()),
  ],
  'rows by the piece': [
    simple('BEGIN'),
    go(P(all), B([], { portal: 'p' }), D('P', 'p'), E(1, 'p')),
    go(E(1, 'p')),
    { send: [E(2, 'p'), H], until: 'C' },
    go(E(0, 'p')),
    go(C('P', 'p')),
    go(E(0, 'p')),
    simple('ROLLBACK'),
  ],
  'limits of rows where there are none': [
    go(P(add), B(), E(1)),
    go(P(`${add} RETURNING id`), B(), E(1), E(1), E(5)),
    go(P(all), B(), E()),
  ],
  'portals side by side': [
    simple('BEGIN'),
    go(
      P(all, 'a'),
      B([], { name: 'a', portal: 'x' }),
      B([], { name: 'a', portal: 'y' }),
      E(1, 'x'),
      P(add),
      B(),
      E(),
      E(1, 'y'),
      E(0, 'x'),
      E(0, 'y'),
    ),
    simple('COMMIT'),
  ],
  'several requests before one Sync': [
    go(P(add), B(), E(), P(one), B(['1']), D('P'), E(), P('SELECT now() IS NULL'), B(), E()),
    go(P(add), B(), E(), P('SELECT 1 / 0'), B(), E(), P(add), B(), E()),
    go(P(all), B(), E()),
    go(P('BEGIN'), B(), E(), P(add), B(), E(), P('SAVEPOINT s'), B(), E(), P(all), B(), E()),
    go(P('ROLLBACK TO s'), B(), E(), P('COMMIT AND CHAIN'), B(), E(), P(add), B(), E()),
    go(P('COMMIT'), B(), E(), P(all), B(), E()),
  ],
  'a Flush in place of a Sync': [
    { send: [P(one), D('S'), H], until: 'T' },
    { send: [B(['1']), E(), H], until: 'C' },
    { send: [S] },
  ],
  'what is wrong': [
    go(P('SELECT nosuch FROM items')),
    go(P('SELEC 1'), B(), E()),
    go(P(one), B(['x']), E()),
    go(P(one), B([]), E()),
    go(P(one), B(['1', '2']), E()),
    go(B([], { name: 'nosuch' }), E()),
    go(E(0, 'nosuch')),
    go(D('P', 'nosuch')),
    go(P('INSERT INTO items VALUES (1, 1)'), B(), E()),
    go(P('INSERT INTO later VALUES (1), (1)'), B(), E()),
    simple('INSERT INTO later VALUES (2), (2)'),
    simple("UPDATE items SET n = 'x' RETURNING id"),
    simple('SELECT id, nosuch FROM items ORDER BY id'),
    simple('SELECT 1 FROM items WHERE nosuch'),
    simple('SELECT id FROM items; SELECT 1 / 0; SELECT id FROM items'),
  ],
  'a transaction that has failed': [
    simple('BEGIN'),
    go(P(one), B(['x']), E()),
    go(P(one), B(['1']), E()),
    simple(all),
    simple('COMMIT'),
    simple('BEGIN'),
    simple('SELECT 1 / 0'),
    simple('ROLLBACK'),
    simple('BEGIN ISOLATION LEVEL SERIALIZABLE'),
    simple('SET TRANSACTION ISOLATION LEVEL READ COMMITTED'),
    simple(all),
    simple('COMMIT'),
  ],
  'statements as text': [
    simple(all),
    simple(`${add} WHERE id = 1`),
    simple(`${add} RETURNING *, n AS m`),
    simple('SELECT count(*), max(name) FROM items WHERE n > 11'),
    simple('SELECT DISTINCT flag FROM items ORDER BY flag'),
    simple(''),
    simple(';;'),
    simple(`${all}; ${add}; BEGIN; ${all}`),
    simple('COMMIT; SHOW application_name; SELECT 1'),
    simple("DO $$ BEGIN RAISE NOTICE 'hear'; RAISE WARNING 'that'; END $$"),
    simple("SET application_name = 'other'"),
    simple('LISTEN here; NOTIFY here'),
    simple('DECLARE c CURSOR WITH HOLD FOR SELECT id FROM items'),
    simple('FETCH 2 FROM c'),
    simple("SELECT 'unended"),
    simple('/* nothing */'),
  ],
  COPY: [
    { send: [Q('COPY items (id, n) FROM STDIN')], until: 'G' },
    { send: [copyData('6\t60\n'), copyData('7\t70\n'), COPY_DONE] },
    { send: [Q('COPY items (id, n) FROM STDIN')], until: 'G' },
    { send: [copyData('8\t80\n'), COPY_FAIL] },
    { send: [Q('COPY items (id, n) FROM STDIN')], until: 'G' },
    { send: [copyData('8\tx\n'), copyData('9\t90\n'), COPY_DONE] },
    simple('COPY items TO STDOUT'),
    // As libpq: a Sync before the rows, and one behind them.
    { send: [P('COPY items (id, n) FROM STDIN'), B(), E(), S], until: 'G' },
    { send: [copyData('9\t90\n'), COPY_DONE, S] },
    { send: [P('COPY items (id, n) FROM STDIN'), B(), E(), H], until: 'G' },
    { send: [copyData('9\t90\n'), COPY_DONE, S] },
    go(P('COPY items TO STDOUT'), B(), E()),
  ],
  'other words': [
    // The function int4pl, by its number: 2 + 3.
    {
      send: [
        frame('F', int32(177), [0, 2], int32(1), Buffer.from('2'), int32(1), Buffer.from('3'), [0]),
      ],
    },
    go(P('CREATE INDEX CONCURRENTLY later_on ON items (lower(name))'), B(), E()),
    go(P('VACUUM items'), B(), E()),
    go(P(''), B(), D('P'), E()),
    { send: [S] },
  ],
  'another encoding': [
    simple("SET client_encoding = 'LATIN1'"),
    simple(all),
    { send: [frame('Q', Buffer.from("SELECT id FROM items WHERE name = 'ä'\0", 'latin1'))] },
    simple("SET client_encoding = 'UTF8'"),
    simple("SELECT id FROM items WHERE name = 'ä'"),
  ],
}

describe('the proxy answers as the server does to', () => {
  for (const [name, rounds] of Object.entries(CASES)) {
    it(name, async () => {
      const { direct, login } = stage
      await reset(direct, ...TABLES)
      const plain = await transcriptOf(login, rounds)
      await direct.query(`TRUNCATE items; ${TABLES[1]}; DROP INDEX IF EXISTS later_on`)
      const proxy = await proxyTo(stage)
      try {
        const seen = await transcriptOf({ ...login, port: proxy.port }, rounds)
        expect(seen.map(idsLeftOut)).toEqual(plain.map(idsLeftOut))
      } finally {
        proxy.recorded.stop()
      }
    })
  }
})

/** Notifications begin with the process id of who sent them: four bytes, whatever they are escaped to. */
function idsLeftOut(round: string[]): string[] {
  return round.map((message) => {
    const body = message.slice(2)
    return message.startsWith('A ') ? `A ${JSON.stringify(JSON.parse(body).slice(4))}` : message
  })
}
