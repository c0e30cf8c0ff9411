// `isobar replay`: runs the statements of a schedule that a race has saved, in their order, on a
// server, and judges what they see.

import type { Command } from 'commander'
import { type ClientConfig, Pool } from 'pg'
import { startPostgres } from '../application/embedded.ts'
import { replay } from '../application/race/replay.ts'
import { parseScheduleFile, type ScheduleFile } from '../application/race/schedule-file.ts'
import { DatabaseError } from '../base/errors.ts'
import { parsePostgresAddress, showAddress } from '../record/postgres/address.ts'
import { configOf, connectClient } from '../record/postgres/client.ts'
import { EXIT } from './exit-codes.ts'
import { readNamed, readPassword } from './options.ts'
import { print } from './terminal.ts'

const CONNECT_PATIENCE_MS = 10_000

export function addReplayCommand(program: Command, done: (code: number) => void): void {
  program
    .command('replay')
    .description('run a schedule that a race of your application has saved, and judge it')
    .argument('<file>', 'the schedule: what result.save(file) has written')
    .argument('[target]', 'postgres://user@host/database, or embedded', 'embedded')
    .option('--password-file <file>', 'where the password of the database is')
    .addHelpText(
      'after',
      `
The tables are made anew in a schema of their own, which is gone afterwards. Exit code 0: what was
seen satisfies the level of the race; 1: it violates it; 3: that could not be decided.

Example:
  isobar replay booking.json
  isobar replay booking.json postgres://me@db.example/test`,
    )
    .action(async (file: string, target: string, flags: { passwordFile?: string }) => {
      done(await run(file, target, flags.passwordFile))
    })
}

async function run(path: string, target: string, passwordFile?: string): Promise<number> {
  const file = parseScheduleFile(readNamed(path, 'schedule'))
  if (target === 'embedded') {
    const server = await startPostgres()
    try {
      const { host, port, user, password, database } = server
      return await judge(file, { host, port, user, password, database })
    } finally {
      await server.stop()
    }
  }
  const given = parsePostgresAddress(target, process.env, readPassword(passwordFile))
  const { client, address } = await connectClient(given, CONNECT_PATIENCE_MS).catch((error) => {
    throw new DatabaseError(`cannot reach ${showAddress(given)}: ${(error as Error).message}`)
  })
  await client.end()
  return judge(file, configOf(address, address.encryptions[0]!))
}

async function judge(file: ScheduleFile, config: ClientConfig): Promise<number> {
  const result = await replay(file, (schema, max) => {
    const own = schema === null ? {} : { options: `-c search_path=${schema}` }
    return new Pool({ ...config, ...own, max })
  })
  await print(`${result}\n`)
  return EXIT[result.verdict]
}
