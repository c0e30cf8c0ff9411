// The levels of a profile as a lattice in one line of text, with a sign for each verdict:
//   ci ✓, rc ✓ < ra ✓ < cc ✓ < pc ✓, psi ✗ < si ✗ < strong-si ✗, ser ✗ < sser ✗
// What stands left of < is implied by what stands right of it; a comma is between levels of which
// neither implies the other. Main function: drawLattice.

import { LATTICE } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { haveSameOrders } from './scope.ts'

const SIGNS = { satisfied: '✓', violated: '✗', unknown: '?' } as const

/**
 * Null where no two of the levels stand side by side: a list tells as much; and where they respect
 * different orders, so that none implies another.
 */
export function drawLattice(results: readonly LevelResult[]): string | null {
  const verdicts = new Map(results.map(({ level, verdict }) => [level, verdict]))
  const rows = LATTICE.map((row) => row.filter((level) => verdicts.has(level)))
  if (rows.every((row) => row.length < 2) || !haveSameOrders(results)) return null
  return rows
    .filter((row) => row.length > 0)
    .map((row) => row.map((level) => `${level} ${SIGNS[verdicts.get(level)!]}`).join(', '))
    .join(' < ')
}
