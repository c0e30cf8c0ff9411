import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderTrace } from '../../src/report/trace.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'
import { judge } from './gallery.ts'
import { HOSTILE_NAMES, hostileHistory } from './hostile.ts'

interface TraceEvent {
  ph: string
  tid: number
  ts: number
  dur: number
  name: string
  cat?: string
}

function eventsOf(history: History, verdict: VerdictJson): TraceEvent[] {
  return JSON.parse([...renderTrace(history, verdict)].join('')).traceEvents
}

describe('renderTrace', () => {
  const notation =
    's1: r(x,0) w(x,1) [10,20]\ns2: r(x,0) w(x,2) [12,32]\ns1: w(y,1) [aborted start=40 finish=41]'

  it('has a track a session, a slice a transaction and an operation, and the findings', () => {
    const events = eventsOf(parseNotation(notation), judge(notation, 'si'))
    const of = (ph: string) => events.filter((event) => event.ph === ph)
    expect(of('M').map(({ tid }) => tid)).toEqual([0, 1, 2])
    expect(of('X').map(({ name, tid, ts, dur, cat }) => [name, tid, ts, dur, cat])).toEqual([
      ['T1', 1, 0, 10_000, 'committed'],
      ['read x=0', 1, 0, 5000, 'op'],
      ['write x=1', 1, 5000, 5000, 'op'],
      ['T2', 2, 2000, 20_000, 'committed'],
      ['read x=0', 2, 2000, 10_000, 'op'],
      ['write x=2', 2, 12_000, 10_000, 'op'],
      ['T3', 1, 30_000, 1000, 'aborted'],
      ['write y=1', 1, 30_000, 1000, 'op'],
    ])
    expect(of('i').map(({ name, tid, ts }) => [name, tid, ts])).toEqual([
      ['LostUpdate', 1, 0],
      ['LostUpdate', 2, 2000],
    ])
  })

  it('knows units and faults, and goes by positions where there are no times', () => {
    const text =
      '{"isobar":1,"unit":"ms"}\n{"mark":"the server goes down","start":7}\n{"session":0,"start":5,"finish":9,"ops":[["w","x",1]]}\n'
    const timed = eventsOf(parseHistory(text), judge('s1: w(x,1)', 'rc'))
    expect(timed.find(({ ph }) => ph === 'i')).toMatchObject({
      ts: 2000,
      name: 'the server goes down',
    })
    expect(timed.find(({ ph }) => ph === 'X')).toMatchObject({ ts: 0, dur: 4000 })
    const bare = 's1: w(x,1) | w(x,2)'
    const starts = eventsOf(parseNotation(bare), judge(bare, 'rc')).filter(
      ({ cat }) => cat === 'committed',
    )
    expect(starts.map(({ ts, dur }) => [ts, dur])).toEqual([
      [0, 1000],
      [1000, 1000],
    ])
  })

  it('ends when the budget has run out, is JSON all the same, and says what is missing', () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `s${i % 7}: w(${i},1)`).join('\n')
    const late = new Deadline(1, null, null, { fromMs: -1000 })
    const pieces = [...renderTrace(parseNotation(lines), judge('s1: w(x,1)', 'rc'), late)]
    const events = JSON.parse(pieces.join('')).traceEvents as TraceEvent[]
    const shown = events.filter(({ cat }) => cat === 'committed').length
    expect(shown).toBeLessThan(3000)
    expect(events.at(-1)).toMatchObject({
      cat: 'budget',
      name: `cut short by the budget: ${shown} of 3000 transactions are here`,
    })
  })

  it('comes in pieces, and is JSON whatever the names', () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `s${i % 7}: w(${i},1)`).join('\n')
    const pieces = [...renderTrace(parseNotation(lines), judge('s1: w(x,1)', 'rc'))]
    expect(pieces.length).toBeGreaterThan(3)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000)
    for (const name of HOSTILE_NAMES) {
      const hostile = hostileHistory(name)
      expect(
        eventsOf(parseNotation(hostile), judge(hostile, undefined, name)).length,
      ).toBeGreaterThan(4)
    }
  })
})
