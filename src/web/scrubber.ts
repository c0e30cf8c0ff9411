// The slider of a replay: at each step what every transaction has seen and written so far, and what
// is committed. Moves by slider, by buttons and by keys; the operation lights up in the lanes. Main
// class: Scrubber.

import type { Replay, TxnState } from '../report/replay.ts'

const STATES: Record<TxnState, string> = {
  waiting: 'not begun',
  running: 'running',
  committed: 'committed',
  aborted: 'aborted',
  unknown: 'outcome unknown',
}

export class Scrubber {
  private step = 0 // how many steps have been taken
  private readonly slider = document.createElement('input')
  private readonly now = document.createElement('p')
  private readonly table = document.createElement('tbody')
  private readonly committed = document.createElement('p')
  private readonly items: NodeListOf<HTMLElement>

  /** @param light shows which operation of which transaction a step is about */
  constructor(
    root: HTMLElement,
    private readonly replay: Replay,
    private readonly light: (txn: number, op: number | null) => void,
  ) {
    this.items = root.querySelectorAll('.replay-steps li')
    const list = root.querySelector<HTMLDetailsElement>('.replay-steps')!
    list.open = false
    list.before(this.build())
    this.show(0)
  }

  private build(): HTMLElement {
    const { slider, now, committed } = this
    const frame = document.createElement('div')
    frame.className = 'scrubber'
    slider.type = 'range'
    slider.min = '0'
    slider.max = String(this.replay.steps.length)
    slider.value = '0'
    slider.setAttribute('aria-label', 'Step of the replay')
    slider.addEventListener('input', () => this.show(Number(slider.value)))
    const controls = document.createElement('div')
    controls.className = 'scrub-controls'
    const add = (text: string, by: number) => {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = text
      button.addEventListener('click', () => this.show(this.step + by))
      controls.append(button)
    }
    add('◂ Back', -1)
    controls.append(slider)
    add('Next ▸', 1)
    now.className = 'scrub-now'
    now.setAttribute('aria-live', 'polite')
    const table = document.createElement('table')
    table.innerHTML =
      '<thead><tr><th scope="col">transaction</th><th scope="col">state</th><th scope="col">has seen</th><th scope="col">has written</th></tr></thead>'
    table.append(this.table)
    const wide = document.createElement('div')
    wide.className = 'wide'
    wide.tabIndex = 0
    wide.setAttribute('role', 'region')
    wide.setAttribute('aria-label', 'Transactions at this step')
    wide.append(table)
    committed.className = 'scrub-committed'
    frame.append(controls, now, wide, committed)
    return frame
  }

  private show(step: number): void {
    const { steps, txns, keys, initial } = this.replay
    this.step = Math.min(steps.length, Math.max(0, step))
    const held = [...initial]
    const state = txns.map((): TxnState => 'waiting')
    const saw = txns.map((): string[] => [])
    const wrote = txns.map((): string[] => [])
    const changed = new Set<number>()
    steps.slice(0, this.step).forEach((each, i) => {
      state[each.txn] = each.state
      if (each.saw !== null) saw[each.txn]!.push(each.saw)
      if (each.wrote !== null) wrote[each.txn]!.push(each.wrote)
      for (const [key, text] of each.committed) {
        held[key] = text
        if (i === this.step - 1) changed.add(key)
      }
    })
    const current = steps[this.step - 1]
    const note = current?.note ? ` (${current.note})` : ''
    const words = current ? `${current.text}${note}.` : 'Nothing has happened yet.'
    this.now.textContent = `Step ${this.step} of ${steps.length}: ${words}`
    this.slider.value = String(this.step)
    this.slider.setAttribute('aria-valuetext', `step ${this.step}: ${words}`)
    this.table.replaceChildren(
      ...txns.map((name, txn) => {
        const row = document.createElement('tr')
        if (current?.txn === txn) row.className = 'now'
        const cells = [STATES[state[txn]!], saw[txn]!.join(', '), wrote[txn]!.join(', ')]
        const head = document.createElement('th')
        head.scope = 'row'
        head.textContent = name
        row.append(head, ...cells.map(cell))
        return row
      }),
    )
    this.committed.replaceChildren(
      'Committed: ',
      ...keys.flatMap((_, key) => {
        const mark = document.createElement(changed.has(key) ? 'mark' : 'span')
        mark.textContent = held[key]!
        return key === 0 ? [mark] : [', ', mark]
      }),
    )
    this.items.forEach((item, i) => {
      item.classList.toggle('now', i === this.step - 1)
    })
    this.light(current?.txn ?? -1, current?.op ?? null)
  }
}

function cell(text: string): HTMLTableCellElement {
  const made = document.createElement('td')
  made.textContent = text
  return made
}
