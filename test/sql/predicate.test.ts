import { describe, expect, it } from 'vitest'
import { parsePredicate, SqlError } from '../../src/sql/predicate.ts'
import { mentions, renderPredicate } from '../../src/sql/render.ts'
import type { SqlColumn, SqlValue } from '../../src/sql/value.ts'

const COLUMNS: readonly SqlColumn[] = [
  { name: 'qty', type: 'integer' },
  { name: 'price', type: 'integer' },
  { name: 'status', type: 'text' },
  { name: 'paid', type: 'boolean' },
  { name: 'userId', type: 'text' },
  { name: 'amount', type: 'numeric' },
]
const ROW: readonly SqlValue[] = [5n, null, 'open', true, 'ann', '12.50']

const ask = (text: string, ...params: SqlValue[]) =>
  parsePredicate(text, COLUMNS, params).evaluate(ROW)

/** Message and offset of the refusal, when parsed or when evaluated. */
function refusal(text: string, ...params: SqlValue[]): [string, number | null] {
  try {
    ask(text, ...params)
  } catch (error) {
    if (error instanceof SqlError) return [error.message, error.offset]
    throw error
  }
  throw new Error(`${text} is not refused`)
}

const fixed = (text: string, ...params: SqlValue[]) =>
  Object.fromEntries(
    [...parsePredicate(text, COLUMNS, params).fixed].map(([column, value]) => [
      COLUMNS[column]!.name,
      value,
    ]),
  )

describe('parsePredicate: three truth values', () => {
  const VALUES = [true, false, null]
  const show = (value: boolean | null) => (value === null ? 'NULL' : String(value))
  const least = (a: boolean | null, b: boolean | null) =>
    a === false || b === false ? false : a === null || b === null ? null : true

  it('follows the tables of AND and OR', () => {
    for (const a of VALUES) {
      for (const b of VALUES) {
        expect(ask(`${show(a)} AND ${show(b)}`), `${a} AND ${b}`).toBe(least(a, b))
        const not = (value: boolean | null) => (value === null ? null : !value)
        expect(ask(`${show(a)} OR ${show(b)}`), `${a} OR ${b}`).toBe(not(least(not(a), not(b))))
      }
    }
  })

  it('follows the tables of NOT and IS', () => {
    const tests = ['NOT x', 'x IS NULL', 'x IS TRUE', 'x IS FALSE', 'x IS UNKNOWN']
    const results = (value: string) => tests.map((test) => ask(test.replace('x', value)))
    expect(results('TRUE')).toEqual([false, false, true, false, false])
    expect(results('FALSE')).toEqual([true, false, false, true, false])
    expect(results('NULL')).toEqual([null, true, false, false, true])
  })

  it.each([
    ['qty = 5', true],
    ['price = 5', null],
    ['price <> price', null],
    ['price IS DISTINCT FROM 5', true],
    ['price IS NOT DISTINCT FROM NULL', true],
    ['price IS NULL AND qty IS NOT NULL', true],
    ['paid', true],
    ['NOT paid', false],
    ['paid IS NOT UNKNOWN', true],
    ['qty IN (1, 5)', true],
    ['qty IN (1, NULL)', null],
    ['qty NOT IN (5, NULL)', false],
    ['qty NOT IN (1, NULL)', null],
    ['qty IN (price, 5)', true],
    ['qty BETWEEN 1 AND 5', true],
    ['qty BETWEEN 6 AND price', false],
    ['qty BETWEEN 1 AND price', null],
    ['qty BETWEEN 9 AND 1', false],
    ['qty BETWEEN SYMMETRIC 9 AND 1', true],
    ['qty NOT BETWEEN 1 AND 4', true],
  ])('%s is %s', (text, expected) => expect(ask(text)).toBe(expected))
})

