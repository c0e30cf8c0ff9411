// `isobar serve`: the site on this machine, and a folder of reports below /reports/, until a signal
// ends it.

import { existsSync, statSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { InternalError, UsageError } from '../base/errors.ts'
import { plain } from '../report/names.ts'
import { openFile } from './open-file.ts'
import { Interrupt } from './signals.ts'
import { hostInUrl, isLoopback, makeServer } from './site-server.ts'
import { tell } from './terminal.ts'

interface Flags {
  host: string
  port: string
  token?: string
  open?: boolean
}

const DEFAULT_PORT = '8420'
const MIN_TOKEN = 16

export function addServeCommand(program: Command, done: (code: number) => void): void {
  program
    .command('serve')
    .description('show the site on this machine: check in the browser, learn the levels')
    .argument('[dir]', 'a folder of reports, shown below /reports/')
    .option('--port <n>', 'the port to listen on; 0: any that is free', DEFAULT_PORT)
    .option(
      '--host <address>',
      'the address to listen on; others than this machine need --token',
      '127.0.0.1',
    )
    .option('--token <secret>', `what visitors must know, ${MIN_TOKEN} characters or more`)
    .option('--open', 'open it in a browser')
    .addHelpText(
      'after',
      `
The page checks histories by itself: what is dropped on it is sent to nobody, and not to this server
either. Files are read, never written; links that lead out of DIR are not followed. Ctrl-C ends it.

Examples:
  isobar serve --open                    the site, in your browser
  isobar serve runs/                     and the reports in runs/, at /reports/
  isobar serve runs/ --host 0.0.0.0 --token "$(openssl rand -hex 16)"
                                         for others, who open http://…:8420/?token=…`,
    )
    .action(async (dir: string | undefined, flags: Flags) => done(await serve(dir, flags)))
}

async function serve(dir: string | undefined, flags: Flags): Promise<number> {
  const { host, token = null } = flags
  const port = parsePort(flags.port)
  if (!isLoopback(host) && token === null) {
    const hint = 'add --token SECRET: everybody who reaches this machine could read the folder'
    throw new UsageError(`--host ${plain(host)} needs --token`, hint)
  }
  if (token !== null && token.length < MIN_TOKEN) {
    throw new UsageError(`--token needs ${MIN_TOKEN} characters or more`, 'openssl rand -hex 16')
  }
  if (dir !== undefined && !isFolder(dir)) {
    throw new UsageError(`${plain(dir)} is no folder`, 'name one that holds reports')
  }
  const server = makeServer({ site: findSite(), reports: dir ?? null, host, token })
  const interrupt = new Interrupt(0)
  await listen(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  const address = `http://${hostInUrl(host)}:${bound}/`
  const reports = dir === undefined ? '' : `, ${plain(dir)} at ${address}reports/`
  await tell(`${address}${reports}\nCtrl-C ends it.\n`)
  if (flags.open)
    await openFile(token === null ? address : `${address}?token=${encodeURIComponent(token)}`)
  interrupt.listen()
  await new Promise((resolve) => server.once('close', resolve))
  return interrupt.exitCode
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port is a number up to 65535, not ${JSON.stringify(text)}`)
}

/** The built site, beside the program. */
function findSite(): string {
  const folder = fileURLToPath(new URL('../../dist/site', import.meta.url))
  if (existsSync(folder)) return folder
  throw new InternalError('the site is not built: npm run web')
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? new UsageError(`port ${port} is taken`, 'choose another with --port, or any: --port 0')
          : new UsageError(`cannot listen on ${plain(host)}:${port}: ${error.code}`)
      reject(why)
    })
    server.listen(port, host, () => resolve())
  })
}
