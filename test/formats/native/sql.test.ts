// SQL statements in the native format: what they become, and how wrong ones are refused.

import { describe, expect, it } from 'vitest'
import type { InputError } from '../../../src/base/errors.ts'
import { judge } from '../../../src/check/judge.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { check } from '../../../src/library/check.ts'
import { refusal } from '../errors.ts'
import { dump } from '../histories.ts'
import { dumpSql } from './sql-histories.ts'

const HEADER =
  '{"isobar":1,"tables":{"orders":{"columns":{"id":"integer","status":"text","paid":"boolean"},' +
  '"key":["id"],"rows":[{"id":1,"status":"open"}]},' +
  '"stock":{"key":["shop","item"],"columns":{"shop":"integer","item":"text","left":"integer"}}}}\n'

const line = (...ops: string[]) => `{"session":0,"ops":[${ops.join(',')}]}\n`
const parse = (...lines: string[]) => parseHistory(HEADER + lines.join(''), { format: 'native' })

describe('StatementReader', () => {
  it('makes reads of what a statement saw and writes of what it wrote', () => {
    const history = parse(
      line(
        '{"select":"orders","where":"status = $1","params":["open",7,true,null],' +
          '"rows":[{"key":[1],"from":null}],"unread":[{"from":"w9","key":2}]}',
        '["w","x",5]',
        '{"update":"orders","where":"id = 1","write":"w1",' +
          '"rows":[{"key":1,"from":null,"row":{"status":"done","id":1,"paid":true}}]}',
      ),
      line(
        '{"rows":[{"id":9223372036854775807},{"id":-9223372036854775808}],"write":7,"insert":"orders"}',
        '{"select":"stock","rows":[]}',
        '{"delete":"orders","rows":[{"key":[1],"from":"w1"}],"write":"w3"}',
        '{"abort":true}',
      ),
    )
    expect(dump(history)).toEqual([
      'initial null',
      '0 T1 0 NaN NaN -1 r("orders(1)",null) r("orders(2)","w9") w("x",5) r("orders(1)",null) w("orders(1)","w1")',
      '0 T2 1 NaN NaN -1 w("orders(9223372036854775807)",7) w("orders(-9223372036854775808)",7) r("orders(1)","w1") w("orders(1)","w3")',
    ])
    expect(dumpSql(history)).toEqual([
      "orders(id integer, status text, paid boolean) key 0: (1,'open',NULL)",
      'stock(shop integer, item text, left integer) key 0,1:',
      "T1.0 select orders where status = $1 ['open',7,TRUE,NULL] write none: orders(1)@null unread orders(2)@w9",
      "T1.3 update orders where id = 1 [] write w1: orders(1)@null orders(1)=(1,'done',TRUE)",
      'T2.0 insert orders write 7: orders(9223372036854775807)=(9223372036854775807,NULL,NULL) orders(-9223372036854775808)=(-9223372036854775808,NULL,NULL)',
      'T2.2 select stock where TRUE [] write none:',
      'T2.2 delete orders where TRUE [] write w3: orders(1)@w1 orders(1)=†',
      'rolled back: 0 1',
    ])
  })

  it('knows where statements, rows and clauses stand', () => {
    const history = parse(
      line('["r","ä",null]', '{"select":"orders","where":"paid","rows":[{"key":1,"from":null}]}'),
    )
    const { sql } = history
    expect(sql!.eventPlace(0)).toEqual({ line: 2, column: 36 })
    expect(sql!.predicates[0]!.place).toEqual({ line: 2, column: 63 })
    expect(history.placeOf(1)).toEqual({ line: 2, column: 78 })
  })
})

