// The nodes of a database as another thread is told of them, which makes connections of its own.
// Main function: nodesWithin.

import type { Node, Reach } from './database.ts'
import { nodesOfPostgres } from './postgres/nodes.ts'

/** Kind of server -> its nodes. */
const KINDS: Readonly<
  Record<string, (places: readonly never[], keyCount: () => number) => readonly Node[]>
> = { postgres: nodesOfPostgres }

/** @param keyCount how many keys have rows from the beginning */
export function nodesWithin({ kind, places }: Reach, keyCount: () => number): readonly Node[] {
  return KINDS[kind]!(places as readonly never[], keyCount)
}
