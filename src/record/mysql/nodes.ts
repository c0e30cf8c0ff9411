// The nodes of a Galera cluster, as one target names them: all can be written to. The first is
// where a run sets up its tables; it waits until the others show them. Main function: awaitOn.

import { DatabaseError } from '../../base/errors.ts'
import { type MysqlAddress, showAddress } from './address.ts'
import { asDatabaseError, connectClient, scalar } from './client.ts'

const ASKED_EVERY_MS = 20

export interface ClusterNode {
  readonly address: MysqlAddress
  /** Where sessions connect: the same, or a proxy in front of it. */
  readonly entrance: MysqlAddress
}

/**
 * Waits until the node answers each of the questions with 1; it may lack the table that is asked
 * about meanwhile. Throws DatabaseError.
 */
export async function awaitOn(
  { address }: ClusterNode,
  questions: readonly string[],
  patienceMs: number,
): Promise<void> {
  const endMs = performance.now() + patienceMs
  const client = await connectClient(address).catch((error) => {
    throw asDatabaseError(error, address)
  })
  try {
    for (const question of questions) {
      while (!(await isTrue(question))) {
        if (performance.now() > endMs) throw strange(address)
        await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS))
      }
    }
  } finally {
    client.destroy()
  }

  async function isTrue(question: string): Promise<boolean> {
    try {
      return Number(await scalar(client, question)) === 1
    } catch (error) {
      if (performance.now() > endMs) throw asDatabaseError(error, address)
      return false
    }
  }
}

function strange(address: MysqlAddress): DatabaseError {
  return new DatabaseError(
    `${showAddress(address)} does not show what was written to the first node`,
    'are they nodes of one cluster?',
  )
}
