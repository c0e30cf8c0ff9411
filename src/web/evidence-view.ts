// One argument in the page: the story and the two pictures as one thing. Pointing at a step in any
// of them, or focusing it, lights it in all and says why it holds; opening it in one opens it in
// all. The pictures are drawn anew from the figure, with the same code that drew the file.

import { addAll } from '../base/grow.ts'
import type { Figure, Step } from '../report/picture/figure.ts'
import { renderGraph } from '../report/picture/graph-svg.ts'
import { renderLanes } from '../report/picture/lanes-svg.ts'
import {
  findBranch,
  findLeaves,
  findSteps,
  firstView,
  type View,
} from '../report/picture/visible.ts'
import { Zoom } from './zoom.ts'

const DRAW = { interactive: true }

export class EvidenceView {
  private view: View
  private readonly steps = new Map<string, Step>()
  private readonly canvases: HTMLElement[]
  private readonly zooms: Zoom[]
  private readonly explain: HTMLElement
  private readonly hint: string
  /** The step that stays lit when nothing is pointed at. */
  private pinned: string | null = null
  /** Where a replay is. */
  private current: [txn: number, op: number | null] = [-1, null]

  constructor(
    private readonly root: HTMLElement,
    private readonly figure: Figure,
  ) {
    this.view = firstView(figure)
    this.canvases = [...root.querySelectorAll<HTMLElement>('.canvas')]
    this.zooms = this.canvases.map((canvas) => new Zoom(canvas))
    this.explain = root.querySelector<HTMLElement>('.explain')!
    this.hint = this.explain.textContent ?? ''
    const pending = findSteps(figure)
    for (const step of pending) {
      this.steps.set(step.id, step)
      addAll(pending, step.premises)
    }
  }

  listen(): void {
    for (const name of ['mouseover', 'focusin', 'mouseout', 'focusout']) {
      const enters = name === 'mouseover' || name === 'focusin'
      this.root.addEventListener(name, (event) => {
        const id = stepAt(event.target)
        if (id !== null) this.light(enters ? id : this.pinned)
      })
    }
    this.root.addEventListener('click', (event) => this.click(event.target as Element))
    this.root.addEventListener('keydown', (event) => {
      const arrow = (event.target as Element).closest<SVGElement>('g.arrow')
      if (!arrow || (event.key !== 'Enter' && event.key !== ' ')) return
      event.preventDefault()
      this.openArrow(arrow)
    })
    // Folding does not bubble, so it is caught on its way down.
    this.root.addEventListener('toggle', (event) => this.fold(event.target as Element), true)
  }

  private click(target: Element): void {
    const arrow = target.closest<SVGElement>('g.arrow')
    if (arrow) return this.openArrow(arrow)
    const step = target.closest<HTMLElement>('button.step')
    if (step) return this.pin(step.dataset['step']!)
    const branch = target.closest<HTMLElement>('[data-case]')
    if (branch) return this.showCase(branch.dataset['case']!)
    const walk = target.closest<HTMLElement>('[data-walk]')
    if (walk) this.walk(Number(walk.dataset['walk']))
  }

  /** Opens or closes the reasons of an arrow, in the story too. */
  private openArrow(arrow: SVGElement): void {
    const id = arrow.dataset['step']!
    if (this.steps.get(id)?.premises.length === 0) return
    this.setOpen(id, !this.view.open.has(id))
    const details = this.root.querySelector<HTMLDetailsElement>(`details[data-step="${id}"]`)
    if (details) details.open = this.view.open.has(id)
  }

  private fold(target: Element): void {
    if (!(target instanceof HTMLDetailsElement)) return
    const id = target.dataset['step']
    if (id !== undefined && this.view.open.has(id) !== target.open) this.setOpen(id, target.open)
  }

  private setOpen(id: string, isOpen: boolean): void {
    const others = [...this.view.open].filter((each) => each !== id)
    this.view = { ...this.view, open: new Set(isOpen ? [...others, id] : others) }
    this.draw()
  }

