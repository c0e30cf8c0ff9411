import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { buildCore } from '../../src/report/core-history.ts'
import { findSections } from '../../src/report/page/sections.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import { CASE_SPLIT, GALLERY, judge } from './gallery.ts'

describe('buildCore', () => {
  it('is violated in the same way, for every kind of anomaly', () => {
    const split = { name: 'LongFork', notation: CASE_SPLIT, level: undefined }
    for (const { name, notation, level } of [...GALLERY, split]) {
      // Others around it, which read and write the same keys.
      const verdict = judge(notation, level)
      for (const section of findSections(verdict)) {
        const { example, levels } = section.evidence[0]!
        const { history } = buildCore(example, verdict.initial)
        const result = check(history, levels[0]!)
        expect(result.verdict, `${name}: ${section.name}`).toBe('violated')
        const names = result.anomalies.map((each) => each.name)
        expect(names, name).toContain(section.name)
        expect(certifyPlain(history, result).problems).toEqual([])
      }
    }
  })

  it('reads back from its notation', () => {
    for (const { notation, level } of GALLERY) {
      const verdict = judge(notation, level)
      for (const { evidence } of findSections(verdict)) {
        const { history } = buildCore(evidence[0]!.example, verdict.initial)
        const text = renderNotation(history, undefined, { ids: true })
        expect(renderNotation(parseNotation(text), undefined, { ids: true })).toBe(text)
      }
    }
  })

  it('leaves out reads of what others wrote', () => {
    const verdict = judge('s1: r(x,0) r(z,9) w(x,1)\ns2: r(x,0) w(x,2)\ns3: w(z,9)', 'si')
    const [section] = findSections(verdict)
    const { history, leftOut } = buildCore(section!.evidence[0]!.example, verdict.initial)
    expect(leftOut).toBe(1)
    expect(renderNotation(history)).toBe('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n')
  })
})
