// The levels as a lattice in one line of text, with a sign for each verdict:
//   ci ✓, rc ✓ < ra ✓ < cc ✓ < pc ✓, psi ✗ < si ✗ < strong-si ✗, ser ✗ < sser ✗
// What stands left of < is implied by what stands right of it; a comma is between levels of which
// neither implies the other. Where that does not go in one line, a semicolon begins anew, with
// levels that were told before: `ci ✓, rc ✓; rc < mr ✓, mw ✗; ci < ra ✓; mr, mw, ra < cc ✗`.
// Levels that have nothing to do with the others are left out. Main function: drawLattice.

import { LATTICE, LEVELS, type LevelId, stronger } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { haveSameOrders } from './scope.ts'
import { isInOrder } from './summary.ts'

const SIGNS = { satisfied: '✓', violated: '✗', unknown: '?' } as const

/** Those that session order is no part of, Adya's first, then the lattice. */
const WEAKEST_FIRST: readonly LevelId[] = [
  ...LEVELS.map(({ id }) => id).filter((level) => !LATTICE.flat().includes(level)),
  ...LATTICE.flat(),
]

/**
 * Null where no two of the levels stand side by side: a list tells as much; and where they respect
 * different orders, so that none implies another.
 */
export function drawLattice(results: readonly LevelResult[]): string | null {
  const verdicts = new Map(results.map(({ level, verdict }) => [level, verdict]))
  const judged = WEAKEST_FIRST.filter((level) => verdicts.has(level) && isInOrder(level))
  const levels = judged.filter((level) => judged.some((other) => isComparable(level, other)))
  const isOneLine = levels.every((one) => {
    return levels.every((other) => one === other || isComparable(one, other))
  })
  if (isOneLine || !haveSameOrders(results)) return null
  const lines: string[] = []
  let last = '' // what the line ends with
  for (const [below, row] of rowsOf(levels)) {
    const told = row.map((level) => `${level} ${SIGNS[verdicts.get(level)!]}`).join(', ')
    if (below === '') lines.push(told)
    else if (below === last) lines[lines.length - 1] += ` < ${told}`
    else lines.push(`${below} < ${told}`)
    last = row.join(', ')
  }
  return lines.join('; ')
}

function isComparable(one: LevelId, other: LevelId): boolean {
  return stronger(one, other) || stronger(other, one)
}

/** The levels right above others, by these; the weakest ones have none below. */
function rowsOf(levels: readonly LevelId[]): Map<string, LevelId[]> {
  const rows = new Map<string, LevelId[]>()
  for (const level of levels) {
    const implied = levels.filter((other) => stronger(level, other))
    const next = implied.filter((one) => !implied.some((other) => stronger(other, one)))
    const below = next.join(', ')
    rows.set(below, [...(rows.get(below) ?? []), level])
  }
  return rows
}
