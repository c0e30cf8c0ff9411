// The keeper: a small process that outlives this one, however it ends. It waits for the end of its
// standard input, which the operating system brings about even after kill -9, then stops the server
// that uses the data directory and removes everything. So nothing else has to be done at exit.
//
// It is given as text, because it must run from the source tree as well as from the build.

import { type ChildProcess, spawn } from 'node:child_process'

const SCRIPT = `
const { execFileSync } = require('node:child_process')
const { existsSync, readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const [home, pgCtl, data] = process.argv.slice(1)
const pid = () => {
  try { return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\\n')[0]) } catch { return 0 }
}
const lives = (id) => { try { process.kill(id, 0); return true } catch { return false } }
const children = (id) => {
  try { return readFileSync('/proc/' + id + '/task/' + id + '/children', 'utf8').trim().split(' ').map(Number).filter((n) => n > 1) } catch { return [] }
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function clean() {
  const server = pid()
  if (server > 0 && process.platform === 'win32') {
    try { execFileSync(pgCtl, ['stop', '-D', data, '-m', 'immediate']) } catch {}
  } else if (server > 0 && lives(server)) {
    for (const id of [server, ...children(server)]) try { process.kill(id, 'SIGCONT') } catch {}
    try { process.kill(server, 'SIGQUIT') } catch {}
    for (let i = 0; i < 200 && lives(server); i++) await pause(10)
    try { if (lives(server)) process.kill(server, 'SIGKILL') } catch {}
  }
  for (let i = 0; i < 50 && existsSync(home); i++) {
    try { rmSync(home, { recursive: true, force: true }) } catch {}
    if (existsSync(home)) await pause(100)
  }
}
process.stdin.resume()
process.stdin.on('error', () => {})
process.stdin.on('close', () => { clean().finally(() => process.exit(0)) })
`

/**
 * Starts the keeper of a server's home directory. Ending its standard input makes it clean up.
 * @param data where the server works; left alone if it is not in the home directory
 */
export function startKeeper(home: string, pgCtl: string, data: string): ChildProcess {
  const keeper = spawn(process.execPath, ['-e', SCRIPT, home, pgCtl, data], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // a Ctrl-C at the terminal is not for it
    env: {},
    cwd: '/',
  })
  keeper.on('error', () => {})
  keeper.unref()
  ;(keeper.stdin as unknown as { unref?: () => void } | null)?.unref?.()
  return keeper
}
