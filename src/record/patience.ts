// Connecting to a database that may be away for a while. Main function: openPatiently.

import { DatabaseError } from '../base/errors.ts'
import type { Connection, Database } from './database.ts'

/**
 * Tries until it is let in, or patience has run out: DatabaseError. Null if there is no point in
 * going on.
 */
export async function openPatiently(
  place: Pick<Database, 'open'>,
  patienceMs: number,
  isOver: () => boolean = () => false,
): Promise<Connection | null> {
  const endMs = performance.now() + patienceMs
  for (let waitMs = 5; !isOver(); waitMs = Math.min(500, waitMs * 2)) {
    try {
      return await place.open()
    } catch (error) {
      if (!(error instanceof DatabaseError) || performance.now() > endMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  return null
}
