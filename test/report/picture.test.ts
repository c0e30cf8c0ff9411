import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { renderDot } from '../../src/report/dot.ts'
import { Example } from '../../src/report/example.ts'
import { renderJunit } from '../../src/report/junit.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { findSections } from '../../src/report/page/sections.ts'
import { buildFigure } from '../../src/report/picture/figure.ts'
import { renderSvg } from '../../src/report/picture/svg.ts'
import { findArrows, findLeaves, firstView } from '../../src/report/picture/visible.ts'
import type { AnomalyJson, TxnJson, VerdictJson } from '../../src/verdict/verdict-file.ts'
import { CASE_SPLIT, GALLERY, judge } from './gallery.ts'
import { HOSTILE_NAMES, hostileHistory } from './hostile.ts'

function exhibit(name: string): { verdict: VerdictJson; anomaly: AnomalyJson } {
  const { notation, level } = GALLERY.find((each) => each.name === name)!
  const verdict = judge(notation, level)
  const sections = findSections(verdict)
  return {
    verdict,
    anomaly: sections.find((section) => section.name === name)!.evidence[0]!.anomaly,
  }
}

function exampleOf(name: string): Example {
  const { verdict, anomaly } = exhibit(name)
  return new Example(verdict, anomaly)
}

describe('buildFigure', () => {
  it('closes the cycle of every exhibit that has one', () => {
    for (const { name } of GALLERY) {
      const example = exampleOf(name)
      const figure = buildFigure(example)
      expect(figure.cutSteps, name).toBe(0)
      if (example.anomaly.edges.length === 0) continue
      figure.steps.forEach((step, i) => {
        expect(step.to, name).toBe(figure.steps[(i + 1) % figure.steps.length]!.from)
      })
    }
  })

  it('labels arrows with kind, key and values', () => {
    const labels = (name: string) => buildFigure(exampleOf(name)).steps.map((step) => step.label)
    expect(labels('LostUpdate')).toEqual(['rw x: 0→2', 'rw x: 0→1'])
    expect(labels('CircularInformationFlow').sort()).toEqual(['wr x=2', 'wr y=1'])
    expect(labels('StaleRead').sort()).toEqual(['rt', 'rw x: 0→1'])
    expect(labels('IncompatibleOrder').sort()).toEqual(['ww l: 1→2', 'ww l: 2→1'])
  })

  it('draws the offending read where the evidence is a single one', () => {
    const figure = buildFigure(exampleOf('AbortedRead'))
    expect(figure.steps).toMatchObject([{ from: 0, to: 1, kind: 'WR', label: 'wr x=1' }])
    expect(figure.txns[0]).toMatchObject({ status: 'aborted', note: 'aborted' })
    expect(buildFigure(exampleOf('ThinAirRead')).steps[0]!.from).toBeLessThan(-1)
  })

  it('opens a forced arrow to its reasons, and draws equal arrows once', () => {
    const figure = buildFigure(exampleOf('NonMonoReadCM'))
    const view = firstView(figure)
    expect(findArrows(figure, view)).toHaveLength(3)
    const opened = findArrows(figure, { ...view, open: new Set(['e1']) })
    expect(opened).toHaveLength(5)
    const ids = opened.flatMap((arrow) => arrow.ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('walks every case of a split', () => {
    const [section] = findSections(judge(CASE_SPLIT))
    const figure = buildFigure(section!.evidence[0]!.example)
    const leaves = findLeaves(figure)
    expect(leaves).toHaveLength(4)
    for (const { id } of leaves) {
      const arrows = findArrows(figure, { open: new Set(), branch: id })
      expect(arrows.filter(({ step }) => step.assumed)).toHaveLength(2)
      expect(arrows.length).toBeGreaterThan(4)
    }
  })

  it('cuts what is too large, and counts it', () => {
    const { verdict, anomaly } = exhibit('LostUpdate')
    const draw = (parts: Partial<AnomalyJson>, transactions = verdict.transactions) =>
      buildFigure(new Example({ ...verdict, transactions }, { ...anomaly, ...parts }))
    let [edge] = anomaly.edges
    for (let i = 0; i < 100; i++) edge = { ...edge!, premises: [edge!] }
    const deep = draw({ edges: [edge!, edge!] })
    expect(deep.cutSteps).toBe(2)
    const wide = draw({ edges: Array.from({ length: 1000 }, () => anomaly.edges[0]!) })
    expect(wide.steps).toHaveLength(300)
    expect(wide.cutSteps).toBeGreaterThanOrEqual(700)
    const [first] = verdict.transactions
    const more = Array.from({ length: 90 }, (_, i) => ({ ...first!, id: `t${i}` }))
    const all = [...verdict.transactions, ...more]
    const many = draw({ core: all.map(({ id }) => id) }, all)
    expect(many.txns).toHaveLength(60)
    expect(many.cutTxns).toBe(32)
  })

  it('turns away evidence about transactions that are not there', () => {
    const { verdict, anomaly } = exhibit('LostUpdate')
    const { transactions } = verdict
    const draw = (core: string[], txns: TxnJson[]) =>
      buildFigure(new Example({ ...verdict, transactions: txns }, { ...anomaly, core }))
    expect(draw(anomaly.core, transactions).steps).toHaveLength(2)
    expect(() => draw([], transactions)).toThrow(InputError)
    expect(() => draw(anomaly.core, [])).toThrow('is not in the core')
    expect(() => draw(['T1', 'T1', 'T2'], transactions)).toThrow('T1 is in the core twice')
    const twice = [...transactions, transactions[0]!]
    expect(() => draw(anomaly.core, twice)).toThrow('two transactions are named T1')
    const empty = transactions.map((txn) => ({ ...txn, ops: [] }))
    expect(() => draw(anomaly.core, empty)).toThrow('has no operation')
  })
})

describe('files about a verdict', () => {
  it('are the same for the same verdict', () => {
    for (const { notation, level } of GALLERY) {
      const make = () => {
        const verdict = judge(notation, level)
        return [renderSvg(verdict), renderDot(verdict), renderJunit([verdict])].join()
      }
      expect(make()).toBe(make())
    }
  })

  it('say so when there is no counterexample', () => {
    const verdict = judge('s1: w(x,1)\ns2: r(x,1)')
    expect(renderSvg(verdict)).toContain('no counterexample')
    expect(renderDot(verdict)).toContain('no counterexample')
    expect(renderMarkdown([])).toContain('No history was judged')
  })

  it('show an unknown verdict as no pass', () => {
    const verdict = judge('s1: w(x,1)', 'sser')
    expect(renderJunit([verdict])).toContain('errors="1"')
    expect(renderJunit([verdict])).toContain('<error type="unknown"')
    expect(renderMarkdown([verdict])).toContain('❔ unknown')
  })

  it('count inputs that could not be read as errors', () => {
    const text = renderJunit([], ['bad<.txt:1:5: torn'])
    expect(text).toContain('tests="1" failures="0" errors="1"')
    expect(text).toContain('bad&lt;.txt:1:5: torn')
    expect(renderMarkdown([], ['bad.txt: torn'])).toContain('could not be read')
  })

  it('let no hostile name through', () => {
    for (const name of HOSTILE_NAMES) {
      const verdict = judge(hostileHistory(name), undefined, name)
      for (const markup of [renderSvg(verdict), renderJunit([verdict])]) {
        expect(markup).not.toMatch(/<(script|img|style>\*|svg onload)|<failure><failure>/)
        const bare = markup.replace(/"[^"]*"/g, '""')
        for (const tag of bare.match(/<[^>]*>/g) ?? []) expect(tag).not.toMatch(/\son\w+=/)
        expect(markup).not.toMatch(/[\u0000-\u0008\u001b\u202e\ufffe]/)
      }
      const dot = renderDot(verdict)
      for (const line of dot.trim().split('\n').slice(1, -1)) {
        const bare = line.replace(/"(?:[^"\\]|\\["\\l])*"/g, '""')
        expect(bare).toMatch(
          /^ {2}(label=""|rankdir=LR|node \[.*\]|\w+( -> \w+)? \[[^"[\]]*(""[^"[\]]*)*\])$/,
        )
      }
    }
  })

  it('show in DOT what transactions did, and the reader that forces an order', () => {
    const verdict = judge('s1: w(x,1) | w(x,2)\ns2: r(x,2) w(y,1)\ns3: r(y,1) r(x,1)', 'cc')
    const dot = renderDot(verdict)
    expect(dot).toContain('label="T3 (session s2)\\lr(x,2)\\lw(y,1)\\l"')
    expect(dot).toMatch(/t4 \[label="T4 \(session s3\)\\lr\(y,1\)\\lr\(x,1\)\\l"/)
    expect(dot).toMatch(/-> t4 \[.*penwidth=0\.5\]/)
  })

  it('keep fences and tables of Markdown closed against hostile names', () => {
    for (const name of HOSTILE_NAMES) {
      const text = renderMarkdown([judge(hostileHistory(name), undefined, name)])
      let open: string | null = null
      for (const line of text.split('\n')) {
        const [ticks] = /^`{3,}/.exec(line) ?? [null]
        if (open === null && ticks) open = ticks
        else if (open !== null && line === open) open = null
        else if (open === null) expect(line).not.toMatch(/<|@|\]\(/)
      }
      expect(open).toBeNull()
      expect(text).not.toMatch(/[\u0000-\u0008\u001b\u202e]/)
    }
  })
})
