// A join as it is told, once it is known which tables were written: what it proves of each of them,
// in place of all that it may have depended on. Main function: withoutJoins.

import type { Table } from '../table.ts'
import type { StatementEvent } from '../transaction.ts'
import { type Claim, type Join, provenBy } from './join-claims.ts'

/** Why a history with such a join is partial. */
export const OPEN_JOIN = 'a join of tables that were written'

/** How joins are told: as far as they prove something, or with all that they may have depended on. */
export type JoinTelling = { readonly isWritten: (table: Table) => boolean } | 'supposed'

/** The statements with joins as they are told, and of how many joins more could be said. */
export function withoutJoins(
  events: readonly StatementEvent[],
  telling: JoinTelling,
): { events: readonly StatementEvent[]; open: number } {
  if (telling === 'supposed' || !events.some(({ part }) => part)) return { events, open: 0 }
  const told: StatementEvent[] = []
  const proofs = new Map<Join, ReadonlyMap<number, Claim>>()
  let open = 0
  for (const event of events) {
    const { part } = event
    if (!part) {
      told.push(event)
      continue
    }
    let claims = proofs.get(part.join)
    if (!claims) {
      const proof = provenBy(part.join, telling.isWritten)
      if (!proof.isExact) open++
      claims = new Map(proof.claims.map((claim) => [claim.table, claim]))
      proofs.set(part.join, claims)
    }
    const claim = claims.get(part.table)
    if (!claim) continue
    const seen = new Set([...claim.rows].map(({ row }) => row))
    const rows = event.rows.filter((row) => row.seen !== null && seen.has(row.seen))
    told.push({ ...event, clause: claim.clause, rows })
  }
  return { events: told, open }
}
