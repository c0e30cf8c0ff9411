// Verdicts on a history that does not tell everything (docs/levels.md#partial-histories): what it
// tells violates a level, or nobody knows. Main function: withheld.

import type { History, Omissions } from '../history/history.ts'
import type { LevelResult } from '../verdict/verdict.ts'

/** The verdict, but that nothing is satisfied by what is told alone. */
export function withheld(history: History, result: LevelResult): LevelResult {
  if (history.partial === null || result.verdict !== 'satisfied') return result
  const reason = `the history is partial: ${wordsFor(history.partial)}`
  return { ...result, verdict: 'unknown', reason, proof: null, certificate: null, impliedBy: null }
}

const SHOWN_REASONS = 3

function wordsFor({ reasons }: Omissions): string {
  const counted = Object.entries(reasons).sort(([, a], [, b]) => b - a)
  if (counted.length === 0) return 'not everything was recorded'
  const shown = counted.slice(0, SHOWN_REASONS).map(([reason, count]) => `${reason} (${count})`)
  const more =
    counted.length > SHOWN_REASONS ? `, and ${counted.length - SHOWN_REASONS} more reasons` : ''
  return `it leaves out ${shown.join(', ')}${more}`
}
