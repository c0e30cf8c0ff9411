// The examples on ORMs, whose packages are installed apart from ours: Prisma's alone are larger than
// all of them together. Where there is time they are installed here, from the lock file.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Pool } from 'pg'
import { describe } from 'vitest'
import { LONG } from '../../long.ts'
import { CLASSICS, RACE_EXAMPLES, raceExamples } from './race-examples.ts'

const FOLDER = resolve(RACE_EXAMPLES, 'orms')
const modules = resolve(FOLDER, 'node_modules')

function run(command: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: FOLDER,
    encoding: 'utf8',
    // Prisma takes this for its engine of migrations, which nobody needs here, and fetches none.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
}

if (LONG && !existsSync(modules)) run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund')
const isThere = existsSync(modules)
if (isThere && !existsSync(resolve(modules, '.prisma/client/schema.prisma'))) {
  run(process.execPath, resolve(modules, 'prisma/build/index.js'), 'generate')
}
if (!isThere) {
  const how = 'npm ci in examples/race/orms installs them, and so does ISOBAR_LONG=1'
  process.stderr.write(`\nSKIPPED: races on Prisma, Sequelize and TypeORM: ${how}\n\n`)
}

describe.skipIf(!isThere)('examples/race/orms', () => {
  // Prisma knows a pool by its class.
  raceExamples(
    FOLDER,
    ['prisma', 'sequelize', 'typeorm'].flatMap((orm) => CLASSICS.map((name) => `${orm}/${name}`)),
    (server) => new (createRequire(`${FOLDER}/`)('pg').Pool as typeof Pool)(server),
  )
})