describe('parsePredicate: operators', () => {
  it.each([
    ['qty-1 = 4', true], // not two operands 5 and -1
    ['qty - -1 = 6', true],
    ['- 7 / 2 = - 3', true],
    ['-7 % 3 = -1', true],
    ['2 + 3 * 4 = 14', true],
    ['-9223372036854775808 < qty', true],
    ['-(-2147483648) > 0', true], // no integer overflows, for the literal is 2147483648
    ['qty + 9223372036854775802 = 9223372036854775807', true], // exact, beyond doubles
    [`status || '-' || qty = 'open-5'`, true],
    [`status || NULL IS NULL`, true],
    [`paid || status = 'trueopen'`, true],
    [`qty::text = '5'`, true],
    [`CAST('12' AS integer) = 12`, true],
    [`' -12 '::bigint = -12`, true],
    [`paid::int = 1`, true],
    [`0::boolean`, false],
    [`qty::boolean`, true],
    [`'off'::boolean`, false],
    [`paid::text = 'true'`, true],
    [`status LIKE 'o%n'`, true],
    [`status LIKE '_pen'`, true],
    [`status NOT LIKE 'O%'`, true],
    [`status ILIKE 'O%'`, true],
    [`'50%' LIKE '50\\%'`, true],
    [`'50x' LIKE '50\\%'`, false],
    [`'😀' LIKE '_'`, true],
    [`'abcabd' LIKE '%abd'`, true],
    [`'' LIKE '%_'`, false],
    [`'50%' LIKE '50!%' ESCAPE '!'`, true],
    [`'50x' LIKE '50!%' ESCAPE '!'`, false],
    [`'a\\b' LIKE 'a\\b' ESCAPE ''`, true],
    [`status NOT LIKE 'o' || '!_' ESCAPE '!' AND paid`, true],
    [`status ILIKE 'OXPEN' ESCAPE 'X'`, true],
    [`status LIKE 'open' ESCAPE NULL`, null],
  ])('%s is %s', (text, expected) => expect(ask(text)).toBe(expected))

  it.each([
    ['amount = 12.5', true],
    ['amount IS NOT DISTINCT FROM 12.5', true],
    ['amount IN (12.5, 1)', true],
    [`amount = '12.500'`, true],
    ['amount > qty', true],
    ['amount BETWEEN 12 AND 12.50', true],
    [`amount::text = '12.50'`, true],
    [`amount || '' = '12.5'`, false],
    [`(amount * 2)::text = '25.00'`, true],
    [`(amount * 1.5)::text = '18.750'`, true],
    [`(amount / 3)::text = '4.1666666666666667'`, true],
    [`(-amount % 5)::text = '-2.50'`, true],
    ['amount::int = 13', true], // away from zero
    ['(-amount)::int = -13', true],
    [`amount::numeric(4, 1)::text = '12.5'`, true],
    [`1e2::text = '100'`, true],
    [`.5 + 5. = 5.5`, true],
    ['9223372036854775808 > qty', true],
    [`round(amount, 1)::text = '12.5' AND floor(-amount) = -13 AND ceil(amount) = 13`, true],
    [`lower('ABC') = 'abc' AND upper(status) = 'OPEN' AND length('😀x') = 2`, true],
    [`substring(status FROM 2 FOR 2) = 'pe' AND substr(status, -1, 3) = 'o'`, true],
    [`left(status, -1) = 'ope' AND right(status, 2) = 'en'`, true],
    [`trim('  x ') = 'x' AND rtrim('xyyx', 'xy') = ''`, true],
    [`position('p' IN status) = 2 AND strpos(status, 'q') = 0`, true],
    [`concat(status, price, paid, amount) = 'opent12.50'`, true],
    ['coalesce(price, qty) = 5', true],
    ['nullif(qty, 5) IS NULL', true],
    ['greatest(qty, price, 7) = 7 AND least(price) IS NULL', true],
    ['abs(-qty) = 5 AND mod(qty, 3) = 2', true],
    [`CASE WHEN price > 1 THEN 'a' WHEN paid THEN 'b' ELSE 'c' END = 'b'`, true],
    [`CASE qty WHEN 4 THEN 1 / 0 WHEN 5 THEN 2 END = 2`, true],
    [`amount::varchar(4) = '12.5'`, true],
  ])('%s is %s', (text, expected) => expect(ask(text)).toBe(expected))

  it('orders text by code points, not by UTF-16 units', () => {
    expect('😀' < '\uff5e').toBe(true)
    expect(ask(`'😀' > '\uff5e'`)).toBe(true)
    expect(ask(`'Z' < 'a'`)).toBe(true)
    expect(ask(`'a' < 'aa'`)).toBe(true)
  })

  it('goes from left to right and stops where the answer is settled', () => {
    expect(ask('qty = 5 OR qty / 0 = 1')).toBe(true)
    expect(ask('qty = 6 AND qty / 0 = 1')).toBe(false)
    expect(refusal('qty / 0 = 1 OR qty = 5')[0]).toMatch(/division by zero/)
  })
})

