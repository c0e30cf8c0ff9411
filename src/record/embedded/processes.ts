// The processes of a server: the one that was started, and those that it has started itself, which
// are in groups of their own and live on for a while without it. Main function: processesOf.

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
