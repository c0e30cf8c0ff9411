// Trouble that comes to all sessions at once, beside the transactions: the server crashes, stops
// for a while, has its clock set, is flooded with connections, or nodes are cut off; now
// and then, or by a timetable. One thing happens at a time, and each is marked in the record where
// it begins and where it ends. What happens is the target's business; that the record stays true is
// the sessions'. Main class: Trouble; parseTimetable.

import { UsageError } from '../base/errors.ts'
import type { Connection, Database } from './database.ts'
import { type Event, type EventKind, type PlannedEvent, parsePlanned } from './faults.ts'
import type { Recorder } from './recorder.ts'

/** Waits, but no longer than the run. */
export type Wait = (ms: number) => Promise<void>

/** Kind of event -> what brings it about, and undoes it before it returns. */
export type Makers = {
  readonly [Kind in EventKind]?: (
    event: Extract<Event, { kind: Kind }>,
    wait: Wait,
  ) => Promise<void>
}

/** How an event begins and ends, in the record. */
const MARKS: Readonly<Record<EventKind, readonly [begins: string, ends: string]>> = {
  restart: ['the server goes down', 'the server is back'],
  kill: ['the server is killed', 'the server is back'],
  stop: ['the server is stopped', 'the server goes on'],
  partition: ['nodes are cut off from the others', 'the nodes are back'],
  storm: ['a storm of connections begins', 'the storm of connections is over'],
  clock: ['the clock of the server is wrong', 'the clock of the server is right again'],
}

export class Trouble {
  /** How often the server was crashed and started again. */
  restarts = 0
  private isOver = false
  private wake: (() => void) | null = null

  constructor(
    private readonly events: readonly PlannedEvent[],
    private readonly makers: Makers,
    private readonly recorder: Recorder,
  ) {}

  /** Goes on until `end` is called or nothing is due any more. Throws what a maker throws. */
  async run(): Promise<void> {
    const startMs = performance.now()
    const due = this.events.map(({ firstMs }) => startMs + firstMs) // event -> when it comes next
    for (;;) {
      const next = due.indexOf(Math.min(...due))
      if (next < 0 || due[next] === Number.POSITIVE_INFINITY) return
      await this.wait(due[next]! - performance.now())
      if (this.isOver) return
      const { event, everyMs } = this.events[next]!
      await this.make(event)
      due[next] = everyMs === null ? Number.POSITIVE_INFINITY : performance.now() + everyMs
    }
  }

  /** Nothing more happens, and what goes on ends at once. */
  end(): void {
    this.isOver = true
    this.wake?.()
  }

  private async make(event: Event): Promise<void> {
    const make = this.makers[event.kind] as
      | ((event: Event, wait: Wait) => Promise<void>)
      | undefined
    if (make === undefined) return
    const [begins, ends] = MARKS[event.kind]
    this.recorder.mark(begins)
    await make(event, (ms) => this.wait(ms))
    this.recorder.mark(ends)
    if (event.kind === 'restart' || event.kind === 'kill') this.restarts++
  }

  private wait(ms: number): Promise<void> {
    if (this.isOver || ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.wake = null
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.wake = done
    })
  }
}

/** Opens many connections at once, ends half of them in order and cuts the others. */
export async function storm(database: Database, count: number): Promise<void> {
  const open = async (i: number) => {
    let connection: Connection
    try {
      connection = await database.open()
    } catch {
      return // the server lets no more in
    }
    if (i % 2 === 0) await connection.close()
    else connection.cut()
  }
  await Promise.all(Array.from({ length: count }, (_, i) => open(i)))
}

/**
 * A timetable: on each line a time since the beginning and a fault, such as `12s kill-server`;
 * `#` begins a comment. Throws UsageError with the line.
 */
export function parseTimetable(text: string, path: string): PlannedEvent[] {
  return text.split(/\r?\n/).flatMap((line, i) => {
    const said = line.replace(/#.*/, '').trim()
    if (said === '') return []
    const [, time = '', fault = ''] = /^(\S+)\s+(\S+)$/.exec(said) ?? []
    const seconds = Number(/^(\d+(?:\.\d+)?)s$/.exec(time)?.[1])
    const planned = fault === '' ? null : parsePlanned(fault)
    const isRepeated = /^(restart|kill)-server:/.test(fault)
    if (isRepeated && planned !== null) {
      throw new UsageError(
        `${path}:${i + 1}: a line of a timetable happens once, at its time`,
        `write ${time} ${fault.split(':')[0]}, and another line for another time`,
      )
    }
    if (Number.isNaN(seconds) || planned === null) {
      throw new UsageError(
        `${path}:${i + 1}: this is no line of a timetable`,
        'a line is a time and something that happens to the server, e.g. 12s kill-server',
      )
    }
    return [{ event: planned.event, firstMs: seconds * 1000, everyMs: null }]
  })
}