describe('parsePredicate: names, literals and parameters', () => {
  it.each([
    ['QTY = 5', true],
    ['"qty" = 5', true],
    [`"userId" = 'ann'`, true],
    [`orders.qty = 5`, true],
    [`status = E'o\\x70en'`, true],
    [`status = $$open$$`, true],
    [`'it''s' = $tag$it's$tag$`, true],
    [`qty = /* five /* nested */ */ 5 -- really`, true],
  ])('%s is %s', (text, expected) => expect(ask(text)).toBe(expected))

  it('gives strings the type of the other side', () => {
    expect(ask(`qty = '5'`)).toBe(true)
    expect(ask(`qty = $1`, ' 5')).toBe(true)
    expect(ask(`paid = 'yes'`)).toBe(true)
    expect(ask(`'10' < '9'`)).toBe(true)
    expect(ask(`'10' < 9`)).toBe(false)
    expect(ask(`'5' IN ('05', 6)`)).toBe(true)
    expect(ask(`'5' IN ('05')`)).toBe(false)
  })

  it('takes parameters of every type', () => {
    const text = 'qty = $1 AND status = $2 AND paid = $3'
    expect(ask(text, 5n, 'open', true)).toBe(true)
    expect(ask(text, 5n, null, true)).toBe(null)
    expect(refusal('qty = $2', 1n)).toEqual(['no parameter $2: the statement has 1 parameter', 6])
    expect(refusal('status = $1', 1n)[0]).toBe(
      'operator does not exist: text = bigint: status = $1',
    )
  })

  it('knows the table, if it is told', () => {
    const where = (text: string) => parsePredicate(text, COLUMNS, [], 'orders').evaluate(ROW)
    expect(where('orders.qty = 5 AND public.orders.qty = 5')).toBe(true)
    expect(() => where('items.qty = 5')).toThrow('no table "items" in items.qty')
  })
})

