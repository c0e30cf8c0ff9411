// Cuts the last node of a Galera cluster off from the others, as a broken network would, by a
// setting of Galera's own for that (gmcast.isolate). Clients still reach it. Main function:
// cutOffLast.

import { DatabaseError } from '../../base/errors.ts'
import type { Makers } from '../trouble.ts'
import { type MysqlAddress, showAddress } from './address.ts'
import { asDatabaseError, connectClient, hangUp, query, type ServerError } from './client.ts'

/** @param nodes at least two; the majority stays together */
export function cutOffLast(nodes: readonly MysqlAddress[]): Makers {
  const last = nodes.at(-1)!
  return {
    partition: async ({ ms }, wait) => {
      await isolate(last, true)
      try {
        await wait(ms)
      } finally {
        await isolate(last, false)
      }
    },
  }
}

async function isolate(address: MysqlAddress, isCut: boolean): Promise<void> {
  try {
    const client = await connectClient(address)
    const setting = `gmcast.isolate=${isCut ? 1 : 0}`
    await query(client, `SET GLOBAL wsrep_provider_options = '${setting}'`).finally(() => {
      hangUp(client)
    })
  } catch (error) {
    const isDenied = (error as ServerError).code === 'ER_SPECIFIC_ACCESS_DENIED_ERROR'
    if (!isDenied) throw asDatabaseError(error, address)
    throw new DatabaseError(
      `${showAddress(address)}: this account may not cut the node off`,
      `GRANT SUPER ON *.* TO ${address.user}`,
    )
  }
}
