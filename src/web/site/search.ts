// Finding sections of the documentation by words: all must be there, and those in headings count
// most. Main function: findSections.

/** A heading of the documentation, and what stands below it. */
export interface DocSection {
  readonly page: string
  readonly title: string
  readonly href: string
  readonly text: string
}

export interface FoundSection {
  readonly section: DocSection
  /** The text around the first word. */
  readonly excerpt: string
}

const MAX_FOUND = 30
const EXCERPT = 160 // characters
const IN_TITLE = 10
const IN_PAGE = 3

export function findSections(sections: readonly DocSection[], query: string): FoundSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const found: { section: DocSection; score: number }[] = []
  for (const section of sections) {
    const [title, page, text] = [section.title, section.page, section.text].map((each) =>
      each.toLowerCase(),
    )
    let score = 0
    const isThere = words.every((word) => {
      const often = text!.split(word).length - 1
      const gain =
        (title!.includes(word) ? IN_TITLE : 0) + (page!.includes(word) ? IN_PAGE : 0) + often
      score += Math.min(gain, IN_TITLE * 2)
      return gain > 0
    })
    if (isThere) found.push({ section, score })
  }
  found.sort((a, b) => b.score - a.score)
  return found.slice(0, MAX_FOUND).map(({ section }) => ({
    section,
    excerpt: excerptOf(section.text, words),
  }))
}

function excerptOf(text: string, words: readonly string[]): string {
  const low = text.toLowerCase()
  const places = words.map((word) => low.indexOf(word)).filter((at) => at >= 0)
  const first = Math.max(0, Math.min(...places, low.length) - EXCERPT / 4)
  const start = places.length === 0 ? 0 : first
  const part = text.slice(start, start + EXCERPT).trim()
  return `${start > 0 ? '… ' : ''}${part}${start + EXCERPT < text.length ? ' …' : ''}`
}