describe('an INSERT that was refused', () => {
  it('read the rows that it met, and speaks of no others', () => {
    const history = parse(
      line('{"refused":"orders","rows":[{"key":1,"from":null}]}'),
      line('{"rows":[{"from":"w1","key":[2,"tea"]},{"key":[2,"jam"],"from":7}],"refused":"stock"}'),
    )
    expect(dumpSql(history).slice(2)).toEqual([
      'T1.0 refused orders where id = 1 [] write none: orders(1)@null',
      `T2.0 refused stock where (shop = 2 AND item = 'tea') OR (shop = 2 AND item = 'jam') [] write none: stock(2,'tea')@w1 stock(2,'jam')@7`,
      'rolled back: 0 0',
    ])
  })

  const booked = (...rest: string[]) =>
    parse(
      line('{"insert":"orders","write":"w2","rows":[{"id":2}]}'),
      `{"session":1,"ops":[${rest.join()}]}\n`,
    )
  const NONE_THERE = '{"select":"orders","where":"id = 2","rows":[]}'
  const MET = '{"refused":"orders","rows":[{"key":2,"from":"w2"}]}'

  it.each([
    ['what was not there and then was', booked(NONE_THERE, MET), 'violated'],
    ['what was there all the time', booked(MET), 'satisfied'],
    ['what was there and then was not', booked(MET, NONE_THERE), 'violated'],
    [
      'a row that nobody wrote',
      parse(line('{"refused":"orders","rows":[{"key":3,"from":null}]}')),
      'violated',
    ],
    [
      'the row that was there at first',
      parse(line('{"refused":"orders","rows":[{"key":1,"from":null}]}')),
      'satisfied',
    ],
  ] as const)('is judged by %s', async (_, history, verdict) => {
    const [result] = await judge(history, ['ser'])
    expect(result!.verdict).toBe(verdict)
  })

  it('is told in words', async () => {
    const history = booked(NONE_THERE, MET)
    expect(renderNotation(history)).toContain('refused insert orders where id = 2 -> orders(2)@w2')
    const shown = await check(history, 'ser')
    expect(JSON.stringify(shown)).toContain('INSERT orders refused because of id = 2')
  })
})

describe('a numeric', () => {
  const priced = (price: string) =>
    '{"isobar":1,"tables":{"t":{"columns":{"id":"integer","price":"numeric"},"key":["id"],' +
    `"rows":[{"id":1,"price":${price}},{"id":2}]}}}\n` +
    '{"session":0,"ops":[{"select":"t","where":"price > 1.25","rows":[{"key":1,"from":null}]}]}\n'

  it.each([
    ['"1.3"', 'satisfied'],
    ['"1.250"', 'violated'],
    ['2', 'satisfied'],
    ['"-99999999999999999999.5"', 'violated'],
  ])('is compared as a number: %s', async (price, verdict) => {
    const [result] = await judge(parseHistory(priced(price)), ['rc'])
    expect(result!.verdict).toBe(verdict)
  })

  it.each([
    ['1.5', 'malformed: the value of price is not an integer'],
    ['"NaN"', 'wrong-type: column "price" of t holds numbers, found other text'],
    ['"1e5"', 'wrong-type: column "price" of t holds numbers, found other text'],
    ['true', 'wrong-type: column "price" of t holds numbers, found a boolean'],
  ])('is refused otherwise spelt: %s', (price, message) => {
    expect(refused(priced(price))).toBe(`1:110 ${message}`)
  })
})

/** A refused statement: where, how, and a hint always. */
function refused(text: string): string {
  const place = refusal(text, 'native')
  try {
    parseHistory(text, { format: 'native' })
  } catch (error) {
    expect((error as InputError).hint, place).not.toBeNull()
  }
  return place
}

