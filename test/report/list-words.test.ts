import { describe, expect, it } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { cutList } from '../../src/report/cut-list.ts'
import { describeRead } from '../../src/report/words.ts'
import { judge } from './gallery.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => 100 + i)
const cutAt = (count: number, matters: number[], room: number) =>
  cutList(count, (at) => String(100 + at), matters, room).join(' ')

describe('cutList', () => {
  it('shows a list whole if there is room', () => {
    expect(cutAt(4, [], 16)).toBe('100 101 102 103')
    expect(cutAt(4, [1], 15)).toBe('100 101 102 …')
  })

  it('shows the end of a long one, and what is spoken of with its neighbours', () => {
    expect(cutAt(90, [], 12)).toBe('… 187 188 189')
    expect(cutAt(90, [40], 12)).toBe('… 139 140 141 …')
    expect(cutAt(90, [0, 89], 24)).toBe('100 101 102 … 187 188 189')
  })

  it('shows what is spoken of even where there is no room', () => {
    expect(cutAt(90, [3, 50], 1)).toBe('… 103 … 150 …')
    expect(cutAt(90, [-1, 90], 1)).toBe('… 189')
  })
})

describe('words about lists and keys', () => {
  const appends = (values: number[]) => values.map((value) => `append(5,${value})`).join(' ')

  it('cuts a list around the element that a sentence is about', () => {
    const long = numbers(80)
    const history = `s1: ${appends(long.slice(0, 40))}\ns2: ${appends(long.slice(40))} [aborted]\ns3: r(5,[${long}])`
    const [anomaly] = judge(history, 'rc').results[0]!.anomalies
    expect(anomaly!.story).toMatch(/^T3 read k5=\[.*\b140\b.*\], which T2 wrote before it aborted$/)
    expect(anomaly!.story!.length).toBeLessThan(130)
  })

  it('names the writer of the element that offends, not of the first', () => {
    const story = (appends: string) =>
      judge(`s1: append(x,1)\n${appends}\ns3: r(x,[1,2])`, 'rc').results[0]!.anomalies[0]!.story
    expect(story('s2: append(x,2) [aborted]')).toBe(
      'T3 read x=[1 2], which T2 wrote before it aborted',
    )
    expect(story('s2: append(x,2) append(x,3)')).toBe(
      'T3 read x=[1 2], which T2 replaced before committing',
    )
  })

  it('shows where two lists part, what stands twice, and what nobody wrote', () => {
    const all = numbers(60)
    const swapped = all.with(30, 131).with(31, 130)
    const apart = parseNotation(`s1: ${appends(all)}\ns2: r(5,[${all}])\ns3: r(5,[${swapped}])`)
    const [one, other] = [60, 61]
    expect(describeRead(apart, 'IncompatibleOrder', [one, other])).toMatch(
      /\b130 131\b.*\b131 130\b/,
    )
    const twice = parseNotation(`s1: ${appends(all)}\ns2: r(5,[${[...all, 107]}])`)
    expect(describeRead(twice, 'DuplicateElements', [60])).toMatch(/\b107\b.*\b107\b/)
    const odd = parseNotation(`s1: ${appends(all)}\ns2: r(5,[${all.with(20, 7)}])`)
    expect(describeRead(odd, 'ThinAirRead', [60])).toMatch(/ 119 7 121 /)
  })

  it('calls a key that is a number k14, and leaves other keys as they are', () => {
    const story = (key: string) =>
      judge(`s1: r(${key},0) w(${key},1)\ns2: r(${key},0) w(${key},2)`, 'si').results[0]!
        .anomalies[0]!.edges[0]!
    expect(story('14').because).toContain('read the initial k14=0')
    expect(story('14').key).toBe(14)
    expect(story('x').because).toContain('read the initial x=0')
  })
})
