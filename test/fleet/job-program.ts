// A process that does jobs, from the sources; histories of certain names are poison to it.

import { readFileSync } from 'node:fs'
import { serveJobs } from '../../src/fleet/job-process.ts'
import type { Task } from '../../src/fleet/result.ts'

process.on('message', (task) => {
  const { job } = task as Task
  if (job.kind !== 'file') return
  if (job.path.endsWith('crash')) process.abort()
  if (job.path.endsWith('endless')) for (;;) readFileSync('/dev/null')
  const hoard: Buffer[] = []
  if (job.path.endsWith('memory')) for (;;) hoard.push(Buffer.alloc(10_000_000, 1))
})
await serveJobs(process.argv.slice(2), 'test')
