// Numbers of PostgreSQL's type numeric: exact, with the digits behind the point that they are shown
// with (1.50 is 1.5, but not as text). NaN and the infinities are refused. Main class: Decimal.

import type { Place } from './error.ts'

/** PostgreSQL goes further; nobody who compares columns does. */
const MAX_DIGITS = 1000
const MAX_SCALE = 1000 // of a quotient
const GROUP = 4 // decimal digits in a digit of PostgreSQL's own
const SIGNIFICANT = 16 // digits that a quotient has at least

const POWERS: bigint[] = []

function power(exponent: number): bigint {
  POWERS[exponent] ??= 10n ** BigInt(exponent)
  return POWERS[exponent]
}

export class Decimal {
  /** The number times 10^scale, and how many digits stand behind its point. */
  constructor(
    readonly digits: bigint,
    readonly scale: number,
  ) {}

  toString(): string {
    const size = this.digits < 0n ? -this.digits : this.digits
    const sign = this.digits < 0n ? '-' : ''
    if (this.scale === 0) return sign + size
    const text = String(size).padStart(this.scale + 1, '0')
    return `${sign}${text.slice(0, -this.scale)}.${text.slice(-this.scale)}`
  }

  /** One text for all that are equal. */
  key(): string {
    const text = this.toString()
    return this.scale === 0 ? text : text.replace(/\.?0+$/, '')
  }

  compare(other: Decimal): number {
    const scale = Math.max(this.scale, other.scale)
    const [left, right] = [this.at(scale), other.at(scale)]
    return left < right ? -1 : left > right ? 1 : 0
  }

  /** The number times 10^scale; the scale is not below its own. */
  at(scale: number): bigint {
    return scale === this.scale ? this.digits : this.digits * power(scale - this.scale)
  }

  /** Rounded to so many digits behind the point, halves away from zero; negative: before it. */
  round(scale: number): Decimal {
    if (scale >= this.scale) return new Decimal(this.at(scale), scale)
    return keep(divideRounding(this.digits, power(this.scale - scale)), scale)
  }

  truncate(scale: number): Decimal {
    if (scale >= this.scale) return new Decimal(this.at(scale), scale)
    return keep(this.digits / power(this.scale - scale), scale)
  }

  floor(): Decimal {
    const cut = this.truncate(0)
    return cut.compare(this) > 0 ? new Decimal(cut.digits - 1n, 0) : cut
  }

  ceil(): Decimal {
    const cut = this.truncate(0)
    return cut.compare(this) < 0 ? new Decimal(cut.digits + 1n, 0) : cut
  }
}

/** A number without what stands behind a scale; below 0 the zeros before the point are added. */
function keep(digits: bigint, scale: number): Decimal {
  return scale >= 0 ? new Decimal(digits, scale) : new Decimal(digits * power(-scale), 0)
}

function divideRounding(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  const rest = dividend % divisor
  const [size, limit] = [rest < 0n ? -rest : rest, divisor < 0n ? -divisor : divisor]
  if (2n * size < limit) return quotient
  return dividend < 0n === divisor < 0n ? quotient + 1n : quotient - 1n
}

const NUMBER = /^([-+]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:[eE]([-+]?\d+))?$/
const BASED = /^([-+]?)(0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)$/
const SPACE_AROUND = /^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g
const SPECIAL = /^(?:nan|[-+]?inf(?:inity)?)$/i

