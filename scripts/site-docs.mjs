// The documentation as pages of the site: docs/*.md and the reference of all exports, rendered by
// markdown-it, with an anchor for every heading and an index for the search. Main function:
// renderDocs.

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import markdownIt from 'markdown-it'
import { describeApi } from './site-api.mjs'

const DOCS = new URL('../docs/', import.meta.url)

/** The first of the list; the others follow by their titles. */
const FIRST = 'site.md'

/**
 * Writes the pages into a folder; each goes through `frame`, which knows the frame of every page.
 * @param {URL} out
 * @param {(page: { title: string, file: string, body: string }) => string} frame
 */
export async function renderDocs(out, frame) {
  mkdirSync(out, { recursive: true })
  const files = readdirSync(DOCS).filter((name) => name.endsWith('.md'))
  const pages = files.map((name) => render(name, readFileSync(new URL(name, DOCS), 'utf8')))
  pages.sort((a, b) => order(a) - order(b) || a.title.localeCompare(b.title))
  const reference = await describeApi(slugOf)
  pages.push(...reference.map(({ name, text }) => render(name, text)))
  const links = pages.map(({ name, title }) => `<li><a href="./${htmlOf(name)}">${title}</a></li>`)
  const list = `<ul>${links.join('')}</ul>`
  for (const { name, title, html } of pages) {
    const here = list.replace(`"./${htmlOf(name)}"`, '$& aria-current="page"')
    const body = `<div class="learn"><nav class="topics" aria-label="Documentation"><p><a href="./index.html">Search</a></p>${here}</nav><article class="lesson document">${html}</article></div>`
    writeFileSync(new URL(htmlOf(name), out), frame({ title, file: htmlOf(name), body }))
  }
  const search = readFileSync(new URL('../src/web/site/docs.html', import.meta.url), 'utf8')
  const body = search.replace('<!-- pages -->', list)
  writeFileSync(
    new URL('index.html', out),
    frame({ title: 'Documentation', file: 'index.html', body }),
  )
  const sections = pages.flatMap(({ sections: found }) => found)
  // A module, not JSON: the content policy lets pages ask for scripts beside them, and nothing else.
  const index = `export const SECTIONS = ${JSON.stringify(sections)}\n`
  writeFileSync(new URL('sections.js', out), index)
  cpSync(new URL('pictures/', DOCS), new URL('pictures/', out), { recursive: true })
  for (const name of readdirSync(DOCS)) {
    if (name.endsWith('.json')) cpSync(new URL(name, DOCS), new URL(name, out))
  }
}

const order = ({ name }) => (name === FIRST ? 0 : 1)
const htmlOf = (name) => name.replace(/\.md$/, '.html')

/** As GitHub makes them, so that links hold there and here. */
function slugOf(text, taken) {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const count = taken.get(slug) ?? 0
  taken.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}

function render(name, text) {
  const md = markdownIt({ html: false })
  const taken = new Map()
  const sections = []
  const tokens = md.parse(text, {})
  let title = name
  let section = null
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const words = textOf(tokens[i + 1])
      const id = slugOf(words, taken)
      token.attrSet('id', id)
      if (token.tag === 'h1') title = words
      section = { page: title, title: words, href: `./${htmlOf(name)}#${id}`, text: '' }
      sections.push(section)
    } else if (section && (token.type === 'inline' || token.type === 'fence')) {
      const isHeading = tokens[i - 1]?.type === 'heading_open'
      if (!isHeading) section.text += `${textOf(token)} `
    }
    if (token.type === 'inline') token.children.forEach(mendLink)
  })
  const { rules } = md.renderer
  let tables = 0
  rules.table_open = () =>
    `<div class="wide" tabindex="0" role="region" aria-label="Table ${++tables}"><table>\n`
  rules.table_close = () => '</table></div>\n'
  // How cells are aligned is for the style sheet: the content policy takes no styles in a page.
  const cell = (all, i) => `<${all[i].tag}${all[i].attrGet('style') ? ' class="number"' : ''}>`
  rules.th_open = cell
  rules.td_open = cell
  rules.fence = (all, i) => `<pre tabindex="0">${md.utils.escapeHtml(all[i].content)}</pre>\n`
  rules.code_block = rules.fence
  rules.image = (all, i) => renderPicture(all[i], md.utils.escapeHtml)
  return {
    name,
    title: md.utils.escapeHtml(title),
    html: md.renderer.render(tokens, md.options, {}),
    sections,
  }
}

/**
 * Where there is little room, drawings scroll, so that their letters stay as large as they are;
 * photographs shrink, and open.
 */
function renderPicture(token, harmless) {
  const src = harmless(token.attrGet('src'))
  const alt = harmless(token.content)
  const image = `<img src="${src}" alt="${alt}">`
  return src.endsWith('.svg')
    ? `<span class="wide drawing" tabindex="0" role="region" aria-label="${alt}">${image}</span>`
    : `<a href="${src}">${image}</a>`
}

/** What a token says, without its marks. */
function textOf(token) {
  return token.children ? token.children.map(({ content }) => content).join('') : token.content
}

/** Pages of docs/ are pages here too; what lies outside of them is named, not linked. */
function mendLink(token) {
  if (token.type !== 'link_open') return
  const href = token.attrGet('href')
  if (/^(https?:|#)/.test(href)) return
  if (href.startsWith('..')) {
    token.attrs = [['title', href.replace(/^(\.\.\/)+/, '')]] // an anchor without an address
    return
  }
  token.attrSet('href', `./${href.replace(/\.md(?=#|$)/, '.html')}`)
}
