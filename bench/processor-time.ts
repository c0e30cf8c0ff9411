// Processor time of this process and of all that it started, as Linux counts it, by who used it.
// A busy machine changes it less than the clock. Main function: processorTime.

import { readdirSync, readFileSync } from 'node:fs'

/** Hundredths of a second, as Linux counts them. */
const TICKS = 100
/** The compiler that tsx keeps is not what is measured. */
const COMPILER = 'esbuild'

/** In seconds. */
export interface ProcessorTime {
  /** Of this process. */
  readonly own: number
  /** Of PostgreSQL, with its connections. */
  readonly server: number
  /** Of all others. */
  readonly others: number
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly name: string
  readonly ticks: number
  /** Of children that have ended. */
  readonly ended: number
}

export function processorTime(): ProcessorTime {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(name) : []))
  const ours = new Set([process.pid])
  const time = { own: 0, server: 0, others: 0 }
  for (const pid of ours) {
    for (const each of all) {
      if (each.parent === pid) ours.add(each.pid)
      if (each.pid !== pid || each.name === COMPILER) continue
      const kind = each.name === 'postgres' ? 'server' : 'others'
      time[pid === process.pid ? 'own' : kind] += each.ticks / TICKS
      time[kind] += each.ended / TICKS
    }
  }
  return time
}

/** None if it has ended. */
function readProcess(pid: string): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    const fields = stat
      .slice(end + 2)
      .split(' ')
      .map(Number)
    return [
      {
        pid: Number(pid),
        name: stat.slice(stat.indexOf('(') + 1, end),
        parent: fields[1]!,
        ticks: fields[11]! + fields[12]!,
        ended: fields[13]! + fields[14]!,
      },
    ]
  } catch {
    return []
  }
}