describe('a wrong statement', () => {
  it.each([
    ['{"select":"order","rows":[]}', '2:31 unknown-table: there is no table "order"'],
    ['{"select":7,"rows":[]}', '2:31 malformed: expected the name of a table, found "7"'],
    ['{"select":"orders"}', '2:21 missing-field: the select has no "rows"'],
    ['{"select":"orders","rows":{}}', '2:47 malformed: expected the rows, found "{"'],
    ['{"select":"orders","rows":[1]}', '2:48 malformed: expected a row, found "1"'],
    ['{"select":"orders","rows":[{"from":null}]}', '2:48 missing-field: the row has no "key"'],
    ['{"select":"orders","rows":[{"key":1}]}', '2:48 missing-field: the row has no "from"'],
    [
      '{"select":"orders","rows":[{"key":[1,2],"from":null}]}',
      '2:55 bad-key: a key of orders has 1 value, found 2',
    ],
    [
      '{"select":"orders","rows":[{"key":[],"from":null}]}',
      '2:55 bad-key: a key of orders has 1 value, found 0',
    ],
    [
      '{"select":"stock","rows":[{"key":1,"from":null}]}',
      '2:54 bad-key: a key of stock is a list of 2 values',
    ],
    [
      '{"select":"orders","rows":[{"key":"1","from":null}]}',
      '2:55 wrong-type: column "id" of orders holds integers, found text',
    ],
    [
      '{"select":"stock","rows":[{"key":[1,2],"from":null}]}',
      '2:57 wrong-type: column "item" of stock holds text, found an integer',
    ],
    [
      '{"select":"orders","rows":[{"key":[null],"from":null}]}',
      '2:56 missing-key: the key column "id" cannot be null',
    ],
    [
      '{"select":"orders","rows":[{"key":1.5,"from":null}]}',
      '2:55 malformed: the value of id is not an integer',
    ],
    [
      '{"select":"orders","rows":[{"key":9223372036854775808,"from":null}]}',
      '2:55 out-of-range: the value of id does not fit into 64 bits',
    ],
    [
      '{"select":"orders","rows":[{"key":1,"from":true}]}',
      '2:64 malformed: the version cannot be a boolean',
    ],
    [
      '{"delete":"orders","write":1,"rows":[{"key":1,"from":null},{"key":[1],"from":"w"}]}',
      '2:80 duplicate-row: the statement names the row orders(1) twice',
    ],
    [
      '{"select":"orders","rows":[{"key":1,"from":null}],"unread":[{"key":1,"from":null}]}',
      '2:81 duplicate-row: the statement names the row orders(1) twice',
    ],
    ['{"refused":"orders","rows":[]}', '2:48 malformed: the insert was refused by no row'],
    [
      '{"refused":"orders","where":"id = 1","rows":[{"key":1,"from":null}]}',
      '2:49 malformed: a refused insert has no "where"',
    ],
    [
      '{"refused":"orders","rows":[{"key":1,"from":null},{"key":1,"from":"w"}]}',
      '2:71 duplicate-row: the statement names the row orders(1) twice',
    ],
    ['{"refused":"orders"}', '2:21 missing-field: the refused insert has no "rows"'],
    [
      '{"select":"orders","rows":[{"key":1,"from":null,"row":{"id":1}}]}',
      '2:69 malformed: only an update says what a row became',
    ],
    ['{"select":"orders","wher":"id = 1","rows":[]}', '2:40 unknown-field: unknown field "wher"'],
    ['{"Select":"orders","rows":[]}', '2:22 unknown-field: unknown field "Select"'],
    [
      '{"select":"orders","rows":[{"key":1,"frm":null}]}',
      '2:57 unknown-field: unknown field "frm"',
    ],
    ['{"select":"orders","rows":[],"rows":[]}', '2:50 malformed: "rows" is given twice'],
    ['{"select":"orders","write":"w","rows":[]}', '2:48 malformed: select has no "write"'],
    [
      '{"select":"orders","where":1,"rows":[]}',
      '2:48 malformed: expected a WHERE clause, found "1"',
    ],
    ['{"select":"orders","params":[1],"rows":[]}', '2:49 malformed: "params" without "where"'],
    [
      '{"select":"orders","where":"id = $1","params":[{}],"rows":[]}',
      '2:68 wrong-type: the parameter $1 cannot be an object',
    ],
    [
      '{"select":"orders","where":"id = $1","params":[1.5],"rows":[]}',
      '2:68 malformed: the parameter $1 is not an integer',
    ],
    [
      '{"select":"orders","insert":"orders","rows":[]}',
      '2:21 malformed: the statement is both "select" and "insert"',
    ],
    [
      '{"rows":[]}',
      '2:21 malformed: the object is no statement: it has no "select", "insert", "update", "delete"',
    ],
    ['{"insert":"orders","rows":[{"id":5}]}', '2:21 missing-field: the insert has no "write"'],
    [
      '{"insert":"orders","write":null,"rows":[{"id":5}]}',
      '2:48 malformed: the write id cannot be null',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"status":"open"}]}',
      '2:60 missing-key: the row lacks its key column "id"',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":null}]}',
      '2:66 missing-key: the key column "id" cannot be null',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5,"state":"open"}]}',
      '2:68 unknown-column: table orders has no column "state"',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5,"id":5}]}',
      '2:68 malformed: column "id" is given twice',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5,"status":5}]}',
      '2:77 wrong-type: column "status" of orders holds text, found an integer',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5,"paid":"t"}]}',
      '2:75 wrong-type: column "paid" of orders holds booleans, found text',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5,"status":[1]}]}',
      '2:77 wrong-type: the value of status cannot be a list',
    ],
    [
      '{"insert":"orders","write":"w","rows":[{"id":5},{"id":5}]}',
      '2:69 duplicate-row: the statement names the row orders(5) twice',
    ],
    [
      '{"insert":"orders","write":"w","where":"id = 5","rows":[]}',
      '2:60 malformed: insert has no "where"',
    ],
    [
      '{"insert":"orders","write":"w","rows":[]},{"insert":"stock","write":"w","rows":[]}',
      '2:89 duplicate-write: the write id "w" is used twice (first at line 2)',
    ],
    [
      '{"update":"orders","write":"w","rows":[{"key":1,"from":null}]}',
      '2:60 missing-field: the row has no "row"',
    ],
    [
      '{"update":"orders","write":"w","rows":[{"key":1,"from":null,"row":{"id":2}}]}',
      '2:87 changed-key: the update changes the key column "id"',
    ],
    [
      '{"update":"orders","rows":[{"key":1,"from":null,"row":{"id":1}}]}',
      '2:21 missing-field: the update has no "write"',
    ],
    [
      '{"delete":"orders","rows":[{"key":1,"from":null}]}',
      '2:21 missing-field: the delete has no "write"',
    ],
    ['{"abort":false}', '2:30 malformed: expected true, found "f"'],
    [
      '{"abort":true},["r","x",null]',
      '2:35 malformed: the transaction has aborted before this operation',
    ],
    ['["w","orders(1)",5]', '2:21 mixed-key: the register "orders(1)" has the name of a row'],
  ])('%s is refused', (op, message) => {
    expect(refused(HEADER + line(op))).toBe(message)
  })

  it.each([
    '{"select":"orders","rows":[]}',
    '{"select":"orders","where":"","rows":[],"sql":"select * from orders where","took":1.5}',
    '{"select":"orders","rows":[{"key":[1],"from":"nobody wrote it"}]}',
    '{"select":"orders","rows":[{"key":1,"from":null}],"unread":[{"key":2,"from":null}]}',
    '{"select":"stock","rows":[{"key":[1,"2"],"from":7}]}',
    '{"insert":"orders","rows":[]}',
    '{"insert":"orders","write":"w","rows":[{"id":5,"status":null}]}',
    '{"insert":"orders","write":"w","rows":[{"id":5}]},{"insert":"orders","write":"v","rows":[{"id":5}]}',
    '{"update":"orders","write":"w","rows":[{"row":{"id":1},"key":1,"from":null}]}',
    '{"update":"orders","rows":[],"unread":[{"key":1,"from":null}]}',
    '["r","x",null],{"abort":true}',
    '["w","orders(2)",5]',
  ])('%s is right', (op) => {
    expect(parse(line(op)).txnCount).toBe(1)
  })
})

