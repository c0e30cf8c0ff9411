// `isobar doctor`: says what can be used here, by trying it: Node, each target with its driver
// (servers on their usual port of this machine), a browser for pictures of reports.

import { accessSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import type { Command } from 'commander'
import { DatabaseError } from '../base/errors.ts'
import { type Driver, loadDriver } from '../record/driver.ts'
import { removeLeftovers } from '../record/embedded/leftovers.ts'
import { EMBEDDED } from '../record/embedded/target.ts'
import type { Trial } from '../record/target.ts'
import { TARGETS } from '../record/targets.ts'
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

/** The next run would do the same. */
async function clean(json: boolean): Promise<number> {
  const removed = await removeLeftovers()
  if (json) await print(`${JSON.stringify({ removed })}\n`)
  else if (removed.length === 0) await print('nothing was left behind\n')
  else await print(removed.map((path) => `removed ${path}\n`).join(''))
  return EXIT.satisfied
}

async function examine(json: boolean): Promise<number> {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= 20
  const node = `${process.version} (20 or later is needed)`
  const findings: Finding[] = [
    { name: 'isobar', usable: true, detail: VERSION },
    { name: 'Node', usable: isNewEnough, detail: node },
    ...(await examineTargets()),
    examineBrowser(),
  ]
  if (json) await print(`${JSON.stringify({ findings })}\n`)
  else await print(renderFindings(findings))
  const embedded = findings.find(({ name }) => name === EMBEDDED.trial?.product)
  return embedded?.usable ? EXIT.satisfied : EXIT.database
}

function renderFindings(findings: readonly Finding[]): string {
  const colours = coloursFor(process.stdout)
  const lines = findings.map(({ name, usable, detail }) => {
    const mark = usable ? colours.good('yes') : colours.unsure('no ')
    return `${mark} ${name.padEnd(24)} ${detail}\n`
  })
  return lines.join('')
}

/** Of each target: the package that it needs, and whether it works here. */
async function examineTargets(): Promise<Finding[]> {
  const findings: Finding[] = []
  const drivers = new Map<string, Finding>()
  for (const { driver, trial } of TARGETS) {
    if (driver && !drivers.has(driver.name)) {
      const found = await examineDriver(driver)
      drivers.set(driver.name, found)
      findings.push(found)
    }
    if (trial) findings.push(await examineTrial(trial, drivers.get(driver?.name ?? '')))
  }
  return findings
}

/** @param driver what was found of the package that speaks to it, if it needs one */
async function examineTrial(trial: Trial, driver: Finding | undefined): Promise<Finding> {
  const { product: name } = trial
  // Starts it and stops it again: nothing less shows that it works.
  if (!('port' in trial)) return attempt(name, () => trial.tryOut())
  const server = await examineServer(trial)
  if (!server.usable || driver?.usable !== false) return server
  return { ...server, usable: false, detail: `${server.detail}, but without its driver` }
}

async function examineDriver(driver: Driver): Promise<Finding> {
  const forms = TARGETS.filter((kind) => kind.driver?.name === driver.name).map(({ form }) => form)
  return attempt(`driver ${driver.name}`, async () => {
    await loadDriver(driver)
    return `for ${forms.join(' and ')}`
  })
}

async function attempt(name: string, work: () => Promise<string>): Promise<Finding> {
  const interrupt = new Interrupt(0)
  interrupt.listen()
  try {
    return { name, usable: true, detail: await work() }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const hint = error.hint ? `; ${error.hint}` : ''
    return { name, usable: false, detail: `${error.message}${hint}` }
  } finally {
    interrupt.ignore()
  }
}

function examineServer(trial: Extract<Trial, { port: number }>): Promise<Finding> {
  const { product: name, port, hello } = trial
  return new Promise((resolve) => {
    const place = `127.0.0.1:${port}`
    const socket = connect({ host: '127.0.0.1', port, timeout: 500 })
    const tell = (usable: boolean, detail: string) => {
      socket.destroy()
      resolve({ name, usable, detail })
    }
    socket.once('connect', () => {
      if (hello !== null) socket.write(hello)
    })
    socket.once('data', (bytes) => {
      const isIt = trial.isAnswer(bytes)
      tell(isIt, `${isIt ? 'it' : 'something else'} listens on ${place}`)
    })
    socket.once('end', () => tell(false, `something else listens on ${place}`))
    socket.once('timeout', () => tell(false, `nothing answers on ${place}`))
    socket.once('error', () => tell(false, `nothing listens on ${place}`))
  })
}

function examineBrowser(): Finding {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const paths = directories.flatMap((directory) => BROWSERS.map((name) => join(directory, name)))
  const path = paths.find(isExecutable)
  const detail = path ?? `none of ${BROWSERS.join(', ')} in PATH`
  return { name: 'browser', usable: path !== undefined, detail }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
