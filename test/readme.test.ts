// The README shows what commands print today, names every page of docs/, and links to what exists.

import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fillOutputs, looksLike, outputOf, readReadme } from '../scripts/readme.ts'

const ROOT = resolve(import.meta.dirname, '..')
const readme = readReadme()

describe('README.md', () => {
  it('shows what commands print (npm run readme mends it)', () => {
    const { text, commands } = fillOutputs(readme)
    expect(commands.length).toBeGreaterThan(2)
    expect(readme).toBe(text)
  })

  it('would notice what is stale', () => {
    const command = 'check examples/fractured-read.txt --level ra'
    expect(outputOf(readme, command)).toContain('violated')
    const stale = readme.replace('  ra    violated', '  ra    satisfied')
    expect(fillOutputs(stale).text).toBe(readme)
    expect(outputOf(readme, 'check nothing')).toBeNull()
  })

  it('takes an output for another where only numbers and left out lines differ', () => {
    expect(looksLike('a 12\nb\nc\nd 3\n', 'a 7\n…\nd 1\n')).toBe(true)
    expect(looksLike('a 12\nb\nc\ne 3\n', 'a 7\n…\nd 1\n')).toBe(false)
    expect(looksLike('a 12\nb\nc\n', 'a 7\n')).toBe(false)
  })

  it('links to every page of docs', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
    expect(pages.length).toBeGreaterThan(10)
    expect(pages.filter((page) => !readme.includes(`(docs/${page}`))).toEqual([])
  })

  it('links to what is there', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map((match) => match[1]!)
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter((link) => !existsSync(join(ROOT, link)))).toEqual([])
  })
})
