// The processes of a server: the one that was started, and those that it has started itself, which
// are in groups of their own and live on for a while without it. Main functions: processesOf,
// exitOf.

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The process, and those that it started; null if this system does not tell. */
export function processesOf(pid: number): number[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return [pid, ...text.trim().split(/\s+/).filter(Boolean).map(Number)]
  } catch {
    return null
  }
}

/** Sends a signal to all that are still there; never to groups, which 0 and below would mean. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids.filter((each) => each > 1)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
}

/** The code it ends with; 127 if it could not be started. */
export function exitOf(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.exitCode ?? 1)
  }
  child.ref() // waited for, so it keeps this process alive
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1))
    child.once('error', () => resolve(127))
  })
}

/** Ends a process at once, with all that it started. */
export function endGroup(child: ChildProcess): void {
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