describe('parsePredicate: refusals', () => {
  it.each([
    ['', 'the clause is empty', 0],
    ['qty = 1 AND x = 2', 'no column "x"', 12],
    ['userId = 1', 'no column "userid"; there is "userId", to be written in double quotes', 0],
    ['qty = status', 'operator does not exist: bigint = text: qty = status', 0],
    ['paid OR qty', 'argument of OR must be type boolean, not type bigint: qty', 8],
    ['qty', 'argument of WHERE must be type boolean, not type bigint: qty', 0],
    ['qty IS TRUE', 'argument of IS TRUE must be type boolean, not type bigint: qty', 0],
    [`qty = 'x'`, `invalid input syntax for type bigint "x": 'x'`, 6],
    ['qty LIKE 5', 'operator does not exist: bigint ~~ integer: qty LIKE 5', 0],
    ['qty || 1 = 2', 'operator does not exist: bigint || integer: qty || 1', 0],
    [`paid AND status + 1 = 2`, 'operator does not exist: text + integer: status + 1', 9],
    [`'1' + '2' = 3`, `operator is not unique: unknown + unknown: '1' + '2'`, 0],
    ['paid AND md5(status) = 1', 'the function md5 is not supported: md5(status)', 9],
    ['lower(qty) = 1', 'function lower(bigint) does not exist: lower(qty)', 0],
    ['lower(DISTINCT status) = 1', /^this call of a function is not supported/, 0],
    ['round(qty) = 1', /^round of bigint is double precision in PostgreSQL, which is not/, 0],
    [`abs('5') = 5`, /^abs of unknown is double precision/, 0],
    [`substring(status, 'o') = 'o'`, /^substring with a pattern is not supported/, 0],
    ['mod(qty, status) = 1', 'function mod(bigint, text) does not exist: mod(qty, status)', 0],
    ['coalesce(qty, status) = 1', /^COALESCE types bigint and text cannot be matched/, 0],
    [`position(status) = 1`, /^position takes a text IN another/, 0],
    [`status LIKE ('o' ESCAPE '!')`, /^ESCAPE stands behind the pattern of LIKE/, 13],
    [`status LIKE 'o' ESCAPE '!' || 'x'`, /^write parentheses/, 12],
    [`status ~~ 'o' ESCAPE '!'`, /^write parentheses/, 0],
    ['amount::boolean', 'cannot cast type numeric to boolean: amount::boolean', 0],
    ['amount = status', 'operator does not exist: numeric = text: amount = status', 0],
    [`amount = 'x'`, `invalid input syntax for type numeric "x": 'x'`, 9],
    [`amount = 'NaN'`, `NaN as numeric is not supported: 'NaN'`, 9],
    ['amount::numeric(2000, 1) = 1', /^this type is not supported/, 0],
    ['amount::real = 1', 'this type is not supported: amount::real', 0],
    ['amount = 1e5000', /^a number of more than 1000 digits is not supported/, 9],
    ['qty = 1.2.3', 'the number 1.2.3 is not supported', 6],
    ['qty IN (SELECT 1)', 'a subquery is not supported: SELECT 1', 8],
    ['CASE WHEN qty THEN paid END', /^argument of CASE\/WHEN must be type boolean/, 10],
    ['qty = ANY (ARRAY[1])', /^an array is not supported/, 11],
    ['(qty, price) = (1, 2)', /^a row of values here is not supported/, 1],
    ['paid::bigint = 1', 'cannot cast type boolean to bigint: paid::bigint', 0],
    [`status ~ 'o'`, 'operator ~ is not supported', 7],
    ['qty !=-1', 'operator !=- is not supported: put a space before the sign', 4],
    [`status = 'open`, `unterminated '`, 9],
    ['(qty = 5', 'a parenthesis is not closed', 8],
    ['qty = = 5', 'syntax error, or not supported without parentheses, at =', 6],
    ['qty IN 5', 'IN needs a list in parentheses: qty IN 5', 0],
  ])('%s', (text, message, offset) => {
    const [found, at] = refusal(text)
    if (typeof message === 'string') expect(found).toBe(message)
    else expect(found).toMatch(message)
    expect(at).toBe(offset)
  })

  it.each([
    ['qty / (qty - 5) = 1', 'division by zero: qty / (qty - 5)'],
    ['qty + 9223372036854775807 > 0', 'bigint out of range: qty + 9223372036854775807'],
    ['2147483647 + 1 > 0', 'integer out of range: 2147483647 + 1'],
    ['(qty * 1000000000)::integer > 0', /^integer out of range/],
    ['status::bigint = 1', 'invalid input syntax for type bigint "open": status::bigint'],
    ['amount::numeric(3, 2) > 0', /^numeric field overflow/],
    ['amount / (amount - 12.5) > 0', /^division by zero/],
    [`substr(status, 1, -1) = ''`, /^negative substring length not allowed/],
    [`status LIKE 'o' ESCAPE '!!'`, /^escape string must be empty or one character/],
    [`status LIKE 'o\\'`, /^LIKE pattern must not end with escape character/],
  ])('%s, when evaluated', (text, message) => {
    expect(() => parsePredicate(text, COLUMNS)).not.toThrow()
    const [found] = refusal(text)
    if (typeof message === 'string') expect(found).toBe(message)
    else expect(found).toMatch(message)
  })

  it.each([
    'paid = qty IS NULL', // (paid = qty) IS NULL
    `status || 1 + 2 = 'x'`, // status || (1 + 2)
    'qty = 5 = paid', // no grouping at all
    'paid IS NULL IS TRUE',
    'paid IN (true) || status IS NULL',
  ])('%s, for it reads otherwise in PostgreSQL', (text) => {
    expect(refusal(text)[0]).toMatch(/^write parentheses/)
  })

  it('keeps nesting within bounds, and chains without', () => {
    const deep = (count: number) => `${'('.repeat(count)}paid${')'.repeat(count)}`
    expect(ask(deep(200))).toBe(true)
    expect(refusal(deep(300))[0]).toMatch(/nest more than/)
    expect(refusal(`${'NOT '.repeat(300)}paid`)[0]).toMatch(/nest more than/)
    expect(ask(Array(500).fill('paid').join(' AND '))).toBe(true)
  })
})

