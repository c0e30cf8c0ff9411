// As ../../counter.mjs, with TypeORM.

import { open } from './database.mjs'

export { reset, schema } from '../../counter.mjs'

const visit = (source) =>
  source.transaction(async (manager) => {
    const page = await manager.findOneByOrFail('pages', { id: 1 })
    await manager.update('pages', { id: 1 }, { visits: page.visits + 1 })
  })

const visitAtomically = (source) => source.manager.increment('pages', { id: 1 }, 'visits', 1)

const both = (act) => async (pool) => {
  const source = await open(pool)
  return { ann: () => act(source), bob: () => act(source) }
}
export const broken = both(visit)
export const cured = both(visitAtomically)
