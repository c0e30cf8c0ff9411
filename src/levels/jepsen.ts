// Jepsen's names of consistency models, and what they are here. Jepsen's models do not include
// session order unless their names say so ("strong session"), our levels do. The models that Elle
// takes from Adya are levels of their own (pl-1 … pl-2.99), each weaker than the level of ours with
// a similar name. Its monotonic atomic view is our read committed without session order: both ask
// for an order of versions that contains reads-from, in which nobody who has seen a transaction
// then reads a version that this one replaced. Forward consistent view is consistent view as far as
// a client can tell: it adds an order of starts that only the database knows, and if all started
// before any committed, that says nothing. Monotonic snapshot reads are monotonic view in the same
// way. Causal consistency is Jepsen's, whose processes read their own writes, and Cerone's, which
// knows no sessions. Elle's models of single objects say nothing of transactions: whoever asks for
// one is told what to ask for.

import { implies, impliesAdya, isAdyaLevel, type LevelId } from './levels.ts'

export interface JepsenModel {
  readonly name: string
  readonly level: LevelId
  readonly sessionOrder: boolean
}

/** Weakest first; see weakerModels. */
const MODELS = [
  { name: 'read-uncommitted', level: 'pl-1', sessionOrder: false },
  { name: 'read-committed', level: 'pl-2', sessionOrder: false },
  { name: 'cursor-stability', level: 'pl-cs', sessionOrder: false },
  { name: 'monotonic-view', level: 'pl-2l', sessionOrder: false },
  { name: 'monotonic-snapshot-read', level: 'pl-2l', sessionOrder: false },
  { name: 'consistent-view', level: 'pl-2+', sessionOrder: false },
  { name: 'forward-consistent-view', level: 'pl-2+', sessionOrder: false },
  { name: 'monotonic-atomic-view', level: 'rc', sessionOrder: false },
  { name: 'read-atomic', level: 'ra', sessionOrder: false },
  { name: 'causal-cerone', level: 'cc', sessionOrder: false },
  { name: 'prefix', level: 'pc', sessionOrder: false },
  { name: 'parallel-snapshot-isolation', level: 'psi', sessionOrder: false },
  { name: 'snapshot-isolation', level: 'si', sessionOrder: false },
  { name: 'update-serializable', level: 'pl-3u', sessionOrder: false },
  { name: 'repeatable-read', level: 'pl-2.99', sessionOrder: false },
  { name: 'serializable', level: 'ser', sessionOrder: false },
  { name: 'strong-session-read-uncommitted', level: 'strong-session-pl-1', sessionOrder: true },
  { name: 'strong-session-read-committed', level: 'strong-session-pl-2', sessionOrder: true },
  { name: 'causal', level: 'cc', sessionOrder: true },
  { name: 'strong-session-snapshot-isolation', level: 'si', sessionOrder: true },
  { name: 'strong-read-uncommitted', level: 'strong-pl-1', sessionOrder: true },
  { name: 'strong-read-committed', level: 'strong-pl-2', sessionOrder: true },
  { name: 'strong-snapshot-isolation', level: 'strong-si', sessionOrder: true },
  { name: 'strong-session-serializable', level: 'ser', sessionOrder: true },
  { name: 'strict-serializable', level: 'sser', sessionOrder: true },
] as const satisfies readonly JepsenModel[]

export const JEPSEN_MODELS: readonly JepsenModel[] = MODELS
/** Jepsen's name of a level. */
export type JepsenName = (typeof MODELS)[number]['name']

/** Other words for the same. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'strong-serializable': 'strict-serializable',
  'pl-si': 'snapshot-isolation',
  'pl-3': 'serializable',
  'pl-ss': 'strict-serializable',
  'pl-fcv': 'forward-consistent-view',
  'pl-msr': 'monotonic-snapshot-read',
  'conflict-serializable': 'serializable',
  // What clients see of one copy is what they read: some serial order must explain it.
  'view-serializable': 'serializable',
  '1sr': 'serializable',
  'session-serializable': 'strong-session-serializable',
}

/** Elle's models of single objects -> what to ask for in their place. */
export const SINGLE_OBJECT: ReadonlyMap<string, LevelId> = new Map<string, LevelId>([
  ['linearizable', 'lin'],
  ['sequential', 'ser'],
  ['pram', 'cc'],
  ['writes-follow-reads', 'wfr'],
  ['monotonic-reads', 'mr'],
  ['monotonic-writes', 'mw'],
  ['read-your-writes', 'ryw'],
])

export function findJepsenModel(name: string): JepsenModel | null {
  const lower = name.toLowerCase()
  const known = SYNONYMS[lower] ?? lower
  return JEPSEN_MODELS.find((model) => model.name === known) ?? null
}

/** The models that a history satisfies whenever it satisfies this one, weakest first. */
export function weakerModels(model: JepsenModel): JepsenModel[] {
  return JEPSEN_MODELS.filter((other) => {
    if (other === model || (other.sessionOrder && !model.sessionOrder)) return false
    const { level, sessionOrder } = other
    // Of two names of one level the later is the stronger, whether or not a history can tell.
    if (level === model.level && sessionOrder === model.sessionOrder) {
      return JEPSEN_MODELS.indexOf(other) < JEPSEN_MODELS.indexOf(model)
    }
    return isAdyaLevel(level) ? impliesAdya(model.level, level) : implies(model.level, level)
  })
}
