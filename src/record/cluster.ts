// Waiting until a node of a cluster shows what was set up on the first one. Main function:
// awaitAnswers.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'

const ASKED_EVERY_MS = 20

/**
 * Asks each of the questions until the answer is yes. The node may be away meanwhile, or lack the
 * table that is asked about.
 * @param node how it is called
 * @param ask throws DatabaseError; the last one is told when patience is at its end
 */
export async function awaitAnswers(
  node: string,
  questions: readonly string[],
  patienceMs: number,
  ask: (question: string) => Promise<boolean>,
): Promise<void> {
  const endMs = performance.now() + patienceMs
  for (const question of questions) {
    for (;;) {
      let trouble: unknown = null
      try {
        if (await ask(question)) break
      } catch (error) {
        trouble = error
      }
      if (performance.now() > endMs) throw trouble ?? strange(node)
      await pause(ASKED_EVERY_MS)
    }
  }
}

function strange(node: string): DatabaseError {
  return new DatabaseError(
    `${node} does not show what was written to the first node`,
    'are they nodes of one cluster?',
  )
}
