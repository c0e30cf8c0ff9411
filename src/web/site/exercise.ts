// An exercise in the page: an editor, what is to be reached, and how far one is, judged as one
// types. Main class: ExerciseView.

import { EXERCISES, type Exercise } from '../../levels/exercises.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { CheckWorker } from './check-worker.ts'
import { HistoryEditor } from './editor.ts'
import { findBreach } from './exercise-rules.ts'
import type { Checked } from './protocol.ts'
import { showView } from './show-view.ts'

const TYPING_MS = 150

const MARKUP = `
<h2>Exercise</h2>
<p class="task"></p>
<p class="hint rule"></p>
<div class="exercise-editor"></div>
<ul class="goals" aria-live="polite"></ul>
<p class="bar"><button type="button" class="again">Start again</button> <button type="button" class="solve">Show a solution</button></p>
<section class="result" aria-label="What the history shows now" hidden></section>`

export class ExerciseView {
  private readonly editor: HistoryEditor
  private typing: ReturnType<typeof setTimeout> | undefined
  private readonly exercise: Exercise

  constructor(
    private readonly root: HTMLElement,
    level: LevelId,
    private readonly checker: CheckWorker,
  ) {
    this.exercise = EXERCISES.find((exercise) => exercise.level === level)!
    root.innerHTML = MARKUP // ours; the texts come below
    const { task, start, solution, change } = this.exercise
    this.find('.task').textContent = task
    this.find('.rule').textContent =
      change === 'value'
        ? 'You may change the value of one read. Ctrl-Z takes back.'
        : 'You may move operations, and change none. Ctrl-Z takes back.'
    this.editor = new HistoryEditor(this.find('.exercise-editor'), {
      text: `${start}\n`,
      label: `Exercise: ${task}`,
      onChange: () => {
        clearTimeout(this.typing)
        this.typing = setTimeout(() => this.judge(), TYPING_MS)
      },
    })
    this.find('.again').addEventListener('click', () => this.editor.replace(`${start}\n`))
    this.find('.solve').addEventListener('click', () => this.editor.replace(`${solution}\n`))
    void this.judge()
  }

  private find(selector: string): HTMLElement {
    return this.root.querySelector<HTMLElement>(selector)!
  }

  private async judge(): Promise<void> {
    const { level: breaks, holds } = this.exercise
    const { text } = this.editor
    const source = { kind: 'text', name: 'exercise', text } as const
    const answer = await this.checker.ask({ kind: 'check', source, levels: [holds, breaks] })
    if (answer === null || !this.root.isConnected) return
    this.editor.mark(answer.kind === 'failed' ? answer : null)
    if (answer.kind === 'checked') return this.show(answer, findBreach(this.exercise, text))
    this.find('.result').hidden = true
    const words = answer.kind === 'failed' ? answer.message : ''
    this.find('.goals').replaceChildren(goal(false, words))
  }

  private async show({ view, outcomes }: Checked, breach: string | null): Promise<void> {
    const { level: breaks, holds } = this.exercise
    const outcome = new Map(outcomes)
    const isBroken = outcome.get(breaks) === 'violated'
    const isHeld = outcome.get(holds) === 'satisfied'
    const isSolved = isBroken && isHeld && breach === null
    this.find('.goals').replaceChildren(
      goal(isBroken, `${breaks} is ${isBroken ? 'broken' : 'to be broken: it still holds'}`),
      goal(isHeld, `${holds} ${isHeld ? 'holds' : 'must hold: it is broken'}`),
      goal(breach === null, breach ?? 'only what may change has changed'),
      ...(isSolved ? [goal(true, 'Solved. Below is why.')] : []),
    )
    this.root.dataset['solved'] = String(isSolved)
    const result = this.find('.result')
    result.hidden = view.findings === ''
    await showView(result, view, ['findings'])
  }
}

function goal(isReached: boolean, words: string): HTMLElement {
  const item = document.createElement('li')
  item.className = isReached ? 'satisfied' : 'violated'
  const sign = document.createElement('span')
  sign.className = 'sign'
  sign.textContent = isReached ? '✓ ' : '✗ '
  item.append(sign, words)
  return item
}
