// The axioms that pages draw are those of docs/levels.md, and what breaks one breaks its level.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { AXIOMS, tellAxiom } from '../../../src/levels/axioms.ts'
import { historyOf, SHAPES } from '../../../src/levels/forbidden-shapes.ts'
import { LEVELS, type LevelId } from '../../../src/levels/levels.ts'
import { renderAxiom } from '../../../src/report/picture/axiom-svg.ts'

const page = readFileSync(new URL('../../../docs/levels.md', import.meta.url), 'utf8')
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
    expect(AXIOMS.map(({ level }) => level)).toEqual([...ids, 'mixed'])
  })

  it.each(Object.entries(BROKEN))('are of their level: %s', (level, [broken, kept]) => {
    expect(check(parseNotation(broken), level as LevelId).verdict).toBe('violated')
    expect(check(parseNotation(kept), level as LevelId).verdict).toBe('satisfied')
  })
})

describe('shapes', () => {
  it.each(SHAPES)('of $level is forbidden by it, and is no larger than need be', (shape) => {
    const judged = (boxes: typeof shape.boxes) =>
      check(parseNotation(historyOf({ ...shape, boxes })), shape.level).verdict
    expect(judged(shape.boxes)).toBe('violated')
    // Without some operation nothing is wrong.
    const smaller = shape.boxes.flatMap((box, i) =>
      box.operations.split(' ').map((_, gone, all) => {
        const operations = all.filter((__, at) => at !== gone).join(' ')
        const rest = shape.boxes.filter((__, at) => at > i)
        // Whoever followed it in its session begins it now.
        if (operations === '') {
          const [next, ...others] = rest
          const kept = next ? [{ ...next, follows: undefined }, ...others] : []
          return [...shape.boxes.slice(0, i), ...(kept as typeof shape.boxes)]
        }
        return [...shape.boxes.slice(0, i), { ...box, operations }, ...rest]
      }),
    )
    expect(smaller.map(judged)).toContain('satisfied')
  })

  it('are circles, but for a read that is not repeated', () => {
    for (const { level, arrows } of SHAPES) {
      const next = new Map(arrows.map(({ from, to }) => [from, to]))
      let at = arrows[0]!.from
      for (let i = 0; i < arrows.length; i++) at = next.get(at) ?? ''
      expect(at === arrows[0]!.from, level).toBe(level !== 'ci')
    }
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

  it('breaks operations into lines that fit, in a picture for a telephone', () => {
    for (const { id } of LEVELS) {
      const html = renderAxiom(id)
      const width = Number(/<svg [^>]* width="(\d+)"/.exec(html)![1])
      expect(width).toBeLessThanOrEqual(350)
      for (const [, text] of html.matchAll(/<text x=[^>]*>([^<]*)<\/text>/g)) {
        expect(text!.length * 13 * 0.61, text).toBeLessThan(94)
      }
    }
    expect(renderAxiom('pl-1')).toContain('>append(x,1)</text>')
  })

  it('draws something of every level', () => {
    for (const { id } of LEVELS) expect(renderAxiom(id), id).toContain('<svg')
    const drawn = [...AXIOMS, ...SHAPES].map(({ level }) => level)
    expect(drawn.sort()).toEqual(LEVELS.map(({ id }) => id).sort())
  })

  it('draws what a level forbids, and tells it', () => {
    for (const shape of SHAPES) {
      const html = renderAxiom(shape.level)
      for (const { label } of shape.arrows) expect(html).toContain(`>${label}</text>`)
      const drawn = [...html.matchAll(/<text x=[^>]*>([^<]*)<\/text>/g)].map((match) => match[1])
      expect(drawn.join(' ')).toBe(shape.boxes.map(({ operations }) => operations).join(' '))
      expect(html).toContain(`<figcaption>${shape.says}</figcaption>`)
    }
  })
})
