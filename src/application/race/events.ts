// From the statements of a run to events whose commuting can be judged: what each touched, with the
// locks and the snapshot that its transaction has, and with what the catalogue says of its tables.
// Main function: eventsOf.

import { addAll, type Footprint, NOTHING, type Rows, together, UNKNOWN } from './footprint.ts'
import type { TableTraits } from './observer.ts'
import type { Turn } from './play.ts'
import type { RunEvent } from './trace.ts'

type Traits = ReadonlyMap<string, TableTraits> // table, with its schema -> what it is like

/** Functions that do more than compute, or tell what others did, whatever rows they are called for. */
const OPAQUE = /^(nextval|setval|currval|lastval|set_config|(pg|dblink|txid)_?\w*)$/

/** What a transaction has touched so far. */
interface Touched {
  readonly reads: Map<string, Rows>
  readonly writes: Map<string, Rows>
  hasSnapshot: boolean
  isUnknown: boolean
}

export function eventsOf(turns: readonly Turn[], traits: Traits): RunEvent[] {
  const open = new Map<number, Touched>() // connection -> what its transaction has touched
  const footprints = new Map<Turn, Footprint>()
  for (const turn of turns) footprints.set(turn, footprintOf(turn, open, traits))
  return turns.map((turn) => ({
    actor: turn.actor,
    woke: [...new Set(turn.woke.map(({ actor }) => actor))],
    footprint: together([turn, ...turn.woke].map((each) => footprints.get(each)!)),
  }))
}

function footprintOf(turn: Turn, open: Map<number, Touched>, traits: Traits): Footprint {
  const { step } = turn
  const known = step.inTransaction ? open.get(step.client) : undefined
  const touched = known ?? {
    reads: new Map(),
    writes: new Map(),
    hasSnapshot: false,
    isUnknown: false,
  }
  open.set(step.client, touched)
  const { reads, writes } = touched
  const { level = null } = step
  // Of a level that is not known the strictest is assumed, which takes the most for conflicts.
  const isSerializable = level === null || level === 'serializable'
  switch (step.kind) {
    case 'begin':
    case 'set':
      return NOTHING
    case 'savepoint':
      if (step.savepoint !== 'return') return NOTHING
      // Going back to one lets go of locks.
      if (touched.isUnknown) return UNKNOWN
      return { ...NOTHING, reads, writes, ends: isSerializable, isSerializable }
    case 'commit':
    case 'rollback': {
      open.delete(step.client)
      if (step.error !== undefined || touched.isUnknown) return UNKNOWN
      const ends = step.kind === 'commit' || isSerializable
      return { ...NOTHING, reads, writes, ends, isSerializable }
    }
    default: {
      const own = ofRows(turn, traits)
      if (!step.inTransaction) open.delete(step.client)
      if (own === null) {
        touched.isUnknown = true
        return UNKNOWN
      }
      addAll(reads, own.reads)
      addAll(writes, own.writes)
      const keepsSnapshot = isSerializable || level === 'repeatable read'
      const takesSnapshot = keepsSnapshot && !touched.hasSnapshot
      touched.hasSnapshot = true
      return { ...NOTHING, ...own, ends: !step.inTransaction, takesSnapshot, isSerializable }
    }
  }
}

/** The rows and sequences that a statement touched; null if that is not known. */
function ofRows(
  { step, waited }: Turn,
  traits: Traits,
): Pick<Footprint, 'reads' | 'writes' | 'sequences'> | null {
  const { reads: read, writes: written, clauses, functions } = step
  if (step.error !== undefined || step.kind === 'other') return null
  if (functions.some((name) => OPAQUE.test(name))) return null
  if (read === undefined || written === undefined || !clauses) return null
  const reads = new Map<string, Rows>()
  const writes = new Map<string, Rows>()
  const sequences = new Set<string>()
  for (const { relation, row } of clauses) {
    const traitsOf = traits.get(relation)
    if (traitsOf === undefined) return null
    addAll(reads, new Map([[traitsOf.group, row === null ? null : new Set([row])]]))
  }
  for (const { relation, row } of read) {
    const traitsOf = traits.get(relation)
    if (traitsOf === undefined) return null
    addAll(reads, new Map([[traitsOf.group, new Set([row])]]))
  }
  for (const { relation, row } of written) {
    const traitsOf = traits.get(relation)
    if (traitsOf === undefined || traitsOf.runsCode) return null
    addAll(writes, new Map([[traitsOf.group, traitsOf.tiesRows ? null : new Set([row])]]))
    if (step.takesDefaults) for (const name of traitsOf.sequences) sequences.add(name)
  }
  // What is locked cannot be written or locked by others meanwhile. Who waited asked for a lock,
  // be it of a row that it then passed over because it is no longer what the clause says.
  if (step.locks || waited) addAll(writes, reads)
  return { reads, writes, sequences }
}