  private pin(id: string): void {
    this.pinned = this.pinned === id ? null : id
    for (const button of this.root.querySelectorAll('button.step')) {
      const isPinned = button.getAttribute('data-step') === this.pinned
      button.setAttribute('aria-pressed', String(isPinned))
    }
    const branch = findBranch(this.figure, id)
    if (branch && branch.steps.length > 0 && branch.id !== this.view.branch)
      this.showCase(branch.id)
    this.light(id)
  }

  private walk(by: number): void {
    const leaves = findLeaves(this.figure)
    const now = leaves.findIndex((leaf) => leaf.id === this.view.branch)
    this.showCase(leaves[(now + by + leaves.length) % leaves.length]!.id)
  }

  private showCase(id: string): void {
    this.view = { ...this.view, branch: id }
    this.draw()
    const leaves = findLeaves(this.figure)
    const position = leaves.findIndex((leaf) => leaf.id === id) + 1
    for (const button of this.root.querySelectorAll('[data-case]')) {
      button.setAttribute('aria-pressed', String(button.getAttribute('data-case') === id))
    }
    const words = this.root.querySelector('.position')
    if (words) words.textContent = `Case ${position} of ${leaves.length}`
  }

  /** Draws both pictures anew; what had the focus keeps it. */
  private draw(): void {
    const focused = document.activeElement?.closest<SVGElement>('g.arrow')
    const where = focused?.closest<HTMLElement>('.canvas')?.dataset['view']
    const id = focused?.dataset['step']
    for (const canvas of this.canvases) {
      const render = canvas.dataset['view'] === 'graph' ? renderGraph : renderLanes
      canvas.innerHTML = render(this.figure, this.view, DRAW)
    }
    for (const zoom of this.zooms) zoom.apply()
    this.showOp(...this.current)
    const again = `.canvas[data-view="${where}"] g.arrow[data-steps~="${id}"]`
    if (where && id) this.root.querySelector<SVGElement>(again)?.focus()
    else this.light(this.pinned)
  }

  /** Lights a step wherever it is shown, and says why it holds; null lights nothing. */
  private light(id: string | null): void {
    for (const lit of this.root.querySelectorAll('.lit')) lit.classList.remove('lit')
    for (const canvas of this.canvases) canvas.classList.toggle('faded', id !== null)
    const step = id === null ? undefined : this.steps.get(id)
    if (id === null || !step) {
      this.explain.textContent = this.hint
      return
    }
    const add = (selector: string) => {
      for (const found of this.root.querySelectorAll(selector)) found.classList.add('lit')
    }
    const arrow = this.root.querySelector<SVGElement>(`g.arrow[data-steps~="${id}"]`)
    for (const same of (arrow?.dataset['steps'] ?? id).split(' ')) {
      add(`g.arrow[data-steps~="${same}"]`)
      add(`button.step[data-step="${same}"]`)
    }
    for (const [txn, op] of step.ops) add(`[data-op="${txn}:${op}"]`)
    for (const node of [step.from, step.to]) if (node >= 0) add(`[data-txn="${node}"]`)
    const name = (node: number) => this.figure.txns[node]?.name ?? 'the initial state'
    this.explain.textContent = `${name(step.from)} → ${name(step.to)} (${step.label}): ${step.because}.`
  }

  /** Shows the operation that a replay has come to; null for the transaction as a whole. */
  showOp(txn: number, op: number | null): void {
    for (const now of this.root.querySelectorAll('.now')) now.classList.remove('now')
    const line = op === null ? undefined : this.figure.txns[txn]?.lines[op]
    const selector = op === null ? `.txn[data-txn="${txn}"]` : `[data-op="${txn}:${line}"]`
    this.root.querySelector(`svg.lanes ${selector}`)?.classList.add('now')
    this.current = [txn, op]
  }
}

function stepAt(target: EventTarget | null): string | null {
  if (!(target instanceof Element)) return null
  const holder = target.closest('g.arrow, button.step')
  return holder?.getAttribute('data-step') ?? null
}
