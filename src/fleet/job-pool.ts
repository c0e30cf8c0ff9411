// Processes that do jobs, as many at once as asked for. A process is used again as long as it ends
// its jobs in order: starting one takes longer than judging a small history. One that dies, takes
// too long or too much memory takes its own job with it, and nothing else. Main class: JobPool.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nowMs } from '../base/deadline.ts'
import { OUT_OF_MEMORY, processArguments, READY } from './job-process.ts'
import { failure, type JobResult, type Task } from './result.ts'

export interface Limits {
  readonly timeMs: number
  readonly memoryBytes: number
}

/** After so many jobs a process is replaced: what it has gathered goes with it. */
const MOST_JOBS = 500
const KEPT_COMPLAINT = 4000
const START_PATIENCE_MS = 60_000

export class JobPool {
  private readonly idle: JobProcess[] = []
  private readonly all = new Set<JobProcess>()
  private readonly waiting: (() => void)[] = []
  private busy = 0
  private isClosed = false

  /**
   * @param size how many jobs are done at once
   * @param command what starts a process, behind Node's own name
   */
  constructor(
    private readonly size: number,
    private readonly command: readonly string[],
  ) {}

  /** Does a job; what becomes of its process is a result, too. */
  async run(task: Task, limits: Limits): Promise<JobResult> {
    while (this.busy >= this.size && !this.isClosed) {
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
    if (this.isClosed) return failure('machine', 'the worker ends', 0)
    this.busy++
    try {
      return await this.runIn(this.take(limits), task, limits)
    } catch (error) {
      return failure('machine', notStarted(error as Error), 0)
    } finally {
      this.busy--
      this.waiting.shift()?.()
    }
  }

  private async runIn(process: JobProcess, task: Task, { timeMs }: Limits): Promise<JobResult> {
    try {
      return await process.run(task, timeMs)
    } finally {
      if (process.isUsable) this.idle.push(process)
      else this.drop(process)
    }
  }

  private take({ memoryBytes }: Limits): JobProcess {
    for (;;) {
      const found = this.idle.pop()
      if (found === undefined) break
      if (found.isUsable && found.memoryBytes === memoryBytes) return found
      this.drop(found)
    }
    const made = new JobProcess(this.command, memoryBytes)
    this.all.add(made)
    return made
  }

  private drop(process: JobProcess): void {
    process.end()
    this.all.delete(process)
  }

  /** Ends all processes, in the middle of whatever they do, and starts no others. */
  close(): void {
    this.isClosed = true
    for (const process of this.all) this.drop(process)
    for (const wake of this.waiting.splice(0)) wake()
  }
}

function notStarted({ message }: Error): string {
  return `its process could not be started: ${message}`
}

class JobProcess {
  private readonly child: ChildProcess
  private readonly directory = mkdtempSync(join(tmpdir(), 'isobar-jobs-'))
  private isGone = false
  private isReady = false
  private jobs = 0
  private complaint = ''

  constructor(
    command: readonly string[],
    readonly memoryBytes: number,
  ) {
    const heap = `--max-old-space-size=${Math.ceil(memoryBytes / 1024 ** 2)}`
    this.child = spawn(
      process.execPath,
      [heap, ...command, ...processArguments(this.directory, memoryBytes)],
      { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' },
    )
    // There are no streams where the machine has no more to give.
    this.child.stderr?.on('data', (bytes: Buffer) => {
      this.complaint = (this.complaint + bytes.toString('utf8')).slice(-KEPT_COMPLAINT)
    })
    this.child.on('error', (error) => {
      this.complaint ||= error.message
      this.isGone = true
      if (this.child.pid === undefined) this.leave()
    })
    this.child.once('close', () => this.leave())
  }

  private leave(): void {
    this.isGone = true
    rmSync(this.directory, { recursive: true, force: true })
  }

  get isUsable(): boolean {
    return !this.isGone && this.jobs < MOST_JOBS
  }

  run(task: Task, timeMs: number): Promise<JobResult> {
    this.jobs++
    const { child } = this
    const started = nowMs()
    return new Promise((resolve) => {
      let isOverdue = false
      const kill = () => {
        isOverdue = true
        child.kill('SIGKILL')
      }
      // A process that starts on a busy machine does not do so on the job's time.
      let timer = setTimeout(kill, timeMs + (this.isReady ? 0 : START_PATIENCE_MS))
      const finish = (result: JobResult) => {
        clearTimeout(timer)
        child.off('message', receive)
        child.off('close', die)
        child.off('error', fail)
        resolve(result)
      }
      const receive = (message: JobResult | typeof READY) => {
        if (message !== READY) return finish(message)
        this.isReady = true
        clearTimeout(timer)
        timer = setTimeout(kill, timeMs)
      }
      const die = (code: number | null, signal: NodeJS.Signals | null) => {
        const reason = isOverdue
          ? `did not end within ${timeMs / 1000} s`
          : this.fateOf(code, signal)
        finish(failure('machine', reason, nowMs() - started))
      }
      // What never started need not close, either.
      const fail = (error: Error) => {
        if (child.pid === undefined) finish(failure('machine', notStarted(error), 0))
      }
      child.on('message', receive)
      child.once('close', die)
      child.on('error', fail)
      // What has died before it was sent anything says so by `close`.
      if (child.connected) child.send(task, () => {})
    })
  }

  private fateOf(code: number | null, signal: NodeJS.Signals | null): string {
    const isFull = signal === OUT_OF_MEMORY || /heap out of memory/i.test(this.complaint)
    if (isFull) return `used more than ${Math.round(this.memoryBytes / 1e6)} MB of memory`
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    const said = this.complaint.trim().split('\n').at(-1) ?? ''
    return `its process ended ${how}${said === '' ? '' : `: ${said}`}`
  }

  end(): void {
    this.child.kill('SIGKILL')
  }
}
