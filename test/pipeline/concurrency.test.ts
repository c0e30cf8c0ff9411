import { describe, expect, it } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { measureConcurrency, tellLack } from '../../src/pipeline/concurrency.ts'

const measure = (text: string) => measureConcurrency(parseNotation(text))

describe('measureConcurrency', () => {
  it('counts transactions that began while others were in progress', () => {
    const apart = 's1: w(x,1) [0,1] | w(x,2) [4,5]\ns2: r(x,1) [2,3]'
    expect(measure(apart)).toEqual({ overlapping: 0, conflicting: 0 })
    expect(measure(apart.replace('[2,3]', '[0.5,3]'))).toEqual({ overlapping: 1, conflicting: 1 })
    // An audit is alone by intention.
    expect(measure(apart.replace('[2,3]', '[2,9 audit]')).overlapping).toBe(0)
    expect(measure(apart.replace('[2,3]', '[indeterminate start=2]')).overlapping).toBe(1)
  })

  it('takes one that ends at the instant another starts as overlapping, but in one session', () => {
    const touching = 's1: w(x,1) [0,1] | w(x,2) [4,5]\ns2: r(x,1) [1,4]'
    expect(measure(touching)).toEqual({ overlapping: 2, conflicting: 2 })
    expect(measure(touching.replace('[1,4]', '[2,3]'))).toEqual({ overlapping: 0, conflicting: 0 })
    const alone = 's1: w(x,1) [0,1] | r(x,1) [1,2] | w(x,2) [2,3]'
    expect(measure(alone)).toEqual({ overlapping: 0, conflicting: 0 })
    // Whoever was busy longest may be of the same session, and another one was busy too.
    const third = `${alone}\ns2: r(x,1) [0.5,2]`
    expect(measure(third)).toEqual({ overlapping: 3, conflicting: 2 })
    expect(measure(third.replace('[0.5,2]', '[0.5,0.6]'))).toEqual({
      overlapping: 1,
      conflicting: 1,
    })
  })

  it('tells conflicts from company: a common key, and one of the two writes', () => {
    const both = (a: string, b: string) => measure(`s1: ${a} [0,9]\ns2: ${b} [1,2]`).conflicting
    expect(both('w(x,1)', 'r(x,0)')).toBe(1)
    expect(both('r(x,0)', 'w(x,1)')).toBe(1)
    expect(both('append(x,1)', 'append(x,2)')).toBe(1)
    expect(both('r(x,0)', 'r(x,0)')).toBe(0)
    expect(both('w(x,1)', 'w(y,1)')).toBe(0)
  })

  it('says what a satisfied level is worth', () => {
    expect(tellLack({ overlapping: 0, conflicting: 0 })).toBe('nothing was concurrent')
    expect(tellLack({ overlapping: 5, conflicting: 0 })).toMatch(/the same key/)
    expect(tellLack({ overlapping: 5, conflicting: 1 })).toBeNull()
  })
})
