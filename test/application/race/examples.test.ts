// The examples on pg and on libraries above it that are installed with us.

import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import { CLASSICS, RACE_EXAMPLES, raceExamples } from './race-examples.ts'

const names = ['.', 'drizzle', 'knex', 'kysely'].flatMap((folder) =>
  CLASSICS.map((name) => (folder === '.' ? name : `${folder}/${name}`)),
)

describe('examples/race', () => {
  it('has the classics, and what they share', () => {
    for (const folder of [
      '.',
      'drizzle',
      'knex',
      'kysely',
      'orms/prisma',
      'orms/sequelize',
      'orms/typeorm',
    ]) {
      const found = readdirSync(resolve(RACE_EXAMPLES, folder))
      const shared = folder === '.' ? 'transaction.mjs' : 'database.mjs'
      expect(found.filter((name) => name.endsWith('.mjs')).sort()).toEqual(
        [...CLASSICS, shared].sort(),
      )
    }
  })

  raceExamples(RACE_EXAMPLES, names, (server) => new Pool(server))
})