/** A number from its text, as PostgreSQL reads it. */
export function readDecimal(text: string, place: Place): Decimal {
  const trimmed = text.replace(SPACE_AROUND, '')
  if (SPECIAL.test(trimmed)) throw place.error(`${trimmed} as numeric is not supported`)
  const based = BASED.exec(trimmed)
  if (based) {
    const size = BigInt(based[2]!.replaceAll('_', ''))
    return fittedDecimal(new Decimal(based[1] === '-' ? -size : size, 0), place)
  }
  const found = NUMBER.exec(trimmed)
  if (!found || (found[2] === undefined && found[3] === undefined)) {
    throw place.error(`invalid input syntax for type numeric "${text}"`)
  }
  const whole = (found[2] ?? '').replaceAll('_', '')
  const behind = (found[3] ?? '').replaceAll('_', '')
  const exponent = Number(found[4] ?? 0)
  if (whole.length + behind.length + Math.abs(exponent) > MAX_DIGITS) throw tooLong(place)
  const size = BigInt(whole + behind)
  const digits = found[1] === '-' ? -size : size
  const scale = behind.length - exponent
  return scale >= 0 ? new Decimal(digits, scale) : new Decimal(digits * power(-scale), 0)
}

const LIMIT = power(4 * MAX_DIGITS)

/** The number, unless it has far more digits than anybody needs. */
function fittedDecimal(value: Decimal, place: Place): Decimal {
  if (value.scale <= 4 * MAX_DIGITS && value.digits < LIMIT && value.digits > -LIMIT) return value
  throw tooLong(place)
}

function tooLong(place: Place): Error {
  return place.error(`a number of more than ${MAX_DIGITS} digits is not supported`)
}

/** `numeric(precision, scale)` of a number. */
export function limitDecimal(
  value: Decimal,
  precision: number,
  scale: number,
  place: Place,
): Decimal {
  const rounded = value.round(scale)
  const limit = power(precision)
  if (rounded.digits >= limit || rounded.digits <= -limit) {
    throw place.error('numeric field overflow')
  }
  return rounded
}

type Compute = (left: Decimal, right: Decimal) => Decimal

/** What an operator computes. */
export function decimalOperation(
  operator: '+' | '-' | '*' | '/' | '%',
  place: Place,
): (left: Decimal, right: Decimal) => Decimal {
  const compute = OPERATIONS[operator]
  const divides = operator === '/' || operator === '%'
  return (left, right) => {
    if (divides && right.digits === 0n) throw place.error('division by zero')
    return fittedDecimal(compute(left, right), place)
  }
}

const OPERATIONS: Record<'+' | '-' | '*' | '/' | '%', Compute> = {
  '+': aligned((left, right) => left + right),
  '-': aligned((left, right) => left - right),
  '*': (left, right) => new Decimal(left.digits * right.digits, left.scale + right.scale),
  '/': divide,
  '%': aligned((left, right) => left % right), // with the sign of the dividend
}

function aligned(compute: (left: bigint, right: bigint) => bigint): Compute {
  return (left, right) => {
    const scale = Math.max(left.scale, right.scale)
    return new Decimal(compute(left.at(scale), right.at(scale)), scale)
  }
}

/** To as many digits as PostgreSQL computes, which depends on both numbers. */
function divide(left: Decimal, right: Decimal): Decimal {
  const [over, under] = [leadingGroup(left), leadingGroup(right)]
  const weight = over.weight - under.weight - (over.first <= under.first ? 1 : 0)
  const wanted = Math.max(SIGNIFICANT - weight * GROUP, left.scale, right.scale, 0)
  const scale = Math.min(wanted, MAX_SCALE)
  const shift = scale + right.scale - left.scale
  if (shift >= 0) {
    return new Decimal(divideRounding(left.digits * power(shift), right.digits), scale)
  }
  return new Decimal(divideRounding(left.digits, right.digits * power(-shift)), scale)
}

/** The first group of four digits, counted from the point, that is not 0, and its place. */
function leadingGroup({ digits, scale }: Decimal): { weight: number; first: number } {
  if (digits === 0n) return { weight: 0, first: 0 }
  const text = String(digits < 0n ? -digits : digits)
  const exponent = text.length - scale - 1 // of the first digit
  const weight = Math.floor(exponent / GROUP)
  const length = exponent - GROUP * weight + 1
  return { weight, first: Number(text.slice(0, length).padEnd(length, '0')) }
}
