// The nodes of a Galera cluster, as one target names them: all can be written to. The first is
// where a run sets up its tables; it waits until the others show them. Main function: awaitOn.

import { awaitAnswers } from '../cluster.ts'
import { type MysqlAddress, showAddress } from './address.ts'
import { asDatabaseError, connectClient, scalar } from './client.ts'

export interface ClusterNode {
  readonly address: MysqlAddress
  /** Where sessions connect: the same, or a proxy in front of it. */
  readonly entrance: MysqlAddress
}

/** Waits until the node answers each of the questions with 1. Throws DatabaseError. */
export async function awaitOn(
  { address }: ClusterNode,
  questions: readonly string[],
  patienceMs: number,
): Promise<void> {
  const failed = (error: unknown) => {
    throw asDatabaseError(error, address)
  }
  const client = await connectClient(address).catch(failed)
  try {
    await awaitAnswers(showAddress(address), questions, patienceMs, async (question) => {
      return Number(await scalar(client, question).catch(failed)) === 1
    })
  } finally {
    client.destroy()
  }
}
