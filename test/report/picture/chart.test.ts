import { describe, expect, it } from 'vitest'
import { renderCharts } from '../../../src/report/picture/chart.ts'

const given = {
  title: 'PostgreSQL <18>',
  axis: 'sessions',
  places: [2, 4, 8],
  names: ['keys 10', 'keys 100'],
  charts: [
    {
      title: 'throughput',
      series: [
        [100, 180, 240],
        [110, 200, 0],
      ],
    },
  ],
}

/** The heights of the places of a series, from its line. */
function heights(svg: string, kind: string): number[] {
  const [, line = ''] =
    new RegExp(`class="${kind}"><path class="line" d="M([^"h]*)"`).exec(svg) ?? []
  return line.split('L').map((point) => Number(point.split(' ')[1]))
}

describe('renderCharts', () => {
  const svg = renderCharts(given)

  it('draws a line for each series, on a scale that ends at a round number', () => {
    expect(svg).toContain('>250<')
    // The plot is 110 high: the most, 250, would be at 0.
    expect(heights(svg, 'ww')).toEqual([66, 30.8, 4.4])
    expect(heights(svg, 'rw')[2]).toBe(110)
    for (const name of given.names) expect(svg).toContain(`>${name}<`)
  })

  it('spaces places that double evenly', () => {
    const xs = [...svg.matchAll(/class="time" x="([\d.]+)"/g)].map(([, x]) => Number(x))
    expect(xs[1]! - xs[0]!).toBeCloseTo(xs[2]! - xs[1]!, 0)
  })

  it('keeps text inert', () => {
    expect(svg).toContain('PostgreSQL &lt;18&gt;')
  })

  it('draws one place, and nothing but zeros', () => {
    const flat = renderCharts({ ...given, places: [2], charts: [{ title: 'none', series: [[0]] }] })
    expect(flat).not.toMatch(/NaN|Infinity/)
  })
})
