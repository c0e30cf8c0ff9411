// The documentation as pages of the site: links and anchors lead somewhere, nothing stands in a
// page that the content policy forbids, and the search finds what is there, without asking
// anybody.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findSections } from '../../../src/web/site/search.ts'
import { executable, onSite } from './site.ts'

const PAGES = fileURLToPath(new URL('../../../dist/site/docs/', import.meta.url))
const SOURCES = fileURLToPath(new URL('../../../docs/', import.meta.url))
const files = readdirSync(PAGES).filter((name) => name.endsWith('.html'))
const read = (name: string) => readFileSync(PAGES + name, 'utf8')

const { exports: doors } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { exports: Record<string, { types?: string }> }
/** The modules that programs import, with the page and the declarations of each. */
const modules = Object.entries(doors).flatMap(([door, { types }]) => {
  const name = door.replace('./', 'isobar/').replace(/^\.$/, 'isobar')
  return types ? [{ name, page: `api-${name.replace('/', '-')}.html`, types }] : []
})

describe('the documentation', () => {
  it('has a page for every file of docs, and for every module', () => {
    const sources = readdirSync(SOURCES).filter((name) => name.endsWith('.md'))
    expect(modules.length).toBeGreaterThan(4)
    expect(files.sort()).toEqual(
      [
        ...sources.map((name) => name.replace('.md', '.html')),
        ...modules.map(({ page }) => page),
        'index.html',
      ].sort(),
    )
  })

  it.each(modules)('tells of every export of $name', ({ page, types }) => {
    const text = readFileSync(new URL(`../../../${types}`, import.meta.url), 'utf8')
    const lists = [...text.matchAll(/^export (?:type )?\{ (.*?) \}/gm)].map((match) => match[1]!)
    const names = lists
      .flatMap((list) => list.split(', '))
      .map((each) => each.split(' as ').at(-1)!)
    expect(names.length).toBeGreaterThan(0)
    const told = [...read(page).matchAll(/<h3 id="[^"]+">([^<]+)<\/h3>/g)].map((match) => match[1])
    expect(told.sort()).toEqual(names.sort())
  })

  it('tells what a function takes, returns and throws, with links and an example', () => {
    const text = read('api-isobar.html')
    const check = text.slice(text.indexOf('<h3 id="check">'), text.indexOf('<h3 id="checksync">'))
    expect(check).toContain('options?: CheckOptions,\n): Promise&lt;CheckResult&gt;')
    expect(check).toContain('Judges a history at one level')
    expect(check).toContain('<a href="./api-isobar.html#checkoptions">')
    expect(check).toContain('Example:')
    const race = read('api-isobar-race.html')
    expect(race).toContain('<a href="./api-isobar.html#levelword"><code>LevelWord</code></a>')
    expect(race).toContain('Throws UsageError')
  })

  it.each(files)('has only links that lead somewhere, and no script inside: %s', (name) => {
    const text = read(name)
    const links = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1]!)
    expect(links.length).toBeGreaterThan(10)
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false
      const [path, anchor] = link.split('#')
      const file = path === '' ? name : path!.replace(/^\.\//, '')
      if (!existsSync(PAGES + file)) return true
      if (!anchor || file.startsWith('..')) return false
      return !read(file).includes(` id="${anchor}"`)
    })
    expect(broken).toEqual([])
    const levels = [...text.matchAll(/<h(\d)/g)].map((match) => Number(match[1]))
    expect(levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)).toEqual([])
    expect(text).not.toMatch(/<script(?! type="module" src=)|<style| style=| on\w+="/)
  })
})

describe('findSections', () => {
  const section = (title: string, text: string) => ({ page: 'p', title, href: '#', text })
  const SECTIONS = [
    section('Other', 'budgets, now and then'),
    section('Budgets', 'time and memory'),
    section('Third', 'nothing of it'),
  ]
  const titles = (query: string) => findSections(SECTIONS, query).map((each) => each.section.title)

  it('finds all words, headings first', () => {
    expect(titles('budgets')).toEqual(['Budgets', 'Other'])
    expect(titles('BUDGETS  memory')).toEqual(['Budgets'])
    expect(titles('budgets missing')).toEqual([])
    expect(titles('  ')).toEqual([])
  })

  it('shows the text around the first word', () => {
    const [found] = findSections(
      [section('t', `${'a '.repeat(200)}needle${' b'.repeat(200)}`)],
      'needle',
    )
    expect(found!.excerpt).toMatch(/^… a .*needle b.* …$/)
  })
})

const stage = onSite()

describe.skipIf(executable === null)('the site below another folder', { timeout: 60_000 }, () => {
  it('works there: paths are relative', async () => {
    const root = fileURLToPath(new URL('../../../dist/site/', import.meta.url))
    const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' } as const
    const page = await stage.site.open('docs/index.html')
    // As if some server had the site at this address, and nothing beside it.
    await page.context().route('**/some/where/**', (route) => {
      const { pathname } = new URL(route.request().url())
      const path = root + pathname.slice('/some/where/'.length)
      const type = types[path.split('..').at(-1) as keyof typeof types]
      return route.fulfill({ path, ...(type && { contentType: type }) })
    })
    for (const [path, ready] of [
      ['index.html', '#result .finding'],
      ['learn.html', '#topic-more .finding'],
      ['differ.html#rc,ra', '.difference .finding'],
      ['docs/levels.html', '.document h1'],
    ]) {
      await page.goto(`${stage.site.address}some/where/${path}`)
      await page.locator(ready!).first().waitFor()
    }
    await page.close()
  })
})

describe.skipIf(executable === null)('the search in a browser', { timeout: 60_000 }, () => {
  it('finds a section as one types, and goes there', async () => {
    const page = await stage.site.open('docs/index.html')
    // Typing waits for nothing: keys pressed before the search is there are lost.
    await page.locator('#search').click()
    await page.locator('#search').pressSequentially('audits')
    await page.locator('#found a', { hasText: 'Audits' }).first().click()
    await page.waitForURL(/history-format\.html#audits$/)
    expect(await page.locator('#audits').isVisible()).toBe(true)
    await page.close()
  })

  it('finds an export by its name, and says which module has it', async () => {
    const page = await stage.site.open('docs/index.html')
    await page.locator('#search').fill('parseHistory')
    await page.locator('#found a', { hasText: 'Reference: isobar: parseHistory' }).first().click()
    await page.waitForURL(/api-isobar\.html#parsehistory$/)
    await page.locator('h3#parsehistory').waitFor()
    await page.close()
  })

  it('shows markup that is searched for as it is', async () => {
    const page = await stage.site.open('docs/index.html')
    await page.locator('#search').fill('<img src=x onerror=alert(1)>')
    await page.locator('#count', { hasText: 'Nothing found' }).waitFor()
    await page.close()
  })
})
