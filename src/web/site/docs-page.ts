// The search of the documentation: what is typed is looked for in an index that lies beside the
// pages. Nobody is asked.

import { type DocSection, findSections } from './search.ts'

const find = (id: string) => document.getElementById(id)!

async function start(): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('#search')
  if (!input) return
  const place = new URL('../docs/sections.js', import.meta.url).href
  const { SECTIONS } = (await import(place)) as { SECTIONS: readonly DocSection[] }
  const show = () => {
    const found = findSections(SECTIONS, input.value)
    find('found').replaceChildren(
      ...found.map(({ section, excerpt }) => {
        const link = document.createElement('a')
        link.href = section.href
        link.textContent =
          section.title === section.page ? section.page : `${section.page}: ${section.title}`
        const words = document.createElement('span')
        words.className = 'excerpt'
        words.textContent = excerpt
        const item = document.createElement('li')
        item.append(link, document.createElement('br'), words)
        return item
      }),
    )
    find('count').textContent =
      input.value.trim() === '' ? '' : `${found.length === 0 ? 'Nothing' : found.length} found`
  }
  input.addEventListener('input', show)
  find('tool').hidden = false
  show()
}

void start()
