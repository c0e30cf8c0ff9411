// `isobar doctor`: says what can be used here, by trying it: Node, the embedded server, servers
// named by the environment, a browser for pictures of reports.

import { accessSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import type { Command } from 'commander'
import { DatabaseError } from '../base/errors.ts'
import { removeLeftovers } from '../record/embedded/leftovers.ts'
import { EmbeddedServer } from '../record/embedded/server.ts'
import { EXIT } from './exit-codes.ts'
import { Interrupt } from './signals.ts'
import { coloursFor, print } from './terminal.ts'
import { VERSION } from './version.ts'

interface Finding {
  name: string
  usable: boolean
  detail: string
}

export function addDoctorCommand(program: Command, done: (code: number) => void): void {
  program
    .command('doctor')
    .description('say what is usable here: Node, embedded server, drivers, servers, browser')
    .option('--json', 'print one JSON object')
    .option('--clean', 'remove servers that killed runs have left behind, and nothing else')
    .addHelpText('after', '\nExit code 0 if the embedded server works, 4 if it does not.')
    .action(async (flags: { json?: boolean; clean?: boolean }) => {
      done(flags.clean ? await clean(flags.json === true) : await examine(flags.json === true))
    })
}

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'chrome', 'firefox']
const USUAL_PORT = 5432
/** Asks a PostgreSQL server whether it speaks TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** The next run would do the same. */
async function clean(json: boolean): Promise<number> {
  const removed = await removeLeftovers()
  if (json) await print(`${JSON.stringify({ removed })}\n`)
  else if (removed.length === 0) await print('nothing was left behind\n')
  else await print(removed.map((path) => `removed ${path}\n`).join(''))
  return EXIT.satisfied
}

async function examine(json: boolean): Promise<number> {
  const embedded = await examineEmbedded()
  const findings: Finding[] = [
    { name: 'isobar', usable: true, detail: VERSION },
    examineNode(),
    embedded,
    await examineDriver(),
    await examineServer('PostgreSQL', USUAL_PORT),
    examineBrowser(),
  ]
  if (json) await print(`${JSON.stringify({ findings })}\n`)
  else await print(renderFindings(findings))
  return embedded.usable ? EXIT.satisfied : EXIT.database
}

function renderFindings(findings: readonly Finding[]): string {
  const colours = coloursFor(process.stdout)
  return findings
    .map(({ name, usable, detail }) => {
      const mark = usable ? colours.good('yes') : colours.unsure('no ')
      return `${mark} ${name.padEnd(20)} ${detail}\n`
    })
    .join('')
}

function examineNode(): Finding {
  const major = Number(process.versions.node.split('.')[0])
  return { name: 'Node', usable: major >= 20, detail: `${process.version} (20 or later is needed)` }
}

/** Starts a server and stops it again: nothing less shows that it works. */
async function examineEmbedded(): Promise<Finding> {
  const name = 'embedded PostgreSQL'
  const interrupt = new Interrupt(0)
  interrupt.listen()
  try {
    const server = await EmbeddedServer.start()
    await server.stop()
    return { name, usable: true, detail: `started and stopped ${EmbeddedServer.packageVersion()}` }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const hint = error.hint ? `; ${error.hint}` : ''
    return { name, usable: false, detail: `${error.message}${hint}` }
  } finally {
    interrupt.ignore()
  }
}

async function examineDriver(): Promise<Finding> {
  try {
    await import('pg')
    return { name: 'driver pg', usable: true, detail: 'for postgres://… and the embedded server' }
  } catch (error) {
    return { name: 'driver pg', usable: false, detail: (error as Error).message }
  }
}

function examineServer(name: string, port: number): Promise<Finding> {
  return new Promise((resolve) => {
    const place = `127.0.0.1:${port}`
    const socket = connect({ host: '127.0.0.1', port, timeout: 500 })
    const tell = (usable: boolean, detail: string) => {
      socket.destroy()
      resolve({ name, usable, detail })
    }
    socket.once('connect', () => socket.write(SSL_REQUEST))
    // The only answers to that question are S and N, and only PostgreSQL knows it.
    socket.once('data', ([letter]) => {
      const isPostgres = letter === 83 || letter === 78
      tell(isPostgres, `${isPostgres ? 'it' : 'something else'} listens on ${place}`)
    })
    socket.once('timeout', () => tell(false, `nothing answers on ${place}`))
    socket.once('error', () => tell(false, `nothing listens on ${place}`))
  })
}

function examineBrowser(): Finding {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const browser of BROWSERS) {
      const path = join(directory, browser)
      try {
        accessSync(path, constants.X_OK)
        return { name: 'browser', usable: true, detail: path }
      } catch {
        // Not here.
      }
    }
  }
  return { name: 'browser', usable: false, detail: `none of ${BROWSERS.join(', ')} in PATH` }
}
