// `isobar run --watch`: judges what a run records while it records it, says on standard error when a
// level is violated, and ends the run then if that is asked for. What is recorded is judged as a
// whole at the end, as ever. Main class: RunWatch.

import { UsageError } from '../base/errors.ts'
import { implies, type LevelId, type LevelRequest } from '../levels/levels.ts'
import { GrowingFile } from '../watch/follow.ts'
import { WATCHED_LEVELS, type WatchedLevel, Watcher } from '../watch/watcher.ts'
import { Watching } from './watching.ts'

const LOOK_MS = 50

export class RunWatch {
  private readonly enough = new AbortController()
  private timer: NodeJS.Timeout | null = null
  private file: GrowingFile | null = null
  private readonly watching: Watching

  /**
   * @param path where the run records
   * @param levels that the run is about
   * @param untilViolated whether an alarm ends the run
   * @param say called with a line for standard error
   */
  constructor(
    private readonly path: string,
    levels: readonly LevelRequest[],
    private readonly untilViolated: boolean,
    private readonly say: (line: string) => void,
  ) {
    const watched = watchedOf(levels)
    const watcher = new Watcher({ levels: watched, format: 'native' })
    this.watching = new Watching(watcher, { path, quiet: true, json: false, onAlarm: this.alarm })
    const others = levels.map(({ level }) => level).filter((id) => !watched.some((at) => at === id))
    if (others.length === 0) return
    this.say(`watching ${watched.join(', ')}; ${others.join(', ')} judged at the end of the run`)
  }

  /** Ends the run. */
  get signal(): AbortSignal {
    return this.enough.signal
  }

  /** The run has begun to record. */
  start(): void {
    this.file = new GrowingFile(this.path)
    this.timer = setInterval(() => this.look(), LOOK_MS)
  }

  /** The run is over: what it recorded last is judged as well. */
  stop(): void {
    if (this.file) this.look(true)
    this.close()
  }

  private close(): void {
    if (this.timer) clearInterval(this.timer)
    this.file?.close()
    this.timer = null
    this.file = null
  }

  private look(isLast = false): void {
    try {
      for (let chunk = this.file?.read(); chunk; chunk = this.file?.read()) {
        this.watching.take(chunk)
      }
      if (isLast) this.watching.judge()
      else this.watching.tick()
      if (this.watching.watcher.isDecided) this.close()
    } catch (error) {
      // The run goes on, and is judged at its end.
      this.close()
      this.say(`no longer watching: ${(error as Error).message}`)
    }
  }

  private readonly alarm = (levels: readonly LevelId[], transactions: number): void => {
    const after = `after ${transactions} transactions`
    this.say(`ALARM ${after}: ${levels.join(', ')} violated`)
    if (this.untilViolated) this.enough.abort()
  }
}

/** What can be watched of these levels, or of what they imply. Throws UsageError. */
function watchedOf(requests: readonly LevelRequest[]): WatchedLevel[] {
  const watched = WATCHED_LEVELS.filter((weak) =>
    requests.some(
      ({ level, sessionOrder }) =>
        sessionOrder !== false && (level === weak || implies(level, weak)),
    ),
  )
  if (watched.length > 0) return watched
  const names = requests.map(({ level, sessionOrder }) =>
    sessionOrder === false ? `${level} without session order` : level,
  )
  const hint = `it judges ${WATCHED_LEVELS.join(', ')} with session order, and those that imply them as far as they do`
  throw new UsageError(`--watch cannot judge ${names.join(', ')} while it happens`, hint)
}
