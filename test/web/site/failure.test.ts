import { describe, expect, it } from 'vitest'
import { InputError, UsageError } from '../../../src/base/errors.ts'
import { describeFailure } from '../../../src/web/site/failure.ts'

describe('describeFailure', () => {
  it('says of a script that does not come what to do, in every browser', () => {
    for (const words of [
      'Failed to fetch dynamically imported module: http://127.0.0.1/script/a.js',
      'error loading dynamically imported module: http://127.0.0.1/script/a.js',
      'Importing a module script failed.',
    ]) {
      expect(describeFailure(new TypeError(words))).toMatchObject({
        message: 'a part of this page could not be loaded',
        hint: expect.stringContaining('load the page again'),
      })
    }
  })

  it('calls memory that is not there no bug, and all else one', () => {
    expect(describeFailure(new RangeError('Array buffer allocation failed')).message).toBe(
      'the history is too large for this browser',
    )
    expect(describeFailure(new TypeError('x is undefined'))).toMatchObject({
      message: 'internal error: x is undefined',
      hint: expect.stringContaining('bug'),
    })
  })

  it('leaves bad input its words and its place, and hints that are not for pages out', () => {
    const place = { line: 2, column: 5 }
    const error = new InputError('syntax', 'unknown operation', place, 'try --format plume')
    expect(describeFailure(error)).toMatchObject({
      message: 'unknown operation',
      place,
      hint: null,
    })
    expect(describeFailure(new UsageError('no', 'yes'))).toMatchObject({ hint: 'yes' })
  })
})
