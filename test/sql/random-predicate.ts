// Random WHERE clauses over a fixed table, for comparison with PostgreSQL. Most are well typed;
// each kind leaves out what would make the comparison inexact.

import type { Random } from '../../src/base/random.ts'
import { renderSqlValue, type SqlColumn, type SqlRow, type SqlValue } from '../../src/sql/value.ts'

export const COLUMNS: readonly SqlColumn[] = [
  { name: 'a', type: 'integer' },
  { name: 'b', type: 'integer' },
  { name: 's', type: 'text' },
  { name: 't', type: 'text' },
  { name: 'f', type: 'boolean' },
  { name: 'Odd "name"', type: 'boolean' },
  { name: 'n', type: 'numeric' },
  { name: 'm', type: 'numeric' },
]

/**
 * total: no operation can fail, so every answer must be the same.
 * failing: operations fail, but nothing decides without them: no AND, OR, IN, BETWEEN, no NULL.
 * untyped: some operands of the wrong type, and everything else.
 * free: everything; whether an error is reached is up to PostgreSQL's planner.
 */
export type Kind = 'total' | 'failing' | 'untyped' | 'free'

type Type = 'integer' | 'numeric' | 'text' | 'boolean'

const INTEGERS = ['0', '1', '2', '3', '5', '7', '10', '12', '100', '2147483647', '2147483648']
const HUGE = 9223372036854775807n
// Two characters whose order in UTF-16 is not that of code points.
const [LATE, EARLY] = ['😀', '\uff5e']
const TEXTS = ['', 'a', 'A', 'ab', 'aXb', 'a_b', 'z%', '5', '-12', ' 7 ', LATE, EARLY, LATE, EARLY]
const ODD_TEXTS = ["it's", 'a\\b', 'true', 'off', 'o', '0x1F', '1_000', 'NULL', '3000000000']
const PATTERNS = ['%', '_', 'a%', '%b', '_b', 'a_b', 'a\\_b', '%X%', '__', '%a%b', 'A%', '%\\%', '']

const NUMERICS = [
  '0',
  '0.00',
  '1',
  '1.5',
  '1.50',
  '-2.25',
  '7',
  '10.0',
  '0.333',
  '-0.001',
  '2.5',
].concat([
  '-2.5',
  '99999999999999999999.5',
  '123456.789',
  '0.00000123',
  '9999.9',
  '10000',
  '-3',
  '100',
])
const DECIMALS = [
  '1.5',
  '.5',
  '2.',
  '1e2',
  '1.50',
  '0.001',
  '12345678901234567890',
  '2.5e-3',
  '3.0',
]

/** A row of the table, a sixth of its values NULL. */
export function randomRow(random: Random): SqlRow {
  return COLUMNS.map(({ type }): SqlValue => {
    if (random.chance(1 / 6)) return null
    if (type === 'boolean') return random.chance(0.5)
    if (type === 'text') return random.pick([...TEXTS, ...ODD_TEXTS])
    if (type === 'numeric') return random.pick(NUMERICS)
    if (random.chance(0.1)) return random.pick([HUGE, -HUGE - 1n, HUGE - 1n])
    return BigInt(random.below(16)) - 4n
  })
}

export class RandomPredicate {
  readonly text: string
  readonly params: SqlValue[] = []

  constructor(
    private readonly random: Random,
    readonly kind: Kind,
  ) {
    this.text = this.boolean(kind === 'failing' ? 2 : 3)
  }

  /** The clause with literals of the same types in the place of parameters. */
  get literal(): string {
    return this.text.replace(/\$(\d+)/g, (_, number) => {
      const value = this.params[Number(number) - 1]!
      return typeof value === 'bigint' ? `('${value}'::bigint)` : renderSqlValue(value)
    })
  }

  private boolean(depth: number): string {
    const { random } = this
    if (depth === 0 || random.chance(0.1)) return this.atom('boolean')
    const decides = this.kind !== 'failing'
    const fails = this.kind !== 'total'
    if (fails && random.chance(0.05)) return `${this.wrap(this.any('text', depth - 1))}::boolean`
    if (fails && random.chance(0.05))
      return `CAST(${this.integer(depth - 1)} AS ${random.pick(['int', 'bigint'])})::boolean`
    const choice = random.below(decides ? 12 : 6)
    if (choice === 0) return this.keyword(`NOT ${this.wrap(this.boolean(depth - 1))}`)
    if (choice === 1) return this.test(depth - 1)
    if (choice === 2) return this.like(depth - 1)
    if (choice <= 5) return this.comparison(depth - 1)
    if (choice === 6) return this.membership(depth - 1)
    if (choice === 7) return this.between(depth - 1)
    const operator = random.pick([' AND ', ' OR ', ' and ', ' Or '])
    return this.wrap(this.boolean(depth - 1)) + operator + this.wrap(this.boolean(depth - 1))
  }

