// A signal ends this process in the middle of its work, when none of its own code can run. So what
// it has not finished writing has a guard: a shell that waits for the end of its standard input,
// which the operating system brings about however this process ends, and then removes it. Where it
// got its own name meanwhile, there is nothing to remove: nobody else has the name it had. Main
// function: startGuard.

import { type ChildProcess, spawn } from 'node:child_process'

const SCRIPT = 'read -r _; rm -rf -- "$1"'

export interface Guard {
  /** There is nothing to guard any more. */
  end(): void
}

/** Guards what is going to be at this absolute path. */
export function startGuard(path: string): Guard {
  if (process.platform === 'win32') return { end: () => {} } // no signals there
  const guard: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'sh', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // a Ctrl-C at the terminal is not for it
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
  })
  guard.on('error', () => {}) // without a shell there is no guard
  guard.stdin?.on('error', () => {})
  guard.unref()
  ;(guard.stdin as unknown as { unref?: () => void } | null)?.unref?.()
  return { end: () => guard.stdin?.destroy() }
}
