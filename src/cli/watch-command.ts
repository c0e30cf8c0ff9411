// `isobar watch`: judges a history while it grows, in a file or a pipe.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { nowMs } from '../base/deadline.ts'
import { InputError, UsageError } from '../base/errors.ts'
import { parseDuration } from '../base/quantities.ts'
import { chunksInTime } from '../formats/waiting.ts'
import { plain } from '../report/names.ts'
import { loadCheckpoint, saveCheckpoint } from '../watch/checkpoint.ts'
import { GrowingFile } from '../watch/follow.ts'
import {
  DEFAULT_WINDOW,
  WATCHED_FORMATS,
  WATCHED_LEVELS,
  type WatchedLevel,
  Watcher,
} from '../watch/watcher.ts'
import { parseNumber, parseRequests, splitList } from './options.ts'
import { Interrupt } from './signals.ts'
import { tell } from './terminal.ts'
import { Watching } from './watching.ts'

interface Flags {
  level: string
  format?: string
  window: string
  until?: string
  json?: boolean
  metrics?: string
  checkpoint?: string
  checkpointEvery: string
}

const POLL_MS = 50 // how often a silent file is looked at

export function addWatchCommand(program: Command, done: (code: number) => void): void {
  program
    .command('watch')
    .description('judge a history while it grows, with an alarm when a level is violated')
    .argument('<file>', 'a file that grows, or - for standard input')
    .optionsGroup('What is judged:')
    .option(
      '-l, --level <ids>',
      `levels to judge, of ${WATCHED_LEVELS.join(', ')}`,
      WATCHED_LEVELS.join(','),
    )
    .option('-f, --format <id>', `format (${WATCHED_FORMATS.join(', ')}); else by content`)
    .option(
      '--window <n>',
      'transactions that are held at least: what arrives further apart may stay unknown',
      String(DEFAULT_WINDOW),
    )
    .option(
      '--until <when>',
      'when to stop: violated (any level), end (of the file as it is), or a time without news such as 30s; several with commas',
    )
    .optionsGroup('Output:')
    .option('--json', 'events, one JSON object a line: status, alarm, unknown, end')
    .option('--metrics <port>', 'show metrics for Prometheus at this port of this machine; 0: any')
    .optionsGroup('Restarts:')
    .option(
      '--checkpoint <dir>',
      'where to write down now and then what was seen, and to go on from',
    )
    .option('--checkpoint-every <time>', 'how often', '10s')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, flags: Flags) => done(await watch(path, flags)))
}

const EXAMPLES = `
A pipe is judged to its end; a file until every level is violated, --until says so, or Ctrl-C.
Exit codes as of check: 0 satisfied, 1 some level violated, 3 none violated but some unknown.
"satisfied so far" is about what was judged; what was let go is final. What the window cannot
decide is unknown, never a pass. Ctrl-C says what is known so far, and ends with 130.

Examples:
  isobar watch history.jsonl --level cc               follow a file that a recorder writes
  recorder | isobar watch - --level rc,ra --json      a pipe, events as JSON lines
  isobar watch history.jsonl --until violated,5m      until an alarm, or five minutes of silence
  isobar watch h.txt --checkpoint state/ --metrics 9420
                                                      goes on after a restart; metrics at :9420`

interface Until {
  violated: boolean
  end: boolean
  silentMs: number | null
}

