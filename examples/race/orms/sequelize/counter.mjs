// As ../../counter.mjs, with Sequelize.

import { open, transaction } from './database.mjs'

export { reset, schema } from '../../counter.mjs'

const where = { id: 1 }

const visit = (pool) =>
  transaction(pool, async ({ pages }, transaction) => {
    const { visits } = await pages.findByPk(1, { transaction })
    await pages.update({ visits: visits + 1 }, { where, transaction })
  })

const visitAtomically = (pool) => open(pool).models.pages.increment({ visits: 1 }, { where })

export const broken = (pool) => ({ ann: () => visit(pool), bob: () => visit(pool) })
export const cured = (pool) => ({
  ann: () => visitAtomically(pool),
  bob: () => visitAtomically(pool),
})
