// A session's connection to Redis. A transaction reads under WATCH and hands over what it wrote in
// one MULTI … EXEC, which Redis refuses if a watched key was changed; compare-and-set is a script.
//
// What errors mean (docs/databases.md has the table): EXEC answered by nothing was refused, one
// answered by EXECABORT ran no command. Without an answer nobody knows.

import { DatabaseError } from '../../base/errors.ts'
import type { Value } from '../../history/values.ts'
import { offeredBy } from '../../levels/databases.ts'
import { REPLACE } from '../../workload/plan.ts'
import { type Fate, TransactionFailure } from '../database.ts'
import { changedMeanwhile, type Kept, OptimisticConnection } from '../optimistic.ts'
import { lostBefore, type Phase } from '../registers.ts'
import { callAll, codeOf, type RedisClient } from './client.ts'

export const REDIS_LEVELS = offeredBy('redis')

/** All that a run writes has names that begin with this. */
export const PREFIX = 'isobar-run-safe-to-drop:'

const CAS = `local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

/** No other transaction will fare better: the run has to stop. */
const HOPELESS = ['READONLY', 'NOAUTH', 'NOPERM', 'WRONGTYPE', 'MISCONF', 'CROSSSLOT', 'MOVED']

/** How a transaction ended that failed with this code (null: without an answer) in this phase. */
export function fateOf(phase: Phase, code: string | null): Fate {
  if (phase === 'work') return 'aborted'
  // A script that the server refuses has not run; one that fails in the middle may have.
  const refusals = ['EXECABORT', 'LOADING', 'BUSY', 'OOM', 'NOSCRIPT', 'MASTERDOWN', 'CLUSTERDOWN']
  return code !== null && refusals.includes(code) ? 'aborted' : 'indeterminate'
}

type Command = readonly [string, ...(string | number)[]]

export class RedisConnection extends OptimisticConnection {
  protected readonly appendsByReading = false
  private lost = false
  private isWatching = false

  constructor(private readonly client: RedisClient) {
    super()
    client.on('end', () => {
      this.lost = true
    })
  }

  get localPort(): number {
    return this.client.stream.localPort ?? 0
  }

  get isLost(): boolean {
    return this.lost
  }

  async cas(key: number, old: Value, value: number): Promise<number> {
    const command: Command = ['EVAL', CAS, 1, nameOf(key), String(old ?? ''), value]
    return Number(await this.send('alone', [command]))
  }

  async get(key: number): Promise<readonly Value[]> {
    return [toValue(await this.send('work', [['GET', nameOf(key)]]))]
  }

  async close(): Promise<void> {
    this.cut()
  }

  cut(): void {
    this.lost = true
    this.client.stream.destroy()
    this.client.disconnect()
  }

  protected async fetch(key: number): Promise<Value> {
    return toValue(await this.watched(['GET', nameOf(key)]))
  }

  protected async fetchList(key: number): Promise<Value[]> {
    return ((await this.watched(['LRANGE', listOf(key), 0, -1])) as string[]).map(toValue)
  }

  protected async settle({ values, appended }: Kept): Promise<void> {
    const commands: Command[] = [['MULTI']]
    for (const [key, { value, way }] of values) {
      if (way === REPLACE) commands.push(['DEL', nameOf(key)])
      commands.push(['SET', nameOf(key), value])
    }
    for (const [key, more] of appended) commands.push(['RPUSH', listOf(key), ...more])
    if (commands.length === 1 && !this.isWatching) return
    this.isWatching = false
    // Also where nothing was written: EXEC says whether what was read is still so.
    const answers = await this.send('commit', [...commands, ['EXEC']])
    if (answers === null) throw changedMeanwhile()
    const broken = (answers as unknown[]).find((each) => each instanceof Error)
    if (broken) throw new DatabaseError(`Redis ran half a transaction: ${String(broken)}`)
  }

  protected async release(): Promise<void> {
    if (this.isWatching) await this.send('work', [['UNWATCH']])
    this.isWatching = false
  }

  private watched(command: Command): Promise<unknown> {
    if (!this.isGuarded) return this.send('work', [command])
    this.isWatching = true
    return this.send('work', [['WATCH', String(command[1])], command])
  }

  /** Sends commands together; the answer to the last one. */
  private async send(phase: Phase, commands: readonly Command[]): Promise<unknown> {
    if (this.lost) throw lostBefore()
    const answers = await callAll(this.client, commands)
    const last = answers.at(-1)!
    if (last.status === 'fulfilled') return last.value
    const code = codeOf(last.reason)
    if (code === null) this.cut()
    // EXEC only says that some command before it was refused; that one says why.
    const first = answers.find((answer) => answer.status === 'rejected')!
    const why = codeOf(first.reason) ?? code
    const { message } = first.reason as Error
    if (why !== null && HOPELESS.includes(why)) {
      throw new DatabaseError(`the database refuses the workload: ${message}`)
    }
    throw new TransactionFailure(fateOf(phase, code), message, why)
  }
}

function nameOf(key: number): string {
  return `${PREFIX}${key}`
}

function listOf(key: number): string {
  return `${PREFIX}list:${key}`
}

function toValue(text: unknown): Value {
  return text === null ? null : Number(text)
}
