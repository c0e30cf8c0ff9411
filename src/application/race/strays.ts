// A mistake that is easily made with a pool: an actor begins a transaction on one connection, and
// what belongs to it is asked on another, where no transaction is. Main function: tellStrays.

import { cut } from '../../base/inert.ts'
import { shapeOf } from '../observe/shape.ts'
import type { Turn } from './play.ts'

const MAX_TEXT = 60

/** In words, each mistake once. */
export function tellStrays(turns: readonly Turn[]): string[] {
  const open = new Map<string, { client: number; text: string }>() // actor -> its transaction
  const told = new Set<string>()
  for (const { actor, step } of turns) {
    const { client, kind, inTransaction, text } = step
    const own = open.get(actor)
    if (kind === 'begin') open.set(actor, { client, text })
    else if (own?.client === client && !inTransaction) open.delete(actor)
    else if (own?.client === client && (kind === 'commit' || kind === 'rollback'))
      open.delete(actor)
    else if (
      own &&
      own.client !== client &&
      !inTransaction &&
      (kind === 'read' || kind === 'write')
    ) {
      const level = shapeOf(own.text).level
      const asked = level === null ? 'a transaction' : `${level.toUpperCase()}`
      told.add(
        `${actor} asked for ${asked} on another connection (${own.client}) than that of ${cut(text, MAX_TEXT)} (${client}): a transaction needs one client for all of it`,
      )
    }
  }
  return [...told]
}
