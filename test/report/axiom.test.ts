// The axioms that pages draw are those of docs/levels.md, and what breaks one breaks its level.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { AXIOMS, tellAxiom } from '../../src/levels/axioms.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { renderAxiom } from '../../src/report/picture/axiom-svg.ts'

const page = readFileSync(new URL('../../docs/levels.md', import.meta.url), 'utf8')
const table = page.slice(page.indexOf('| id | premise |'), page.indexOf('`ci`: no'))

/**
 * t1, t2 and t3 as the picture has them. t2 read x from t1, so it cannot commit before it: where
 * the premise holds the level is violated. Without the step that ends in t3, it is not.
 */
const T2 = 's1: w(x,1)\ns2: r(x,1) w(x,2)'
const BROKEN: Partial<Record<LevelId, [broken: string, kept: string]>> = {
  rc: [`${T2} w(y,2)\ns3: r(y,2) r(x,1)`, `${T2} w(y,2)\ns3: r(x,1) r(y,2)`],
  ryw: [`${T2} | r(x,1)`, `${T2}\ns3: r(x,1)`],
  mr: [`${T2}\ns3: r(x,2) | r(x,1)`, `${T2}\ns3: r(x,2)\ns4: r(x,1)`],
  mw: [`${T2} | w(y,4)\ns3: r(y,4) r(x,1)`, `${T2} | w(y,4)\ns3: r(x,1)`],
  wfr: [
    `${T2}\ns4: r(x,2) w(y,4)\ns3: r(y,4) r(x,1)`,
    `${T2}\ns4: r(x,2) w(y,4)\ns3: r(x,1) r(y,4)`,
  ],
  ra: [`${T2} w(y,2)\ns3: r(x,1) r(y,2)`, `${T2} w(y,2)\ns3: r(x,1) | r(y,2)`],
  cc: [
    `${T2} w(y,2)\ns4: r(y,2) w(z,4)\ns3: r(x,1) r(z,4)`,
    `${T2} w(y,2)\ns4: r(y,2) w(z,4)\ns3: r(x,1) | r(z,4)`,
  ],
  ser: [`${T2}\ns3: r(x,1) w(x,3)`, `${T2}\ns3: r(x,2) w(x,3)`],
}

describe('axioms', () => {
  it('are there for every premise of docs/levels.md', () => {
    const ids = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1])
    expect(ids.length).toBeGreaterThan(10)
    expect(AXIOMS.map(({ level }) => level)).toEqual(ids)
  })

  it.each(Object.entries(BROKEN))('are of their level: %s', (level, [broken, kept]) => {
    expect(check(parseNotation(broken), level as LevelId).verdict).toBe('violated')
    expect(check(parseNotation(kept), level as LevelId).verdict).toBe('satisfied')
  })
})

describe('renderAxiom', () => {
  it('draws the way from t2 to t3, and tells it', () => {
    for (const axiom of AXIOMS) {
      const html = renderAxiom(axiom.level)
      for (const { label, kind } of axiom.way) {
        expect(html).toContain(`<g class="${kind}">`)
        expect(html).toContain(`>${label}</text>`)
      }
      expect(html.includes('>t4</text>')).toBe(axiom.way.length === 2)
      expect(html).toContain(`<figcaption>${tellAxiom(axiom)}</figcaption>`)
    }
  })

  it('draws nothing of a level that is told otherwise', () => {
    expect(renderAxiom('lin')).toBe('')
  })
})