describe('an abort', () => {
  const pending = '{"pending":"a","session":0,"ops":[{"abort":true}]}\n'

  it('makes the transaction an aborted one', () => {
    expect(parse(line('["w","x",1]', '{"abort":true}')).txnStatus[0]).toBe(1)
    expect(parse(pending).txnStatus[0]).toBe(1)
    expect(parse(pending, '{"outcome":"a","status":"aborted"}\n').txnStatus[0]).toBe(1)
    const other = '{"session":0,"ops":[]}\n'
    expect([...parse(line('{"abort":true}'), other).txnStatus]).toEqual([1, 0])
  })

  it('contradicts any other status', () => {
    const told = '{"session":0,"status":"committed","ops":[["r","x",1],{"abort":true}]}'
    expect(refused(told)).toBe(
      '1:54 malformed: the transaction aborts, but its status is committed',
    )
    expect(refused(told.replace('committed', 'indeterminate'))).toMatch(/^1:58 malformed/)
    expect(parse(told.replace('committed', 'aborted')).txnStatus[0]).toBe(1)
    expect(refused(`${pending}{"outcome":"a","status":"committed"}`)).toBe(
      '2:1 malformed: transaction "a" (line 1) aborts, but its outcome is committed',
    )
  })
})

const table = (text: string) => `{"isobar":1,"tables":${text}}`
const good = '"columns":{"id":"integer"},"key":["id"]'

