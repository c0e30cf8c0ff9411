// `isobar proxy`: records what applications in any language ask of a PostgreSQL server, from between
// them and it, until a signal ends it.

import { isIPv6 } from 'node:net'
import type { Command } from 'commander'
import { type RecordingProxy, startProxy } from '../application/proxy/proxy.ts'
import { counted } from '../base/counted.ts'
import { UsageError } from '../base/errors.ts'
import { inert } from '../base/inert.ts'
import { parsePostgresAddress } from '../record/postgres/address.ts'
import { plain } from '../report/names.ts'
import { EXIT } from './exit-codes.ts'
import { Interrupt } from './signals.ts'
import { hostInUrl, isLoopback } from './site-server.ts'
import { StatusLine } from './status-line.ts'
import { tell } from './terminal.ts'

interface Flags {
  to: string
  listen: string
  out: string
  force?: boolean
}

const DEFAULT_LISTEN = '127.0.0.1:5433'
const STATUS_EVERY_MS = 1000

export function addProxyCommand(program: Command, done: (code: number) => void): void {
  program
    .command('proxy')
    .description('record what applications in any language ask of PostgreSQL')
    .requiredOption('--to <url>', 'the server: postgres://host:5432, with ?sslmode=… for TLS')
    .requiredOption('--out <file>', 'where the history goes; it is there when the proxy has ended')
    .option('--listen <address>', 'host:port or a port to listen on; 0: any', DEFAULT_LISTEN)
    .option('--force', 'replace a file that holds something')
    .addHelpText(
      'after',
      `
Applications connect to the proxy as they would to the server, with their own user, password and
database, and see what they would see there. Of --to only host, port and sslmode matter. Between
applications and proxy nothing is encrypted: it answers that it has no TLS. One database is
recorded, that of the client that is let in first; connections to others count as not recorded.

Ctrl-C or SIGTERM ends it: clients are told as if the server were shut down, the file is completed,
and the exit code is 0. A second signal ends it at once, without a file. What was not recorded is
counted at the end, and makes the history partial: it may be violated, or unknown.

Examples:
  isobar proxy --to postgres://localhost --out h.jsonl
  psql "host=127.0.0.1 port=5433 user=me dbname=test sslmode=disable"
  isobar check h.jsonl                    when the proxy has ended`,
    )
    .action(async (flags: Flags) => done(await run(flags)))
}

async function run(flags: Flags): Promise<number> {
  const to = parsePostgresAddress(flags.to, process.env)
  const { host, port } = parseListen(flags.listen)
  const interrupt = new Interrupt(null)
  const status = new StatusLine()
  const log = (line: string) => {
    status.done()
    process.stderr.write(`isobar: ${inert(line)}\n`)
  }
  const proxy = await startProxy({ to, host, port, log })
  try {
    proxy.recorded.save(flags.out, { force: flags.force === true, remedy: '--force' })
  } catch (error) {
    proxy.recorded.stop()
    throw error
  }
  interrupt.listen()
  await tell(
    `postgres://${hostInUrl(host)}:${proxy.port}/ leads to ${placeOf(to)}\nCtrl-C ends it.\n`,
  )
  if (!isLoopback(host)) log('others than this machine can connect, and nothing is encrypted')
  const timer = setInterval(() => status.show(wordsFor(proxy)), STATUS_EVERY_MS)
  await new Promise<void>((resolve) =>
    interrupt.signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  clearInterval(timer)
  status.done()
  proxy.recorded.stop()
  await tell(summaryOf(proxy, flags.out))
  return EXIT.satisfied
}

/** `5433`, `127.0.0.1:5433`, `[::1]:5433`. */
function parseListen(text: string): { host: string; port: number } {
  const [, host = '127.0.0.1', digits] = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(text) ?? []
  const bare = host.replace(/^\[|\]$/g, '')
  const isBare = host === bare || isIPv6(bare)
  if (digits !== undefined && isBare && Number(digits) <= 65_535) {
    return { host: bare, port: Number(digits) }
  }
  throw new UsageError(
    `--listen is host:port or a port up to 65535, not ${JSON.stringify(text)}`,
    `such as ${DEFAULT_LISTEN}, or 0 for any port of this machine`,
  )
}

function placeOf({ host, port }: { host: string; port: number }): string {
  return host.startsWith('/') ? plain(`${host}/.s.PGSQL.${port}`) : `${plain(host)}:${port}`
}

function wordsFor({ openCount, transactionCount, recorded }: RecordingProxy): string {
  const skipped = Object.values(recorded.skipped).reduce((sum, count) => sum + count, 0)
  const parts = [counted(openCount, 'client'), counted(transactionCount, 'transaction')]
  if (skipped > 0) parts.push(`${skipped} not recorded in full`)
  return parts.join(', ')
}

function summaryOf(
  { clientCount, transactionCount, recorded }: RecordingProxy,
  out: string,
): string {
  const txns = counted(transactionCount, 'transaction')
  const lines = [`${plain(out)}: ${txns} of ${counted(clientCount, 'client')}`]
  const skipped = Object.entries(recorded.skipped)
  if (skipped.length > 0) lines.push('not recorded, or not in full:')
  for (const [reason, count] of skipped) lines.push(`  ${count} × ${inert(reason)}`)
  for (const warning of recorded.warnings) lines.push(`warning: ${inert(warning)}`)
  return `${lines.join('\n')}\n`
}
