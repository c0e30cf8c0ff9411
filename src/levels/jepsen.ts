// Jepsen's names of consistency models, and what they are here. Jepsen's models do not include
// session order unless their names say so ("strong session"), our levels do; its read committed is
// Adya's PL-2, which is weaker than ours. Its monotonic atomic view is our read committed without
// session order: both ask for an order of versions that contains reads-from, in which nobody who
// has seen a transaction then reads a version that this one replaced.

import { implies, type LevelId } from './levels.ts'

export interface JepsenModel {
  readonly name: string
  readonly level: LevelId
  readonly sessionOrder: boolean
}

/** Weakest first; see weakerModels. */
const MODELS = [
  { name: 'read-committed', level: 'pl-2', sessionOrder: false },
  { name: 'monotonic-atomic-view', level: 'rc', sessionOrder: false },
  { name: 'read-atomic', level: 'ra', sessionOrder: false },
  { name: 'causal', level: 'cc', sessionOrder: false },
  { name: 'prefix', level: 'pc', sessionOrder: false },
  { name: 'snapshot-isolation', level: 'si', sessionOrder: false },
  { name: 'serializable', level: 'ser', sessionOrder: false },
  { name: 'strong-session-snapshot-isolation', level: 'si', sessionOrder: true },
  { name: 'strong-session-serializable', level: 'ser', sessionOrder: true },
  { name: 'strict-serializable', level: 'sser', sessionOrder: true },
] as const satisfies readonly JepsenModel[]

export const JEPSEN_MODELS: readonly JepsenModel[] = MODELS
export type JepsenName = (typeof MODELS)[number]['name']

/** Other words for the same. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'strong-serializable': 'strict-serializable',
  'pl-si': 'snapshot-isolation',
  'pl-3': 'serializable',
  'pl-ss': 'strict-serializable',
}

export function findJepsenModel(name: string): JepsenModel | null {
  const lower = name.toLowerCase()
  const known = SYNONYMS[lower] ?? lower
  return JEPSEN_MODELS.find((model) => model.name === known) ?? null
}

/** The models that a history satisfies whenever it satisfies this one, weakest first. */
export function weakerModels(model: JepsenModel): JepsenModel[] {
  return JEPSEN_MODELS.filter((other) => {
    if (other === model || (other.sessionOrder && !model.sessionOrder)) return false
    return other.level === 'pl-2' || implies(model.level, other.level)
  })
}
