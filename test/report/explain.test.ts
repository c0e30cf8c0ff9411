import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { renderGlossary } from '../../scripts/glossary.ts'
import { judge } from '../../src/check/judge.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import { ANOMALIES, COMMON_NAMES } from '../../src/levels/anomalies.ts'
import { findTopic, hyphened, nameOf, TOPICS } from '../../src/levels/glossary.ts'
import { ANOMALY_ENTRIES } from '../../src/levels/glossary-anomalies.ts'
import { CASE_ENTRIES } from '../../src/levels/glossary-cases.ts'
import { LEVEL_ENTRIES } from '../../src/levels/glossary-levels.ts'
import { CHAIN, LEVELS } from '../../src/levels/levels.ts'
import { isobar } from '../cli/command.ts'
import { CASES } from '../small/cases.ts'

describe('the glossary', () => {
  it('knows every level and every anomaly', () => {
    expect(LEVEL_ENTRIES.map(({ id }) => id)).toEqual(LEVELS.map(({ id }) => id))
    const names = ANOMALIES.map(({ name }) => name).filter((name) => !COMMON_NAMES.has(name))
    expect(ANOMALY_ENTRIES.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  it.each(ANOMALY_ENTRIES)('shows $name by a history', async ({ name, history, level }) => {
    const levels = level === undefined ? null : [{ level }]
    const results = await judge(parseHistory(history), levels)
    const weakest = results.find(({ verdict }) => verdict === 'violated')!
    expect(weakest.anomalies[0]!.name).toBe(name)
  })

  it.each(CASE_ENTRIES)('tells what levels say of $name', async (entry) => {
    const results = await judge(parseHistory(entry.history), null)
    const violated = results.filter(({ verdict }) => verdict === 'violated')
    const weakest = CHAIN.find((level) => violated.some((result) => result.level === level)) ?? null
    expect(weakest).toBe(entry.forbidden)
    expect(results.every(({ verdict }) => verdict !== 'unknown')).toBe(true)
    // The same history is held against every decider, with a twin.
    expect(CASES.map(({ notation }) => notation)).toContain(entry.history)
  })

  it('is found by any name in use', () => {
    for (const topic of TOPICS) {
      expect(nameOf(findTopic(nameOf(topic))!)).toBe(nameOf(topic))
      expect(nameOf(findTopic(hyphened(nameOf(topic)))!)).toBe(nameOf(topic))
    }
    const asked = [
      'write skew',
      'G2-item',
      'j',
      'k',
      'COConflictCM',
      'snapshot-isolation',
      'Prefix Consistency',
    ]
    expect(asked.map((name) => nameOf(findTopic(name)!))).toEqual([
      'WriteSkew',
      'G2-item',
      'NonRepeatableRead',
      'FracturedRead',
      'CausalityViolation',
      'si',
      'pc',
    ])
    expect(findTopic('lunch')).toBeNull()
  })

  it('is docs/glossary.md (npm run glossary)', async () => {
    const path = new URL('../../docs/glossary.md', import.meta.url)
    expect(readFileSync(path, 'utf8')).toBe(await renderGlossary())
  })
})

describe('isobar explain', () => {
  it('explains, and hands over a history that shows what it explains', () => {
    const { code, out } = isobar(['explain', 'lost-update'])
    expect(code).toBe(0)
    expect(out).toContain('Snapshot Isolation, and every stronger level.')
    const history = isobar(['explain', 'lost-update', '--history']).out
    const judged = isobar(['check', '-', '--level', 'si'], history)
    expect([judged.code, judged.out]).toEqual([1, expect.stringContaining('LostUpdate')])
  })

  it('lists all there is, and says what may have been meant', () => {
    const { out } = isobar(['explain'])
    for (const topic of TOPICS) expect(out).toContain(hyphened(nameOf(topic)))
    const { code, err } = isobar(['explain', 'lost-updte'])
    expect([code, err]).toEqual([2, expect.stringContaining('did you mean lost-update?')])
    expect(isobar(['explain', 'si', '--history']).code).toBe(2)
    expect(isobar(['explain', '--history']).code).toBe(2)
  })
})