async function watch(path: string, flags: Flags): Promise<number> {
  const levels = levelsOf(flags.level)
  const window = Math.floor(parseNumber('window', flags.window, 1))
  const until = parseUntil(flags.until)
  const isPipe = path === '-'
  const everyMs = parseDuration(flags.checkpointEvery)
  const directory = flags.checkpoint ?? null
  if (directory?.trim() === '') {
    throw new UsageError('--checkpoint names no directory: it is empty')
  }
  if (isPipe && directory !== null) {
    const hint = 'let it write a file, and watch that'
    throw new UsageError('what came through a pipe cannot be read again after a restart', hint)
  }
  const format = flags.format ?? null
  const file = isPipe ? null : new GrowingFile(path)
  const saved =
    file && directory !== null && loadCheckpoint(directory, file, { levels, window, format })
  const watcher = saved || new Watcher({ levels, window, format })
  const name = isPipe ? 'standard input' : plain(path)
  const watching = new Watching(watcher, { path: name, json: flags.json === true })
  const port = flags.metrics === undefined ? null : parsePort(flags.metrics)
  if (port !== null) {
    const bound = await watching.serveMetrics(port)
    process.stderr.write(`isobar: metrics at http://127.0.0.1:${bound}/metrics\n`)
  }
  if (file && saved && !flags.json) {
    await tell(`going on after ${file.offset} bytes, ${watcher.judgedTxns} transactions\n`)
  }
  const interrupt = new Interrupt(null)
  interrupt.listen()
  const { signal } = interrupt
  const isOver = () =>
    signal.aborted ||
    watcher.isDecided ||
    (until.violated && watcher.states.some(({ verdict }) => verdict === 'violated')) ||
    (until.silentMs !== null && nowMs() - watching.lastNewsMs >= until.silentMs)
  try {
    const isEnd = file
      ? await readGrowing(file, watching, isOver, until, { directory, everyMs })
      : await readPipe(watching, isOver)
    if (!signal.aborted && watcher.judgedTxns === 0) {
      throw new UsageError('nothing was judged: there is no transaction in it')
    }
    const code = await watching.finish(isEnd)
    return signal.aborted ? interrupt.exitCode : code
  } catch (error) {
    if (error instanceof InputError) error.path ??= name
    await watching.close()
    throw error
  } finally {
    interrupt.ignore()
  }
}

/** Returns whether the input has ended. */
async function readPipe(watching: Watching, isOver: () => boolean): Promise<boolean> {
  const { stdin } = process
  class Over extends Error {}
  const look = () => {
    watching.tick()
    if (isOver()) throw new Over()
  }
  const chunks = stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  try {
    for await (const chunk of chunksInTime(chunks, look, () => stdin.destroy())) {
      watching.take(chunk)
      look()
    }
  } catch (error) {
    if (!(error instanceof Over)) throw error
    watching.judge()
    return false
  }
  watching.judge(true)
  return true
}

/** Returns whether the input has ended. */
async function readGrowing(
  file: GrowingFile,
  watching: Watching,
  isOver: () => boolean,
  until: Until,
  saving: { directory: string | null; everyMs: number },
): Promise<boolean> {
  let savedMs = nowMs()
  const save = () => {
    if (saving.directory === null) return
    saveCheckpoint(saving.directory, file, watching.watcher)
    savedMs = nowMs()
  }
  try {
    for (;;) {
      const chunk = file.read()
      if (chunk) watching.take(chunk)
      else if (until.end) {
        save() // before it is judged as the end: the file may grow again
        watching.judge(true)
        return true
      } else await sleep(POLL_MS)
      watching.tick()
      if (isOver()) break
      if (nowMs() - savedMs >= saving.everyMs) save()
      // Signals and metrics have their turn, however fast the file grows.
      if (chunk) await new Promise((resolve) => setImmediate(resolve))
    }
    watching.judge()
    save()
    return false
  } finally {
    file.close()
  }
}

function levelsOf(text: string): WatchedLevel[] {
  return parseRequests(text).map(({ level, sessionOrder }) => {
    const found = WATCHED_LEVELS.find((watched) => watched === level)
    if (found && sessionOrder !== false) return found
    const hint = `watch judges ${WATCHED_LEVELS.join(', ')}; isobar check judges the others`
    throw new UsageError(`level ${level} cannot be watched`, hint)
  })
}

function parseUntil(text: string | undefined): Until {
  const words = text === undefined ? [] : splitList(text)
  const times = words.filter((word) => word !== 'violated' && word !== 'end')
  if (times.length > 1) throw new UsageError('--until takes one time without news')
  return {
    violated: words.includes('violated'),
    end: words.includes('end'),
    silentMs: times[0] === undefined ? null : parseDuration(times[0]),
  }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--metrics is a port up to 65535, not ${JSON.stringify(text)}`)
}
