// "Which single edit makes this satisfied?": a button for the level that is violated, and the
// edits that were found, each to be made with a click and taken back with Ctrl-Z. Main class:
// MendingView.

import { CHAIN, type LevelId, levelName } from '../../levels/levels.ts'
import type { CheckWorker } from './check-worker.ts'
import type { Checked, Mending } from './protocol.ts'
import type { Edit } from './single-edits.ts'

export class MendingView {
  private readonly button = document.createElement('button')
  private readonly choice = document.createElement('select')
  private readonly found = document.createElement('div')
  /** The text that was judged; the edits are edits of it. */
  private text = ''

  /** @param make makes an edit in the editor */
  constructor(
    private readonly root: HTMLElement,
    private readonly checker: CheckWorker,
    private readonly make: (edit: Edit) => void,
  ) {
    const { button, choice, found } = this
    button.type = 'button'
    button.textContent = 'Which single edit satisfies it?'
    button.addEventListener('click', () => this.look())
    choice.setAttribute('aria-label', 'The level to satisfy')
    found.setAttribute('role', 'status')
    const bar = document.createElement('div')
    bar.className = 'bar'
    bar.append(button, choice)
    root.append(bar, found)
  }

  hide(): void {
    this.root.hidden = true
  }

  /** @param text what was judged; null if it was no text that can be edited here */
  offer(text: string | null, { outcomes, format }: Checked): void {
    const violated = outcomes.filter(([, outcome]) => outcome === 'violated').map(([id]) => id)
    this.root.hidden = text === null || format !== 'notation' || violated.length === 0
    if (text === null || this.root.hidden) return
    this.text = text
    this.found.replaceChildren()
    const weakest = CHAIN.find((level) => violated.includes(level)) ?? violated[0]
    this.choice.replaceChildren(...violated.map((level) => option(level, level === weakest)))
  }

  private async look(): Promise<void> {
    const level = this.choice.value
    this.found.textContent = 'Looking …'
    const answer = await this.checker.ask({ kind: 'mending', text: this.text, level })
    if (answer === null) return
    if (answer.kind === 'mending') this.show(answer)
    else this.found.textContent = answer.kind === 'failed' ? answer.message : ''
  }

  private show({ level, edits, tried, count }: Mending): void {
    const so = tried < count ? `; ${count - tried} were not tried` : ''
    const said = document.createElement('p')
    said.textContent =
      edits.length === 0
        ? `No single edit makes ${level} hold (${tried} tried${so}).`
        : `${edits.length} of ${tried} edits make ${level} hold${so}. A click makes one, Ctrl-Z takes it back.`
    const list = document.createElement('ul')
    list.className = 'edits'
    for (const edit of edits) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = edit.words
      button.addEventListener('click', () => this.make(edit))
      const item = document.createElement('li')
      item.append(button)
      list.append(item)
    }
    this.found.replaceChildren(said, list)
  }
}

function option(level: LevelId, isSelected: boolean): HTMLOptionElement {
  return new Option(`${level} (${levelName(level)})`, level, isSelected, isSelected)
}
