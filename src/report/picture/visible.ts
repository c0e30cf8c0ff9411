// Which arrows a picture shows: the steps of the cycle, the reasons of those that are opened, and
// in a case split the assumptions on the way to the case that is looked at. Steps that are the same
// arrow are drawn once. Main function: findArrows.

import type { Branch, Figure, Step } from './figure.ts'

export interface View {
  /** Ids of steps whose reasons are shown. */
  open: ReadonlySet<string>
  /** Id of the case looked at; null without a case split. */
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
  const leaves: Branch[] = []
  const pending = [...figure.branches].reverse()
  for (let branch = pending.pop(); branch; branch = pending.pop()) {
    if (branch.branches.length === 0) leaves.push(branch)
    else pending.push(...[...branch.branches].reverse())
  }
  return leaves
}

/** The cases from the outermost to the one named. */
export function findTrail(figure: Figure, id: string | null): Branch[] {
  const trail: Branch[] = []
  let level = figure.branches
  while (id !== null) {
    const next: Branch | undefined = level.find(
      (branch) => id === branch.id || id.startsWith(`${branch.id}.`),
    )
    if (!next) break
    trail.push(next)
    level = next.branches
  }
  return trail
}

export function findArrows(figure: Figure, view: View): Arrow[] {
  const arrows = new Map<string, Arrow>()
  const trail = findTrail(figure, view.branch)
  const shown = [...figure.steps, ...trail.flatMap((branch) => branch.steps)]
  const roots = new Set(shown)
  const pending = [...shown, ...trail.map((branch) => branch.assumption)]
  for (const step of pending) {
    const isOpen = view.open.has(step.id)
    if (isOpen) pending.push(...step.premises)
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
