// The page that shows where two levels differ. The fragment of the address says which levels, and
// what histories are made of. Main class: DifferPage.

import { LEVELS, levelName } from '../../levels/levels.ts'
import { type DifferShape, SHAPES } from '../../pipeline/differ/shapes.ts'
import { CheckWorker } from './check-worker.ts'
import type { DifferenceShown } from './protocol.ts'
import { encodeShared } from './share-link.ts'
import { showView } from './show-view.ts'

const FIRST = ['si', 'ser', 'general']
/** One is sser without session order, the other judges histories of its own kind. */
const APART: readonly string[] = ['lin', 'mixed']

const find = <Kind extends HTMLElement = HTMLElement>(id: string) =>
  document.getElementById(id) as Kind
const CHOICES = ['first', 'second', 'shape'] as const

class DifferPage {
  private readonly checker = new CheckWorker()

  start(): void {
    const levels = LEVELS.filter(({ id }) => !APART.includes(id))
    for (const id of ['first', 'second']) {
      const options = levels.map((level) => new Option(`${level.id} (${level.name})`, level.id))
      find<HTMLSelectElement>(id).append(...options)
    }
    const shapes = Object.entries(SHAPES).map(([id, { about }]) => new Option(about, id))
    find<HTMLSelectElement>('shape').append(...shapes)
    for (const id of CHOICES) find(id).addEventListener('change', () => this.chosen())
    find('cancel').addEventListener('click', () => this.cancel())
    addEventListener('hashchange', () => this.follow())
    this.follow()
  }

  private follow(): void {
    const wanted = location.hash.slice(1).split(',')
    CHOICES.forEach((id, i) => {
      const select = find<HTMLSelectElement>(id)
      select.value = wanted[i] ?? ''
      if (select.selectedIndex < 0) select.value = FIRST[i]!
    })
    void this.look()
  }

  private chosen(): void {
    const words = CHOICES.map((id) => find<HTMLSelectElement>(id).value)
    history.replaceState(null, '', `#${words.join(',')}`)
    void this.look()
  }

  private async look(): Promise<void> {
    const [a, b, shape] = CHOICES.map((id) => find<HTMLSelectElement>(id).value)
    find('problem').hidden = true
    find('status').textContent = ''
    find('differences').replaceChildren()
    find('busy').hidden = false
    find('phase').textContent = 'looking'
    const request = { kind: 'differ', a: a!, b: b!, shape: shape as DifferShape } as const
    const answer = await this.checker.ask(request, ({ words }) => {
      find('phase').textContent = words
    })
    if (answer === null) return
    find('busy').hidden = true
    if (answer.kind === 'failed') {
      find('problem').textContent = `${answer.message}${answer.hint ? ` (${answer.hint})` : ''}`
      find('problem').hidden = false
    } else if (answer.kind === 'differences') {
      for (const each of answer.found) await this.show(each)
      find('status').textContent = answer.found.map(headingOf).join('. ')
    }
  }

  private cancel(): void {
    this.checker.cancel()
    find('busy').hidden = true
    find('status').textContent = 'Stopped.'
  }

  private async show(difference: DifferenceShown): Promise<void> {
    const { text, view, judged } = difference
    const section = document.createElement('section')
    section.className = 'difference'
    const heading = document.createElement('h2')
    heading.textContent = headingOf(difference)
    section.append(heading)
    find('differences').append(section)
    if (text === null || view === null) {
      const said = document.createElement('p')
      said.textContent = whyNone(difference)
      section.append(said)
      return
    }
    const shown = document.createElement('pre')
    shown.textContent = text
    const said = document.createElement('p')
    said.textContent = `The first of ${judged} that were judged. `
    const fragment = await encodeShared({ text, levels: null })
    if (fragment !== null) {
      const link = document.createElement('a')
      link.href = `./index.html#${fragment}`
      link.textContent = 'Open it in the editor'
      said.append(link)
    }
    const story = document.createElement('div')
    section.append(shown, said, story)
    await showView(story, view, ['findings'])
  }
}

function headingOf({ allowedBy, forbiddenBy, text }: DifferenceShown): string {
  const claim = `${levelName(allowedBy)} allows, ${levelName(forbiddenBy)} forbids`
  return text === null ? `${claim}: nothing` : claim
}

function whyNone({ allowedBy, forbiddenBy, isImplied, searched }: DifferenceShown): string {
  if (isImplied) return `Whatever ${allowedBy} allows, ${forbiddenBy} allows too.`
  return `There is none of up to ${searched} operations.`
}

find('starting').hidden = true
find('tool').hidden = false
new DifferPage().start()