describe('wrong tables', () => {
  it.each([
    ['[]', '1:22 malformed: expected the tables, found "["'],
    ['{"t":[]}', '1:27 malformed: expected table "t", found "["'],
    ['{"t":{"key":["id"]}}', '1:27 missing-field: table "t" has no "columns"'],
    ['{"t":{"columns":{"id":"integer"}}}', '1:27 missing-field: table "t" has no "key"'],
    [
      '{"t":{"columns":{"id":""},"key":["id"]}}',
      '1:44 unknown-type: column "id" has the unknown type ""',
    ],
    [
      '{"t":{"columns":{"id":"real"},"key":["id"]}}',
      '1:44 unknown-type: column "id" has the unknown type "real"',
    ],
    [
      '{"t":{"columns":{"id":null},"key":["id"]}}',
      '1:44 malformed: expected the type of "id", found "n"',
    ],
    [
      '{"t":{"columns":{"id":"text","id":"text"},"key":["id"]}}',
      '1:51 malformed: column "id" is declared twice',
    ],
    ['{"t":{"columns":{"id":"text"},"key":[]}}', '1:58 malformed: the key of t has no column'],
    [
      '{"t":{"columns":{"id":"text"},"key":["ID"]}}',
      '1:59 unknown-column: table t has no column "ID"',
    ],
    [
      '{"t":{"columns":{"id":"numeric"},"key":["id"]}}',
      '1:62 bad-key: the key column "id" is numeric',
    ],
    [
      '{"t":{"columns":{"id":"text"},"key":["id","id"]}}',
      '1:64 malformed: column "id" is in the key twice',
    ],
    [`{"t":{${good}},"t":{${good}}}`, '1:69 malformed: table "t" is declared twice'],
    [`{"t(1":{${good}}}`, '1:23 malformed: "t(1" cannot be the name of a table'],
    [`{"":{${good}}}`, '1:23 malformed: "" cannot be the name of a table'],
    [`{"t":{${good},"row":[]}}`, '1:68 unknown-field: unknown field "row"'],
    [`{"t":{${good},"rows":{}}}`, '1:75 malformed: expected the initial rows of t, found "{"'],
    [`{"t":{${good},"rows":[{}]}}`, '1:76 missing-key: the row lacks its key column "id"'],
    [
      `{"t":{${good},"rows":[{"id":1},{"id":1}]}}`,
      '1:85 duplicate-row: the initial row t(1) is given twice',
    ],
    [`{"t":{"rows":[{"id":1,"x":2}],${good}}}`, '1:44 unknown-column: table t has no column "x"'],
  ])('%s are refused', (text, message) => {
    expect(refused(table(text))).toBe(message)
  })

  it('are right otherwise, in any order', () => {
    const text = table(`{"t":{"note":{},"rows":[{"id":1},{"id":2}],${good}},"u":{${good}}}`)
    expect(dumpSql(parseHistory(text))).toEqual([
      't(id integer) key 0: (1) (2)',
      'u(id integer) key 0:',
      'rolled back: ',
    ])
  })

  it.each([
    [
      line('{"select":"orders","rows":[]}'),
      '1:21 unknown-table: a statement, but the header declares no tables',
    ],
    [
      `{"isobar":1,"table":{}}\n${line('{"select":"orders","rows":[]}')}`,
      '1:13 unknown-field: unknown field "table"',
    ],
    ['{"isobar":1,"tables":{},"tables":{}}', '1:25 malformed: "tables" is given twice'],
    [`${table('{}')}\n${table('{}')}`, '2:1 malformed: the header must be the first line'],
    [`${line()}${table('{}')}`, '2:1 malformed: the header must be the first line'],
    [
      `${table('{}')}\n{"session":0,"ops":[],"tables":{}}`,
      '2:32 malformed: "tables" belongs into the header',
    ],
    [
      '{"isobar":1,"initial":0,"tables":{}}',
      '1:1 malformed: beside tables the initial value is null',
    ],
  ])('are not declared by %s', (text, message) => {
    expect(refusal(text, 'native')).toBe(message)
  })
})

describe('a recorder', () => {
  it('may write statements before their outcome, and be killed', () => {
    const text =
      '{"pending":"a","session":0,"start":1,"level":"ser","ops":[{"insert":"orders","write":1,"rows":[{"id":5}]}]}\n' +
      '{"pending":"b","session":1,"ops":[{"select":"orders","rows":[{"key":5,"from":1}]}]}\n' +
      '{"outcome":"a","status":"committed","finish":3}\n'
    const torn = '{"session":2,"ops":[{"select":"orders","where":"status = \'op'
    const history = parse(text, torn)
    expect([...history.txnStatus]).toEqual([0, 2])
    expect(history.warnings).toHaveLength(1)
    expect(history.sql!.eventCount).toBe(2)
    expect(history.readTxn[1]).toBe(0)
  })
})
