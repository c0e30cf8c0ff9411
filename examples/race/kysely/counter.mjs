// As ../counter.mjs, with Kysely.

import { sql } from 'kysely'
import { open, transaction } from './database.mjs'

export { reset, schema } from '../counter.mjs'

const visit = (pool) =>
  transaction(pool, async (trx) => {
    const page = trx.selectFrom('pages').select('visits').where('id', '=', 1)
    const { visits } = await page.executeTakeFirstOrThrow()
    await trx
      .updateTable('pages')
      .set({ visits: visits + 1 })
      .where('id', '=', 1)
      .execute()
  })

const visitAtomically = (pool) =>
  open(pool).updateTable('pages').set({ visits: sql`visits + 1` }).where('id', '=', 1).execute()

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool),
  bob: () => visitAtomically(pool),
})
