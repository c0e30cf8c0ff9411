// The nodes of a cluster, as one target names them: the first is where a run sets up its tables;
// the others are replicas, which answer reads, or can be written to like the first. Which of the
// two a node is it says itself. Main functions: findNode, awaitOn, ask, nodesOfPostgres.

import { awaitAnswers } from '../cluster.ts'
import type { Connection, Node } from '../database.ts'
import { type PostgresAddress, showAddress } from './address.ts'
import { connectClient } from './client.ts'
import { PostgresConnection } from './connection.ts'
import { asDatabaseError } from './failure.ts'
import { scalar } from './table.ts'

export interface ClusterNode {
  /** With the way to connect that it accepts. */
  readonly address: PostgresAddress
  /** Where sessions connect: the same, or a proxy in front of it. */
  readonly entrance: PostgresAddress
  /** It only answers reads: a replica. */
  readonly isReader: boolean
}

/** Asks a node what it is. Throws DatabaseError if it is not there. */
export async function findNode(
  given: PostgresAddress,
  entrance: Partial<PostgresAddress> = {},
): Promise<ClusterNode> {
  const { answer, address } = await ask(given, 'SELECT pg_is_in_recovery()')
  return { address, entrance: { ...address, ...entrance }, isReader: answer === true }
}

/** @param keyCount how many keys have rows from the beginning */
export function nodesOfPostgres(
  cluster: readonly Pick<ClusterNode, 'entrance' | 'isReader'>[],
  keyCount: () => number,
): Node[] {
  return cluster.map(({ entrance, isReader }) => ({
    isReader,
    open: (signal) => openAt(entrance, keyCount, signal),
  }))
}

async function openAt(
  entrance: PostgresAddress,
  keyCount: () => number,
  signal?: AbortSignal,
): Promise<Connection> {
  const timeout = AbortSignal.timeout(entrance.connectTimeoutMs)
  const connection = new PostgresConnection(entrance, keyCount)
  try {
    await connection.connect(signal ? AbortSignal.any([signal, timeout]) : timeout)
    return connection
  } catch (error) {
    connection.cut()
    throw asDatabaseError(error, entrance)
  }
}

/** Waits until the node answers each of the questions with true. Throws DatabaseError. */
export function awaitOn(
  { address }: ClusterNode,
  questions: readonly string[],
  patienceMs: number,
): Promise<void> {
  const isTrue = async (question: string) => (await ask(address, question)).answer === true
  return awaitAnswers(showAddress(address), questions, patienceMs, isTrue)
}

export async function ask(
  given: PostgresAddress,
  question: string,
): Promise<{ answer: unknown; address: PostgresAddress }> {
  try {
    const { client, address } = await connectClient(given, given.connectTimeoutMs)
    try {
      return { answer: await scalar(client, question), address }
    } finally {
      await client.end().catch(() => {})
    }
  } catch (error) {
    throw asDatabaseError(error, given)
  }
}