  private test(depth: number): string {
    const not = this.random.chance(0.5) ? 'NOT ' : ''
    if (this.random.chance(0.4)) {
      return `${this.wrap(this.any(this.type(), depth))} IS ${not}NULL`
    }
    const truth = this.random.pick(['TRUE', 'FALSE', 'UNKNOWN'])
    return `${this.wrap(this.any(this.type('boolean'), depth))} IS ${not}${truth}`
  }

  private comparison(depth: number): string {
    const operators = ['=', '<>', '!=', '<', '<=', '>', '>=', '=']
    if (this.kind !== 'failing') operators.push('IS DISTINCT FROM', 'IS NOT DISTINCT FROM')
    const type = this.type()
    const side = () => this.any(this.type(this.widened(type)), depth)
    return this.binary(side(), this.random.pick(operators), side())
  }

  private like(depth: number): string {
    const operator = this.random.pick(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE', '~~'])
    const fails = this.kind !== 'total' && this.random.chance(0.1)
    const pattern = this.random.chance(0.7)
      ? this.quote(this.random.pick(PATTERNS) + (fails ? '\\' : ''))
      : this.any('text', this.kind === 'total' ? 0 : depth)
    // A pattern from a column cannot fail: no text there ends with a backslash.
    const like = `${this.wrap(this.any(this.type('text'), depth))} ${operator} ${this.wrap(pattern)}`
    if (operator === '~~' || this.random.chance(0.6)) return like
    // A pattern that ends with an X would fail, and so does one of two characters.
    const characters = this.kind === 'total' ? ['!', '', '_', '\\'] : ['!', 'X', 'a', '%', '', '!!']
    return `${like} ESCAPE ${this.quote(this.random.pick(characters))}`
  }

  private membership(depth: number): string {
    const type = this.type()
    const item = () => {
      if (type === 'integer' && this.random.chance(0.3)) return this.numeral()
      return this.any(this.type(this.widened(type)), this.random.chance(0.3) ? depth : 0)
    }
    const items = Array.from({ length: 1 + this.random.below(4) }, item)
    const operator = this.random.pick(['IN', 'NOT IN'])
    // The type of a literal depends on all of the list.
    if (this.random.chance(0.2)) return `${this.numeral()} ${operator} (${items.join(', ')})`
    return `${this.wrap(this.any(this.type(type), depth))} ${operator} (${items.join(', ')})`
  }

  private between(depth: number): string {
    const type = this.type()
    const [value, low, high] = [0, 1, 2].map(() =>
      this.wrap(this.any(this.type(this.widened(type)), depth)),
    )
    const operator = this.random.pick(['BETWEEN', 'NOT BETWEEN', 'BETWEEN SYMMETRIC'])
    return `${value} ${operator} ${low} AND ${high}`
  }

  private any(type: Type, depth: number): string {
    if (type === 'boolean') return this.boolean(depth)
    if (depth === 0 || this.random.chance(0.3)) return this.atom(type)
    // A constant NULL that comes of it would keep others from failing.
    const mayChoose = this.kind !== 'failing'
    if (mayChoose && this.random.chance(0.15)) return this.choice(type, depth - 1)
    if (type === 'numeric') return this.numeric(depth - 1)
    return type === 'integer' ? this.integer(depth - 1) : this.texts(depth - 1)
  }

  /** COALESCE and the like. */
  private choice(type: Type, depth: number): string {
    const { random } = this
    const one = () => this.any(this.type(this.widened(type)), depth)
    const name = random.pick(['coalesce', 'nullif', 'greatest', 'LEAST'])
    if (name === 'nullif') return `nullif(${one()}, ${one()})`
    if (random.chance(0.25)) {
      const when = `WHEN ${this.boolean(depth)} THEN ${one()}`
      return `CASE ${when}${random.chance(0.7) ? ` ELSE ${one()}` : ''} END`
    }
    if (random.chance(0.1)) return `CASE ${one()} WHEN ${one()} THEN ${one()} ELSE ${one()} END`
    return `${name}(${[one(), one(), one()].slice(random.below(2)).join(', ')})`
  }

  private numeric(depth: number): string {
    const { random } = this
    const next = () => this.any(this.type('numeric'), depth)
    const fails = this.kind !== 'total'
    const choice = random.below(fails ? 12 : 9)
    const digits = random.pick(['0', '1', '2', '-1', '5'])
    if (choice === 0) return `abs(${next()})`
    if (choice === 1) return `${random.pick(['round', 'trunc'])}(${next()}, ${digits})`
    if (choice === 2) {
      const name = random.pick(['round', 'trunc', 'floor', 'ceil', 'ceiling', 'sign'])
      return `${name}(${this.wrap(next())}::numeric)`
    }
    if (choice === 3) return `- ${this.wrap(next())}`
    if (choice === 4) return `${this.wrap(this.any('integer', depth))}::numeric`
    if (choice === 5) {
      const divisor = random.pick(['3', '0.7', '-1.50', '1000', '0.00013', '99999.5'])
      if (random.chance(0.3)) return `mod(${this.wrap(next())}::numeric, ${divisor})`
      return this.binary(`(${next()})::numeric`, random.pick(['/', '%']), divisor)
    }
    if (choice <= 8) {
      const other = fails ? this.any(this.type(this.widened('numeric')), depth) : next()
      return this.binary(next(), random.pick(['+', '-', '*']), other)
    }
    if (choice === 9) return `${this.wrap(this.any('text', depth))}::numeric`
    if (choice === 10) return `CAST(${next()} AS numeric(6, 2))`
    return this.binary(next(), random.pick(['/', '%']), next())
  }

  private textCall(depth: number): string {
    const { random } = this
    const next = () => this.any(this.type('text'), depth)
    const count = () => random.pick(['0', '1', '2', '3', '-1', '9', '2147483647'])
    const length = () => (this.kind === 'total' ? random.pick(['0', '1', '2']) : count())
    switch (random.below(9)) {
      case 0:
        return `${random.pick(['lower', 'UPPER', 'reverse'])}(${next()})`
      case 1:
        return `substr(${next()}, ${count()}, ${length()})`
      case 2:
        return `substring(${next()} FROM ${count()}${random.chance(0.5) ? ` FOR ${length()}` : ''})`
      case 3:
        return `${random.pick(['left', 'right'])}(${next()}, ${count()})`
      case 4:
        return `${random.pick(['trim', 'btrim', 'ltrim', 'rtrim'])}(${next()}${random.chance(0.5) ? `, ${next()}` : ''})`
      case 5:
        return `replace(${next()}, ${next()}, ${next()})`
      case 6: {
        const any = () =>
          this.any(random.pick<Type>(['text', 'numeric', 'integer', 'boolean']), depth)
        return `concat(${any()}, ${any()})`
      }
      case 7:
        return `${this.wrap(this.any('numeric', depth))}::varchar(${random.pick(['1', '4'])})`
      default:
        return `${this.wrap(this.any('numeric', depth))}::text`
    }
  }

  /** Functions of text that give an integer. */
  private measure(depth: number): string {
    const next = () => this.any(this.type('text'), depth)
    const { random } = this
    if (random.chance(0.5)) return `${random.pick(['length', 'char_length'])}(${next()})`
    if (random.chance(0.5)) return `strpos(${next()}, ${next()})`
    return `position(${this.atom('text')} IN ${this.atom('text')})`
  }

  /** An integer may stand where a numeric may. */
  private widened(type: Type): Type {
    const isNumber = type === 'integer' || type === 'numeric'
    return isNumber ? this.random.pick<Type>(['integer', 'numeric']) : type
  }

  private integer(depth: number): string {
    const { random } = this
    const next = () => this.any(this.type('integer'), depth)
    if (random.chance(0.2)) return this.measure(depth)
    if (this.kind === 'total') {
      // Within range whatever the row holds.
      const divisor = random.pick(['2', '3', '-7', '100'])
      return this.binary(this.wrap(next()), random.pick(['/', '%']), divisor)
    }
    const choice = random.below(11)
    if (choice === 8) return `abs(${this.wrap(next())}::${this.integerType()})`
    if (choice === 9) return `mod(${next()}, ${next()})`
    if (choice === 10) return `${this.wrap(this.any('numeric', depth))}::${this.integerType()}`
    if (choice === 0) return `-${this.wrap(next())}`.replace('--', '- -')
    if (choice === 1) return `${this.wrap(this.any('text', depth))}::${this.integerType()}`
    if (choice === 2) return `CAST(${next()} AS ${this.integerType()})`
    if (choice === 3) return `${this.wrap(this.boolean(depth))}::integer`
    return this.binary(next(), random.pick(['+', '-', '*', '/', '%']), next())
  }

  private texts(depth: number): string {
    const { random } = this
    if (random.chance(0.5)) return this.textCall(depth)
    const choice = random.below(4)
    if (choice === 0) {
      const type = random.pick(['text', 'varchar', 'character varying'])
      return `${this.wrap(this.any(random.pick(['integer', 'text', 'boolean']), depth))}::${type}`
    }
    const other = this.any(
      random.pick<Type>(['text', 'text', 'integer', 'numeric', 'boolean']),
      depth,
    )
    const sides = [this.any(this.type('text'), depth), other]
    if (random.chance(0.3)) sides.reverse()
    return this.binary(sides[0]!, '||', sides[1]!)
  }

  private atom(type: Type): string {
    const { random } = this
    if (random.chance(0.5)) {
      const columns = COLUMNS.filter((column) => column.type === type)
      return this.name(random.pick(columns).name)
    }
    if (this.kind !== 'failing' && random.chance(0.15)) return this.value(null, 'NULL')
    if (type === 'boolean') {
      if (random.chance(0.2)) return this.quote(random.pick(['t', 'FALSE', ' no', 'on', '1']))
      const value = random.chance(0.5)
      return this.value(value, value ? 'TRUE' : 'false')
    }
    if (type === 'text') return this.quote(random.pick(random.chance(0.8) ? TEXTS : ODD_TEXTS))
    if (type === 'numeric') {
      const digits = random.pick(DECIMALS)
      if (random.chance(0.1)) return this.quote(random.pick(NUMERICS))
      return random.chance(0.25) ? `-${digits}` : digits
    }
    if (this.kind !== 'total' && random.chance(0.05)) return random.pick([`${HUGE}`, `-${HUGE}`])
    const digits = random.pick(INTEGERS)
    if (random.chance(0.15)) return this.numeral()
    return random.chance(0.25) ? `-${digits}` : this.value(BigInt(digits), digits)
  }

  /** The type that is wanted, or any where types need not fit. */
  private type(wanted?: Type): Type {
    const stray = this.kind === 'untyped' && this.random.chance(0.15)
    if (wanted && !stray) return wanted
    return this.random.pick<Type>(['integer', 'text', 'boolean', 'integer', 'numeric', 'numeric'])
  }

  private integerType(): string {
    return this.random.pick(['bigint', 'int8', 'integer', 'int', 'smallint'])
  }

  private binary(left: string, operator: string, right: string): string {
    const gap = /^[A-Z]/.test(operator) || this.random.chance(0.8) ? ' ' : ''
    // Two minus signs together begin a comment.
    const safe = operator.endsWith('-') && right.startsWith('-') ? ' ' : gap
    return this.wrap(left) + gap + operator + safe + this.wrap(right)
  }

  /** Parentheses around what is not one word, most of the time. */
  private wrap(text: string): string {
    if (/^(?:\w+|\$\d+|'[^']*'|\d*\.\d+)$/.test(text)) return text
    return this.random.chance(0.85) ? `(${text})` : text
  }

  private keyword(text: string): string {
    return this.random.chance(0.8) ? text : text.replace('NOT', 'not')
  }

  private name(name: string): string {
    if (!/^\w+$/.test(name)) return `"${name.replaceAll('"', '""')}"`
    return this.random.pick([name, name, name.toUpperCase(), `"${name}"`, `rows.${name}`])
  }

  private quote(text: string): string {
    return this.value(text, renderSqlValue(text))
  }

  /** A number as a string, not always in its shortest form. */
  private numeral(): string {
    return this.quote(this.random.pick(['5', '05', '1', '+1', ' 1', '12', '100', '2147483648']))
  }

  private value(value: SqlValue, literal: string): string {
    if (this.random.chance(0.8)) return literal
    this.params.push(value)
    return `$${this.params.length}`
  }
}
