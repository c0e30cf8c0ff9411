// The nodes of a Galera cluster, as one target names them: all can be written to. The first is
// where a run sets up its tables; it waits until the others show them. Main function: awaitOn.

import { awaitAnswers } from '../cluster.ts'
import { type MysqlAddress, showAddress } from './address.ts'
import { asDatabaseError, connectClient, hangUp, type MysqlClient, scalar } from './client.ts'

export interface ClusterNode {
  readonly address: MysqlAddress
  /** Where sessions connect: the same, or a proxy in front of it. */
  readonly entrance: MysqlAddress
}

/** Waits until the node answers each of the questions with 1. Throws DatabaseError. */
export function awaitOn(
  node: ClusterNode,
  questions: readonly string[],
  patienceMs: number,
): Promise<void> {
  const ask = async (question: string) =>
    Number(await askNode(node, (client) => scalar(client, question))) === 1
  return awaitAnswers(showAddress(node.address), questions, patienceMs, ask)
}

/** On a connection of its own: the node may have been away. */
export async function askNode<T>(
  { address }: ClusterNode,
  ask: (client: MysqlClient) => Promise<T>,
): Promise<T> {
  try {
    const client = await connectClient(address)
    try {
      return await ask(client)
    } finally {
      hangUp(client)
    }
  } catch (error) {
    throw asDatabaseError(error, address)
  }
}
