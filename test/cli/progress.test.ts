// What is shown of long work: on a terminal, in a log, and to who wants quiet.

import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { check } from '../../src/check/check.ts'
import { judge } from '../../src/check/judge.ts'
import { Progress } from '../../src/cli/progress.ts'
import { configureTerminal } from '../../src/cli/terminal.ts'
import { readHistory } from '../../src/formats/open.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { generate } from '../../src/pipeline/generate.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  configureTerminal()
})

/** What is written on standard error while the work goes on for some seconds. */
function written(seconds: number, progress: () => Progress): string[] {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  const texts: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    texts.push(String(text))
    return true
  })
  const shown = progress()
  shown.report('checking h.txt', 0.25)
  for (let ms = 0; ms < seconds * 1000; ms += 500) {
    vi.advanceTimersByTime(500)
    shown.tick({ level: 'ser', phase: 'inferring' })
  }
  shown.done()
  return texts
}

describe('Progress', () => {
  it('names level and phase on a terminal, after two seconds, and goes again', () => {
    const texts = written(3, () => new Progress(true))
    const line = '[=====               ] 25% checking h.txt: ser, inferring'
    expect(texts).toEqual([
      `\r\u001b[K${line} 2.0 s`,
      `\r\u001b[K${line} 2.5 s`,
      `\r\u001b[K${line} 3.0 s`,
      '\r\u001b[K',
    ])
  })

  it('writes a line every ten seconds where there is no terminal', () => {
    const texts = written(21, () => new Progress(false))
    expect(texts.map((text) => text.replace(/^.*check/, 'check'))).toEqual([
      'checking h.txt: ser, inferring 10.0 s\n',
      'checking h.txt: ser, inferring 20.0 s\n',
    ])
    expect(texts[0]).toMatch(/^isobar: /)
  })

  it.each([true, false])('says nothing to who wants quiet (terminal: %s)', (isTerminal) => {
    configureTerminal({ quiet: true })
    expect(written(21, () => new Progress(isTerminal))).toEqual([])
  })
})

describe('onTick', () => {
  const seen = new Set<string>()
  const onTick = ({ level, phase }: { level: string | null; phase: string }) => {
    seen.add(`${level}, ${phase}`)
  }

  it('hears of level and phase', () => {
    seen.clear()
    const history = parseNotation('s1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)')
    check(history, 'ser', { onTick, algorithm: 'solve' })
    const phases = ['matching reads with writes', 'inferring', 'verifying']
    for (const phase of phases) expect(seen).toContain(`ser, ${phase}`)
    expect([...seen].every((each) => each.startsWith('ser, '))).toBe(true)
  })

  it('hears of SQL levels too', async () => {
    seen.clear()
    const rooms = fileURLToPath(new URL('../../examples/rooms.jsonl', import.meta.url))
    const { history } = await readHistory(rooms)
    await judge(history, ['mixed'], { onTick })
    expect(seen).toContain('mixed, matching reads with writes')
    expect(seen).toContain('mixed, verifying')
  })

  it('hears how far a simulation has come', () => {
    const shares: number[] = []
    const onProgress = (ended: number, all: number) => shares.push(ended / all)
    const workload = { shape: 'general', transactions: 20_000, ops: 4, sessions: 5 } as const
    generate({ workload, store: { onProgress } })
    expect(shares.length).toBeGreaterThan(2)
    expect([...shares].sort((a, b) => a - b)).toEqual(shares)
    expect(shares.at(-1)).toBeLessThanOrEqual(1)
  })
})
