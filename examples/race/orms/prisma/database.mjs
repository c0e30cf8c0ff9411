// Prisma on the application's own pool of pg: the adapter takes it as it is.

import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from '@prisma/client'

const clients = new WeakMap()

export function open(pool) {
  if (!clients.has(pool)) clients.set(pool, new PrismaClient({ adapter: new PrismaPg(pool) }))
  return clients.get(pool)
}

/** Its statements are held up in a race, for longer than Prisma would wait by itself. */
const PATIENCE = { maxWait: 60_000, timeout: 60_000 }

export const transaction = (pool, work) => open(pool).$transaction(work, PATIENCE)

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      const options = { ...PATIENCE, isolationLevel: 'Serializable' }
      return await open(pool).$transaction(work, options)
    } catch (error) {
      if (error.code !== 'P2034') throw error
    }
  }
}
