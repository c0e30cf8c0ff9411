// The functions that a clause may call: which types each takes, and what it computes, as PostgreSQL
// in the collation C. Where PostgreSQL would compute with floating-point numbers the call is
// refused. Main function: makeCall.

import { makeCoalesce, makeExtreme, makeNullif } from './choices.ts'
import { Decimal } from './decimal.ts'
import type { Place } from './error.ts'
import { castTo, coerce, commonType, type Expression, makeResult, resolve } from './expression.ts'
import { lowerAscii } from './like.ts'
import { makeArithmetic } from './operators.ts'
import * as texts from './text-functions.ts'
import { type ExprType, fitted, isInteger, type Value } from './types.ts'

/** Arguments of a call, with its place and name for errors. */
interface Call {
  readonly name: string
  readonly args: readonly Expression[]
  readonly place: Place
}

type Maker = (call: Call) => Expression

/** @param name in lower case, as PostgreSQL folds it */
export function makeCall(name: string, args: readonly Expression[], place: Place): Expression {
  if (!Object.hasOwn(FUNCTIONS, name)) {
    throw place.error(`the function ${name} is not supported`)
  }
  return FUNCTIONS[name]!({ name, args, place })
}

function noSuchFunction({ name, args, place }: Call): Error {
  const types = args.map(({ type }) => type).join(', ')
  return place.error(`function ${name}(${types}) does not exist`)
}

/** What a function computes of arguments that are not NULL; NULL if one is. */
function makeStrict(
  type: ExprType,
  args: readonly Expression[],
  place: Place,
  apply: (values: readonly Value[]) => Value,
): Expression {
  return makeResult(type, args, place, (row) => {
    const values = args.map(({ evaluate }) => evaluate(row))
    return values.includes(null) ? null : apply(values)
  })
}

type Kind = 'text' | 'integer'

/**
 * A function of texts and integers. A bigint counts as an integer, for a column may be narrower in
 * the database than it is here.
 *
 * @param required how many of the kinds an argument must be there for
 */
function ofTexts<T extends readonly (Value | undefined)[]>(
  type: ExprType,
  kinds: readonly Kind[],
  required: number,
  apply: (values: T, place: Place) => Value,
): Maker {
  return (call) => {
    const { args, place } = call
    if (args.length < required || args.length > kinds.length) throw noSuchFunction(call)
    const fit = args.map((arg, i) => {
      const resolved = resolve(arg, kinds[i]!)
      const fits = kinds[i] === 'text' ? resolved.type === 'text' : isInteger(resolved.type)
      if (!fits) throw noSuchFunction(call)
      return resolved.type === 'bigint' ? castTo(resolved, 'integer', place) : resolved
    })
    return makeStrict(type, fit, place, (values) => apply(values as unknown as T, place))
  }
}

const ofText = (apply: (text: string) => Value, type: ExprType = 'text'): Maker =>
  ofTexts<[string]>(type, ['text'], 1, ([text]) => apply(text))

const trimming = (sides: texts.Sides): Maker =>
  ofTexts<[string, string?]>('text', ['text', 'text'], 1, ([text, characters]) =>
    texts.trim(text, characters ?? ' ', sides),
  )

/** substring(text, text) takes a regular expression, and so a string literal as well. */
const substring: Maker = (call) => {
  const second = call.args[1]
  if (call.name === 'substring' && (second?.type === 'unknown' || second?.type === 'text')) {
    throw call.place.error('substring with a pattern is not supported')
  }
  return substr(call)
}

const substr = ofTexts<[string, bigint, bigint?]>(
  'text',
  ['text', 'integer', 'integer'],
  2,
  ([text, from, count], place) => texts.substring(text, from, count, place),
)

/** Rounding and the like: PostgreSQL has it for numeric, and takes floating point for integers. */
function ofDecimal(apply: (value: Decimal, scale: number) => Decimal, takesScale: boolean): Maker {
  return (call) => {
    const [first, second] = call.args
    if (first === undefined || call.args.length > (takesScale ? 2 : 1)) throw noSuchFunction(call)
    const { place } = call
    if (first.type !== 'numeric' && second === undefined) throw ofFloats(call, first)
    const value = coerce(first, 'numeric')
    if (value.type !== 'numeric') throw noSuchFunction(call)
    if (second === undefined) {
      return makeStrict('numeric', [value], place, ([one]) => apply(one as Decimal, 0))
    }
    const scale = resolve(second, 'integer')
    if (!isInteger(scale.type)) throw noSuchFunction(call)
    return makeStrict('numeric', [value, scale], place, ([one, digits]) =>
      apply(one as Decimal, scaleOf(digits as bigint)),
    )
  }
}

