import { describe, expect, it } from 'vitest'
import { check, checkLevels } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderCsv } from '../../src/report/csv.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'

function verdictOf(path: string, text: string) {
  const history = parseNotation(text)
  const results = [check(history, 'si'), check(history, 'cc')]
  const result = describeVerdict(history, results, { path, format: 'notation', parseMs: 0 })
  return { ...result, results: result.results.map((each) => ({ ...each, elapsedMs: 1.25 })) }
}

const HEAD =
  'history,format,sessions,transactions,operations,keys,level,session_order,verdict,anomalies,occurrences,reason,elapsed_ms,real_time,bound'

describe('renderCsv', () => {
  it('has a row for each level of each history, and one for what could not be read', () => {
    const lost = verdictOf('lost.txt', 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    const fine = verdictOf('fine.txt', 's1: w(x,1)')
    expect(renderCsv([lost, fine], ['bad.txt:1:5: no "such" thing']).split('\r\n')).toEqual([
      HEAD,
      'lost.txt,notation,2,2,4,1,si,yes,violated,LostUpdate,1,,1.3,no,',
      'lost.txt,notation,2,2,4,1,cc,yes,satisfied,,0,,1.3,no,',
      'fine.txt,notation,1,1,1,1,si,yes,satisfied,,0,,1.3,no,',
      'fine.txt,notation,1,1,1,1,cc,yes,satisfied,,0,,1.3,no,',
      ',,,,,,,,unread,,,"bad.txt:1:5: no ""such"" thing",,,',
      '',
    ])
  })

  it('says of each level whether real time counted', () => {
    const history = parseNotation('s1: w(x,1) [start=1 finish=2]')
    const results = checkLevels(history, ['cc', { level: 'cc', realTime: true }, 'ser', 'sser'])
    const place = { path: 'timed.txt', format: 'notation', parseMs: 0 } as const
    const rows = renderCsv([describeVerdict(history, results, place)])
      .trimEnd()
      .split('\r\n')
    expect(rows.map((row) => row.split(',').at(-2))).toEqual([
      ...['real_time', 'no', 'yes', 'no', 'yes'],
    ])
  })

  it('says of each bound of staleness which one it is', () => {
    const history = parseNotation('s1: w(x,1) [0,1] | w(x,2) [2,3]\ns2: r(x,1) [4,5]')
    const stale = ['0', '1', '2'].map((bound) => ({ level: 'stale' as const, bound }))
    const results = checkLevels(history, [...stale, 'ser'])
    const place = { path: 'stale.txt', format: 'notation', parseMs: 0 } as const
    const rows = renderCsv([describeVerdict(history, results, place)])
      .trimEnd()
      .split('\r\n')
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(['bound', '0', '1', '2', ''])
  })

  it('quotes what would break a row, and lets nothing begin like a formula', () => {
    const [, row = ''] = renderCsv([verdictOf('=1+1, "a"', 's1: w(x,1)')]).split('\r\n')
    expect(row).toMatch(/^"'=1\+1, ""a""",notation,/)
    const [, minus = ''] = renderCsv([verdictOf('-', 's1: w(x,1)')]).split('\r\n')
    expect(minus).toMatch(/^'-,notation/)
  })
})
