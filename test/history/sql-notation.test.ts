import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../src/formats/parse.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'

const TEXT = [
  '{"isobar":1,"tables":{"orders":{"columns":{"id":"integer","status":"text"},"key":["id"],"rows":[{"id":1,"status":"open"},{"id":9}]}}}',
  '{"session":0,"id":"T1","level":"ser","ops":[{"select":"orders","where":"status = $1\\n","params":["open"],"rows":[{"key":1,"from":null}],"unread":[{"key":2,"from":"w3"}]},{"insert":"orders","write":"w1","rows":[{"id":3,"status":"open"}]},["w","x",1],["cas","y",1,2]]}',
  '{"session":1,"id":"T2","status":"aborted","ops":[{"update":"orders","where":"id = 1","write":"initial","rows":[{"key":1,"from":null,"row":{"id":1,"status":"it\'s\\u0007"}}]},{"delete":"orders","write":4,"rows":[{"key":3,"from":"w1"}]}]}',
  '{"session":1,"id":"T3","ops":[{"select":"orders","where":"id=7","rows":[]}]}',
  '{"session":1,"id":"T4","ops":[]}',
].join('\n')

describe('renderNotation', () => {
  it('shows SQL statements with what they saw and wrote, a transaction a line', () => {
    expect(renderNotation(parseHistory(TEXT), null, { ids: true }).trimEnd().split('\n')).toEqual([
      '# SQL statements: to be read, not parsed',
      "# initially orders(1) = (1,'open')",
      "s0: select orders where status = $1 ['open'] -> orders(1)@initial, not orders(2)@w3; " +
        "insert orders -> orders(3)@w1 = (3,'open'); w(x,1); cas(y,1,2) [id=T1 level=ser]",
      "s1: update orders where id = 1 -> orders(1)@initial to @\"initial\" = (1,'it''s\\u0007'); " +
        'delete orders -> orders(3)@w1 gone @4 [id=T2 aborted]',
      's1: select orders where id=7 -> no rows [id=T3]',
      's1: [id=T4 committed]',
    ])
  })

  it('shows only the transactions it is asked for, and what their rows were', () => {
    expect(renderNotation(parseHistory(TEXT), [2])).toBe(
      '# SQL statements: to be read, not parsed\ns1: select orders where id=7 -> no rows\n',
    )
  })

  it('gives no text that would be taken for another history', () => {
    expect(() => parseNotation(renderNotation(parseHistory(TEXT)))).toThrow('unknown operation')
  })
})