const MAX_SCALE = 2000

function scaleOf(digits: bigint): number {
  return Math.max(-MAX_SCALE, Math.min(MAX_SCALE, Number(digits)))
}

function ofFloats(call: Call, { type }: Expression): Error {
  if (!isInteger(type) && type !== 'unknown') return noSuchFunction(call)
  return call.place.error(
    `${call.name} of ${type} is double precision in PostgreSQL, which is not supported; cast it to numeric`,
  )
}

const abs: Maker = (call) => {
  const [value] = call.args
  if (value === undefined || call.args.length > 1) throw noSuchFunction(call)
  const { type } = value
  if (type === 'unknown') throw ofFloats(call, value)
  if (type === 'numeric') return ofDecimal(absolute, false)(call)
  if (!isInteger(type)) throw noSuchFunction(call)
  return makeStrict(type, [value], call.place, ([one]) => {
    const size = one as bigint
    return fitted(size < 0n ? -size : size, type, call.place)
  })
}

function absolute(value: Decimal): Decimal {
  return value.digits < 0n ? new Decimal(-value.digits, value.scale) : value
}

function signOf({ digits }: Decimal): Decimal {
  return new Decimal(digits === 0n ? 0n : digits < 0n ? -1n : 1n, 0)
}

const mod: Maker = (call) => {
  const [left, right] = call.args
  if (left === undefined || right === undefined || call.args.length > 2) throw noSuchFunction(call)
  if (left.type === 'unknown' && right.type === 'unknown') {
    throw call.place.error('function mod(unknown, unknown) is not unique')
  }
  const type = commonType(left.type, right.type)
  if (type === null || (!isInteger(type) && type !== 'numeric')) throw noSuchFunction(call)
  return makeArithmetic('%', [left, right], call.place)
}

const choice =
  (make: (args: readonly Expression[], place: Place) => Expression): Maker =>
  ({ args, place }) =>
    make(args, place)

const FUNCTIONS: Readonly<Record<string, Maker>> = {
  lower: ofText(lowerAscii),
  upper: ofText(texts.upperAscii),
  length: ofText(texts.countCharacters, 'integer'),
  char_length: ofText(texts.countCharacters, 'integer'),
  character_length: ofText(texts.countCharacters, 'integer'),
  reverse: ofText((text) => [...text].reverse().join('')),
  btrim: trimming('both'),
  trim: trimming('both'),
  ltrim: trimming('start'),
  rtrim: trimming('end'),
  substring,
  substr,
  left: ofTexts<[string, bigint]>('text', ['text', 'integer'], 2, ([text, n]) =>
    texts.left(text, n),
  ),
  right: ofTexts<[string, bigint]>('text', ['text', 'integer'], 2, ([text, n]) =>
    texts.right(text, n),
  ),
  replace: ofTexts<[string, string, string]>('text', ['text', 'text', 'text'], 3, (values) =>
    texts.replace(...values),
  ),
  strpos: ofTexts<[string, string]>('integer', ['text', 'text'], 2, ([text, part]) =>
    texts.indexOf(text, part),
  ),
  position: ofTexts<[string, string]>('integer', ['text', 'text'], 2, ([part, text]) =>
    texts.indexOf(text, part),
  ),
  starts_with: ofTexts<[string, string]>('boolean', ['text', 'text'], 2, ([text, start]) =>
    text.startsWith(start),
  ),
  concat: (call) => {
    if (call.args.length === 0) throw noSuchFunction(call)
    return texts.makeConcatenation(call.args, call.place)
  },
  abs,
  mod,
  sign: ofDecimal(signOf, false),
  round: ofDecimal((value, scale) => value.round(scale), true),
  trunc: ofDecimal((value, scale) => value.truncate(scale), true),
  floor: ofDecimal((value) => value.floor(), false),
  ceil: ofDecimal((value) => value.ceil(), false),
  ceiling: ofDecimal((value) => value.ceil(), false),
  coalesce: choice(makeCoalesce),
  nullif: choice(makeNullif),
  greatest: choice((args, place) => makeExtreme('GREATEST', args, place)),
  least: choice((args, place) => makeExtreme('LEAST', args, place)),
}
