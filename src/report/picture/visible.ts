// Which arrows a picture shows: the steps of the cycle, the reasons of those that are opened, and
// with cases the assumptions of the one that is looked at. Steps that are the same
// arrow are drawn once. Main function: findArrows.

import { addAll } from '../../base/grow.ts'
import type { Branch, Figure, Step } from './figure.ts'

export interface View {
  /** Ids of steps whose reasons are shown. */
  open: ReadonlySet<string>
  /** Id of the case looked at; null without cases. */
  branch: string | null
}

export interface Arrow {
  step: Step
  /** Ids of all steps that this arrow stands for. */
  ids: string[]
  /** Opened: its reasons are shown, and it is their conclusion. */
  isOpen: boolean
  /** Shown as a reason of another step. */
  isReason: boolean
}

/** The first view: nothing opened, the first case. */
export function firstView(figure: Figure): View {
  return { open: new Set(), branch: findLeaves(figure)[0]?.id ?? null }
}

/** The cases that end in a cycle, in reading order. */
export function findLeaves(figure: Figure): Branch[] {
  return figure.branches.filter(({ steps }) => steps.length > 0)
}

/** The case named, or the one that a step belongs to. */
export function findBranch(figure: Figure, id: string | null): Branch | null {
  return figure.branches.find((branch) => branch.id === id?.split('.')[0]) ?? null
}

/** Every step of the figure but for reasons. */
export function findSteps({ steps, branches }: Figure): Step[] {
  return [...steps, ...branches.flatMap((branch) => [...branch.assumptions, ...branch.steps])]
}

export function findArrows(figure: Figure, view: View): Arrow[] {
  const arrows = new Map<string, Arrow>()
  const branch = findBranch(figure, view.branch)
  const shown = [...figure.steps, ...(branch?.steps ?? [])]
  const roots = new Set(shown)
  const pending = [...shown, ...(branch?.assumptions ?? [])]
  for (const step of pending) {
    const isOpen = view.open.has(step.id)
    if (isOpen) addAll(pending, step.premises)
    const name = [step.from, step.to, step.kind, step.label, step.assumed].join('\u0000')
    const same = arrows.get(name)
    if (!same) {
      const isReason = !roots.has(step)
      arrows.set(name, { step, ids: [step.id], isOpen, isReason })
      continue
    }
    same.ids.push(step.id)
    same.isOpen ||= isOpen
    same.isReason &&= !roots.has(step)
    // Where one of them can be opened, that is the one to stand for all.
    if (same.step.premises.length === 0 && step.premises.length > 0) same.step = step
  }
  return [...arrows.values()]
}
