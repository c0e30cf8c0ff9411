import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { stringify } from '../../../src/base/json.ts'
import { check, checkLevels } from '../../../src/check/check.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { ANOMALY_ENTRIES } from '../../../src/levels/glossary-anomalies.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { describeVerdict } from '../../../src/report/describe-verdict.ts'
import { escapeMarkup } from '../../../src/report/escape.ts'
import type { PageAssets } from '../../../src/report/page/document.ts'
import { renderHtml } from '../../../src/report/page/html.ts'
import { headline } from '../../../src/report/page/view.ts'
import { parseVerdicts } from '../../../src/verdict/parse-file.ts'
import { CASE_SPLIT, GALLERY, judge } from '../gallery.ts'
import { HOSTILE_NAMES, hostileHistory } from '../hostile.ts'

const assets: PageAssets = {
  script: 'void 0',
  style: 'body{margin:0}',
  sha256: (text) => createHash('sha256').update(text).digest('base64'),
}

/** Tags and names of attributes of the page, without their values and without text. */
function tagsOf(html: string): string[] {
  return html.replace(/="[^"]*"/g, '=""').match(/<[a-z!/][^>]*>/gi) ?? []
}

describe('renderHtml', () => {
  it('gives the same bytes for the same verdict, also after a way through JSON', () => {
    for (const { notation, level } of [...GALLERY, { notation: CASE_SPLIT, level: undefined }]) {
      const html = renderHtml(judge(notation, level), assets)
      expect(renderHtml(judge(notation, level), assets)).toBe(html)
      const [found] = parseVerdicts(stringify(judge(notation, level)))
      expect(renderHtml(found!.verdict, assets)).toBe(html)
    }
  })

  it('names the anomaly, its meaning, and every step of the story', () => {
    for (const { name, notation, level } of GALLERY) {
      const verdict = judge(notation, level)
      const html = renderHtml(verdict, assets)
      expect(html).toContain(`>${name}<`)
      for (const { anomalies } of verdict.results) {
        for (const { edges } of anomalies) {
          for (const { because } of edges) {
            expect(html).toContain(because.replace(/'/g, '&#39;').replace(/"/g, '&quot;'))
          }
        }
      }
    }
  })

  it('counts what the history has', () => {
    const said = (notation: string) =>
      /class="source">.*?<span>\(([^)]*)\)/.exec(renderHtml(judge(notation), assets))![1]
    expect(said('s1: w(x,1)')).toBe('notation: 1 session, 1 transaction, 1 operation, 1 key')
    expect(said('s1: w(x,1) [aborted]\ns2: r(y,0) r(x,0)')).toBe(
      'notation: 2 sessions, 2 transactions, 3 operations, 2 keys, 1 aborted',
    )
  })

  it('admits its own script and styles only, and asks nothing of the network', () => {
    const html = renderHtml(judge(CASE_SPLIT), assets)
    expect(html).toContain("default-src 'none'")
    expect(html).toContain(`script-src 'sha256-${assets.sha256('void 0')}'`)
    expect(html).not.toMatch(/unsafe-inline|https?:\/\/|\ssrc=|@import|url\(/)
  })

  it('shows hostile names as text', () => {
    for (const name of HOSTILE_NAMES) {
      const html = renderHtml(judge(hostileHistory(name), undefined, name), assets)
      for (const tag of tagsOf(html)) {
        expect(tag).not.toMatch(/^<(img|iframe|svg onload)|\son\w+\s*=/i)
      }
      expect(html.match(/href="(?!#|data:text)[^"]*"/g)).toBeNull()
      expect(html.match(/<script/g)).toHaveLength(2)
      expect(html.match(/<style/g)).toHaveLength(2)
      expect(html).not.toMatch(/[\u0000-\u0008\u001b\u202e]/)
    }
  })

  it('groups findings by kind, caps them, and leaves no kind out', () => {
    const verdict = judge(GALLERY.find(({ name }) => name === 'LostUpdate')!.notation)
    const result = verdict.results.find(({ level }) => level === 'si')!
    const [anomaly] = result.anomalies
    const of = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...anomaly!, name, transactions: [`${i}`] }))
    result.anomalies = [...of('LostUpdate', 60), ...of('WriteSkew', 3)]
    verdict.results = [result]
    const html = renderHtml(verdict, assets)
    expect(html.match(/<details class="finding"/g)).toHaveLength(40)
    expect(html.match(/<details class="finding"[^>]* open>/g)).toHaveLength(1)
    expect(html).toContain('39 of 60 findings of this kind are shown')
    expect(html).toContain('1 of 3 findings of this kind are shown')
    expect(html).toContain('found <b>at least 60 times</b>')
    expect(html).toContain('violates si, at least 3 times</span>')
  })

  it('says what an anomaly costs and what to do about it', () => {
    for (const { name, notation, level } of GALLERY) {
      const { harm, cure } = ANOMALY_ENTRIES.find((entry) => entry.name === name)!
      const html = renderHtml(judge(notation, level), assets)
      expect(html).toContain(escapeMarkup(harm))
      expect(html).toContain(escapeMarkup(cure))
    }
  })

  it('has a legend of what is shown, and of nothing else', () => {
    const words = (name: string) => {
      const { notation, level } = GALLERY.find((each) => each.name === name)!
      const [legend] = /<ul class="legend".*?<\/ul>/s.exec(
        renderHtml(judge(notation, level), assets),
      )!
      return [...legend.matchAll(/<b>([^<]*)</g)].map(([, word]) => word)
    }
    expect(words('AbortedRead')).toEqual(['wr', 'read', 'write', 'aborted'])
    expect(words('WriteSkew')).toEqual([
      'wr',
      'ww',
      'rw',
      'read',
      'write',
      'initial state',
      'inferred',
    ])
  })

  it('shows times since the first start, with their unit where it is known', () => {
    const verdict = judge(
      'initial null\ns1: w(x,1) [1000,3500]\ns2: r(x,null) [9000,12000]',
      'sser',
    )
    const times = () =>
      [...renderHtml(verdict, assets).matchAll(/<text class="time"[^>]*>([^<]*)</g)].map(
        ([, time]) => time,
      )
    expect(times()).toEqual(['1000', '3500', '9000', '12000'])
    verdict.unit = 'us'
    expect(times()).toEqual(['0 ms', '2.5 ms', '8 ms', '11 ms'])
  })

  it('offers the history in formats that can hold it, and it is violated there too', () => {
    const formatsOf = (notation: string, level: LevelId) => {
      const html = renderHtml(judge(notation, level), assets)
      return [...html.matchAll(/download="[^"]*" href="data:[^,]*,([^"]*)">([^<]*)</g)].map(
        ([, text, name]) => ({ name, text: decodeURIComponent(text!) }),
      )
    }
    const numbered = 'initial null\ns1: r(1,null) w(1,1) [1,5]\ns2: r(1,null) w(1,2) [2,6]'
    const found = formatsOf(numbered, 'si')
    expect(found.map(({ name }) => name)).toEqual(['native JSON Lines', 'Plume text', 'Jepsen EDN'])
    for (const { text, name } of found) {
      expect(check(parseHistory(text), 'si').verdict, name).toBe('violated')
    }
    expect(formatsOf(numbered.replaceAll('(1,', '(x,'), 'si')).toHaveLength(2)
    const stale = 'initial null\ns1: w(1,1) [1,2]\ns2: r(1,null) [3,4]'
    for (const { text } of formatsOf(stale, 'sser')) {
      expect(check(parseHistory(text), 'sser').verdict).toBe('violated')
    }
  })

  it('does not close a circle of which steps are left out', () => {
    const ring = (length: number) =>
      Array.from({ length }, (_, i) => `s${i}: r(k${i},1) w(k${(i + 1) % length},1)`).join('\n')
    expect(renderHtml(judge(ring(50), 'rc'), assets)).toContain('That is a circle')
    const long = renderHtml(judge(ring(100), 'rc'), assets)
    expect(long).not.toContain('That is a circle')
    expect(long).toContain('The circle goes on')
    expect(long).toContain('Left out to keep this readable: 40 transactions and 41 steps')
  })

  it('shows in the ladder what a verdict implies of other levels', () => {
    const rungs = (html: string) =>
      [...html.matchAll(/<div class="rung (\w+)" title="[^"]*">.*?<b>([\w-]+)<\/b>/g)].map(
        ([, outcome, level]) => `${level} ${outcome}`,
      )
    expect(rungs(renderHtml(judge(CASE_SPLIT, 'si'), assets))).toEqual([
      ...['rc absent', 'ra absent', 'cc absent', 'pc absent'],
      ...['si violated', 'ser violated', 'sser violated'],
    ])
    expect(rungs(renderHtml(judge(CASE_SPLIT, 'cc'), assets)).slice(0, 4)).toEqual([
      ...['rc satisfied', 'ra satisfied', 'cc satisfied', 'pc absent'],
    ])
  })

  it('says which orders a level was judged under, and infers nothing from others', () => {
    const history = parseNotation(
      'initial 0\ns1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]',
    )
    const results = checkLevels(history, ['cc', { level: 'cc', realTime: true }])
    const asked = results.map(({ level }) => level)
    const context = { path: 'timed.txt', format: 'notation', parseMs: 0, asked }
    const verdict = describeVerdict(history, results, context)
    const html = renderHtml(verdict, assets)
    const count = (pattern: RegExp) => html.match(pattern)?.length
    // Once beside the ladder, once in the table; cc itself and what it implies are in the ladder.
    expect(count(/Causal Consistency with real time<\/span>/g)).toBe(2)
    expect(count(/class="rung satisfied"/g)).toBe(3)
    expect(count(/class="rung violated"/g)).toBe(1)
    expect(headline(verdict)).toBe('Causal Consistency with real time: violated')
  })

  it('puts levels into one place of the ladder of which neither implies the other', () => {
    const html = renderHtml(judge(CASE_SPLIT), assets)
    const places = [...html.matchAll(/<li class="row">(.*?)<\/li>/g)].map(([, inside]) =>
      [...inside!.matchAll(/<b>([\w-]+)<\/b>/g)].map(([, level]) => level).join(' '),
    )
    expect(places).toEqual(['ci rc', 'ra', 'cc', 'pc psi', 'si', 'ser', 'sser'])
    expect(renderHtml(judge(CASE_SPLIT, 'psi'), assets)).not.toContain('<li class="row">')
  })

  it('says in a few words what was found', () => {
    expect(headline(judge(CASE_SPLIT))).toBe(
      'Satisfies Parallel Snapshot Isolation, violates Prefix Consistency',
    )
    expect(headline(judge(CASE_SPLIT, 'si'))).toBe('Snapshot Isolation: violated')
    expect(headline(judge('s1: w(x,1)', 'sser'))).toBe('Strict Serializability: unknown')
    expect(headline(judge('s1: w(x,1)', 'ser'))).toBe('Serializability: satisfied')
  })
})
