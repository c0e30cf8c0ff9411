// What is said of options that make no sense: the option is named, and the way out. Main function:
// expectOptions.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { FormatId } from '../formats/readers.ts'
import type { History } from '../history/history.ts'

/** Whether a value makes sense, and what was wanted. */
type Test = readonly [is: (value: unknown) => boolean, wanted: string]
/** Option -> what its value must be; null: whatever its reader takes, who says so himself. */
export type Tests<Options> = { readonly [Name in keyof Required<Options>]: Test | null }

const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)

export const FLAG: Test = [(value) => typeof value === 'boolean', 'true or false']
export const WORD: Test = [(value) => typeof value === 'string', 'a word']
export const NUMBER: Test = [isNumber, 'a number']
export const AMOUNT: Test = [
  (value) => value === null || (typeof value === 'number' && value > 0),
  'a number above 0',
]
export const SHARE: Test = [
  (value) => isNumber(value) && (value as number) >= 0 && (value as number) <= 1,
  'a share between 0 and 1',
]
/** A function, or nothing. */
export const CALL: Test = [(value) => value === null || typeof value === 'function', 'a function']
export const whole = (least: number): Test => [
  (value) => Number.isSafeInteger(value) && (value as number) >= least,
  `a whole number from ${least} on`,
]
export const oneOf = (...words: string[]): Test => [
  (value) => words.includes(value as string),
  words.join(' or '),
]

/**
 * How text and bytes are read.
 *
 * @example
 * parseHistory(text, { format: 'plume' })
 */
export interface ReadOptions {
  /** The format of text or bytes; by content unless told. */
  format?: FormatId
  /** Whether a key may be given one value twice, so that a read has several possible writers. */
  duplicateValues?: boolean
}

export const READ_OPTIONS: Tests<ReadOptions> = { format: WORD, duplicateValues: FLAG }

/**
 * The options that are given, without those that are undefined. Throws UsageError for options that
 * there are not, and for values that make no sense.
 */
export function expectOptions<Options extends object>(
  options: Options,
  tests: Tests<Options>,
): Options {
  if (!isObject(options)) {
    const hint = `there are ${Object.keys(tests).join(', ')}`
    throw new UsageError(`options: an object was expected, not ${said(options)}`, hint)
  }
  const known: Readonly<Record<string, Test | null>> = tests
  const given = told(options)
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, name)) {
      throw new UsageError(`options: unknown option ${name}`, hintFor(name, Object.keys(known)))
    }
    expectValue(`options.${name}`, value, known[name]!)
  }
  return given as Options
}

/** What stands for nothing is left out. */
export function told<Values extends object>(values: Values) {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>
  }
}

/** Throws UsageError for a value that makes no sense. */
export function expectValue(name: string, value: unknown, test: Test | null): void {
  if (test === null || test[0](value)) return
  throw new UsageError(`${name}: ${test[1]} was expected, not ${said(value)}`)
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value in an error, whatever it is. */
const said = (value: unknown) =>
  Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : String(value)

export function isHistory(input: unknown): input is History {
  return isObject(input) && ArrayBuffer.isView((input as Partial<History>).txnOpStart)
}

/** What is not made by hand. */
export function expectHistory(history: History): History {
  if (isHistory(history)) return history
  const message = `history: a parsed history was expected, not ${said(history)}`
  throw new UsageError(message, 'parseHistory(text)')
}

export function isCompressed(input: unknown): input is Uint8Array {
  return input instanceof Uint8Array && input[0] === 0x1f && input[1] === 0x8b
}
