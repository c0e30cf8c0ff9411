// A process that does jobs, one after the other, as its parent hands them over. A thread beside it
// sees to it that it ends when it uses too much memory, whatever it is busy with, and when its
// parent is gone, so that nothing runs on for nobody. Main function: serveJobs.

import { Worker } from 'node:worker_threads'
import { perform } from './perform.ts'
import type { Task } from './result.ts'

/** How a process ends that used more memory than it may. */
export const OUT_OF_MEMORY: NodeJS.Signals = 'SIGUSR2'

/** What a process says when it can be given jobs. */
export const READY = 'ready'

/** Given as text, because it must run from the source tree as well as from the build. */
const WATCH = `
const { workerData, parentPort } = require('node:worker_threads')
const { rmSync } = require('node:fs')
const { parent, directory, memoryBytes, signal } = workerData
const timer = setInterval(() => {
  if (process.ppid !== parent) {
    rmSync(directory, { recursive: true, force: true })
    process.kill(process.pid, 'SIGKILL')
  }
  if (process.memoryUsage.rss() > memoryBytes) process.kill(process.pid, signal)
}, 200)
parentPort.once('message', () => clearInterval(timer))
`

/** What a parent tells a process when it starts it, in this order behind the command. */
export function processArguments(directory: string, memoryBytes: number): string[] {
  return [directory, String(memoryBytes), String(process.pid)]
}

/** Ends when the parent hangs up. */
export async function serveJobs(args: readonly string[], version: string): Promise<void> {
  const [directory, memoryBytes, parent] = [args[0]!, Number(args[1]), Number(args[2])]
  const workerData = { parent, directory, memoryBytes, signal: OUT_OF_MEMORY }
  const watch = new Worker(WATCH, { eval: true, workerData, stdout: false, stderr: false })
  process.on('message', async (task: Task) => {
    const result = await perform(task, { directory, version, environment: process.env })
    process.send?.(result)
  })
  process.send?.(READY)
  await new Promise((resolve) => process.once('disconnect', resolve))
  watch.postMessage('end')
}
