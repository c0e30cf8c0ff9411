import { describe, expect, it } from 'vitest'
import { findSections } from '../../src/report/page/sections.ts'
import { buildReplay } from '../../src/report/replay.ts'
import { renderSqlScript } from '../../src/report/sql-script.ts'
import type { RunJson, VerdictJson } from '../../src/verdict/verdict-file.ts'
import { judge } from './gallery.ts'
import { BOOKING_SKEW, judgeSql, LOST, SQL_GALLERY } from './sql-gallery.ts'

function scriptOf(verdict: VerdictJson): string | null {
  const { example } = findSections(verdict)[0]!.evidence[0]!
  return renderSqlScript(example, buildReplay(example, verdict.initial), verdict.run)
}

function recordedFrom(name: string, notation: string): VerdictJson {
  const run = { database: { name, place: 'here' }, level: { asked: 'si', granted: '' } }
  return { ...judge(notation, 'ser'), run: run as RunJson }
}

const SKEW = 'initial null\ns1: r(1,null) r(2,null) w(1,7)\ns2: r(1,null) r(2,null) w(2,8)'

describe('renderSqlScript', () => {
  it('types statements into a terminal for each session', async () => {
    expect(scriptOf(await judgeSql(LOST, 'mixed'))!.split('\n')).toEqual([
      '-- Once, in any terminal:',
      'CREATE TABLE orders (id bigint, status text, total bigint, PRIMARY KEY (id));',
      "INSERT INTO orders VALUES (1, 'open', 5);",
      '',
      '-- Then line by line, each in the terminal of its letter (A: session 1, B: session 2).',
      '-- At first: orders(1) as at first',
      '/* A */ BEGIN ISOLATION LEVEL REPEATABLE READ; -- T1',
      "/* A */ UPDATE orders SET status = 'open', total = 6 WHERE (id = 1); -- orders(1)@initial to @w1 = (1,'open',6)",
      '/* B */ BEGIN ISOLATION LEVEL REPEATABLE READ; -- T2',
      "/* B */ UPDATE orders SET status = 'open', total = 9 WHERE (id = 1); -- orders(1)@initial to @w2 = (1,'open',9)",
      '/* A */ COMMIT; -- T1',
      '/* B */ COMMIT; -- T2',
      '',
    ])
    expect(scriptOf(await judgeSql(BOOKING_SKEW, 'ser'))).toContain(
      '/* B */ SELECT * FROM bookings WHERE room = 4 AND start_hour < 12 AND end_hour > 10; -- no rows',
    )
  })

  it('writes every statement of every exhibit once', async () => {
    for (const { text, level, name } of SQL_GALLERY) {
      const verdict = await judgeSql(text, level)
      const { example } = findSections(verdict)[0]!.evidence[0]!
      const script = scriptOf(verdict)!
      const ends = script.match(/\*\/ (COMMIT|ROLLBACK);/g) ?? []
      expect(ends, name).toHaveLength(example.txns.length)
      const selects = example.txns.flatMap(({ statements = [] }) => statements)
      const wanted = selects.filter(({ kind }) => kind === 'select').length
      expect(script.match(/\*\/ SELECT /g) ?? [], name).toHaveLength(wanted)
      expect(script, name).not.toMatch(/WHERE[^-]*\$\d/)
    }
  })

  it('writes registers and lists that came from a SQL database, in its dialect', () => {
    const script = scriptOf(recordedFrom('PostgreSQL 18.1', SKEW))!
    expect(script).toContain('CREATE TABLE kv (k bigint PRIMARY KEY, v bigint);')
    expect(script).toContain('INSERT INTO kv VALUES (1, NULL), (2, NULL);')
    expect(script).toContain('/* A */ BEGIN ISOLATION LEVEL REPEATABLE READ; -- T1')
    expect(script).toContain('/* B */ UPDATE kv SET v = 8 WHERE k = 2;')
    const maria = scriptOf(recordedFrom('MariaDB 11', SKEW))!
    expect(maria).toContain('/* A */ SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;')
    const lists = 's1: r(x,[]) append(x,1)\ns2: r(x,[]) append(x,2)\ns3: r(x,[1,2])'
    expect(scriptOf(recordedFrom('MariaDB 11', lists))).toContain("SET v = concat(v, '1 ') WHERE")
    expect(scriptOf(recordedFrom('SQLite 3', lists))).toContain("SET v = v || '2 ' WHERE k = 'x';")
  })

  it('says nothing of histories that did not come from SQL', () => {
    expect(scriptOf(judge(SKEW, 'ser'))).toBeNull()
    expect(scriptOf(recordedFrom('simulated store', SKEW))).toBeNull()
  })

  it('keeps hostile names inside their lines and quotes', () => {
    const script = scriptOf(
      recordedFrom(
        'PostgreSQL',
        's1: r("a\'b\\n;",0) w("a\'b\\n;",1)\ns2: r("a\'b\\n;",0) w("a\'b\\n;",2)',
      ),
    )!
    for (const line of script.split('\n'))
      expect(line).toMatch(/^(--|CREATE|INSERT|\/\* [AB] \*\/|$)/)
    expect(script).toContain("WHERE k = 'a''b\\u000a;'")
  })
})