describe('parsePredicate: fixed', () => {
  it.each([
    ['qty = 5', { qty: 5n }],
    ['5 = qty', { qty: 5n }],
    [`qty = '5' AND (status = 'open' AND price > 1)`, { qty: 5n, status: 'open' }],
    ['qty = 2 + 3', { qty: 5n }],
    ['qty IN (5)', { qty: 5n }],
    ['paid', { paid: true }],
    ['NOT paid AND qty = 1', { paid: false, qty: 1n }],
    ['paid IS FALSE', { paid: false }],
    ['(qty = 5) IS TRUE', { qty: 5n }],
    ['price IS NOT DISTINCT FROM 4', { price: 4n }],
    ['qty = 5 OR qty = 5', {}],
    ['NOT qty = 5', {}],
    ['qty = NULL', {}],
    ['qty = 1 / 0', {}],
    ['qty = price', {}],
    ['qty + 0 = 5', {}],
    ['qty IN (5, 6)', {}],
    ['amount = 12.5', {}], // 12.50 has another text
    ['qty = 5.0', {}],
    ['paid IS NOT TRUE', {}],
    ['(qty = 5) IS NULL', {}],
  ])('%s', (text, expected) => expect(fixed(text)).toEqual(expected))

  it('takes parameters as the type of the column', () => {
    expect(fixed('qty = $1 AND status = $2', '5', 'x')).toEqual({ qty: 5n, status: 'x' })
    expect(fixed('qty = $1', null)).toEqual({})
  })
})

describe('renderPredicate', () => {
  it('puts values for parameters, on one line', () => {
    const text = 'qty -$1 = 0 -- five\n  AND status=$2'
    expect(renderPredicate(text, [-5n, "it's"])).toBe(`qty -(-5) = 0 AND status='it''s'`)
  })

  it('shows as it is what cannot be scanned', () => {
    expect(renderPredicate('qty <\n  1x AND status = $1', ['x'])).toBe('qty < 1x AND status = $1')
  })
})

describe('mentions', () => {
  it('knows names from strings, and folds them as PostgreSQL does', () => {
    expect(mentions(`QTY = 1 AND status = 'paid'`, 'qty')).toBe(true)
    expect(mentions(`QTY = 1 AND status = 'paid'`, 'paid')).toBe(false)
    expect(mentions('"userId" = $1', 'userId')).toBe(true)
    expect(mentions('userId = $1', 'userId')).toBe(false)
    expect(mentions('qty < 1x', 'qty')).toBe(false)
  })
})

describe('parsePredicate: long clauses', () => {
  it('looks values up in lists of any length', () => {
    const list = Array.from({ length: 50_000 }, (_, i) => (i % 3 ? `${i}` : `'${i}'`)).join(', ')
    expect(ask(`qty IN (${list})`)).toBe(true)
    expect(ask(`qty NOT IN (${list}) OR status = 'open'`)).toBe(true)
    expect(ask(`qty + 100000 IN (${list}) AND paid`)).toBe(false)
    expect(ask(`price IN (${list})`)).toBe(null)
  })

  it('tells lists apart that differ in nothing but their literals', () => {
    expect(ask('qty IN (1, 2, 3) OR NOT paid')).toBe(false)
    expect(ask("qty IN (1, '2', $1, 5) OR NOT paid", 4n)).toBe(true)
    expect(ask('qty IN ($1, $2, $3) OR NOT paid', 7n, 6n, 5n)).toBe(true)
    expect(refusal("qty IN (1, 2, 3, 'x') OR NOT paid")[1]).toBe(17)
  })

  it('says where in a list something is wrong', () => {
    expect(refusal("qty IN (1, 2, 'x', 4)")[1]).toBe(14)
    expect(refusal('qty IN (1, 2, $9, 4)', 1n)[1]).toBe(14)
    expect(refusal('qty IN (1, 2, , 4)')[1]).toBe(14)
    expect(refusal('qty IN (1, 2, 3')[0]).toBe('a parenthesis is not closed')
  })

  it('refuses what the parser would take too long for, at once and with the place', () => {
    const operands = Array.from({ length: 20_000 }, (_, i) => `qty <> ${i}`)
    const [message, offset] = refusal(operands.join(' AND '))
    expect(message).toBe('a clause of more than 8000 words is not supported')
    expect(offset).toBe(`${operands.slice(0, 2000).join(' AND ')} AND `.length)
  })
})
