// A session's connection to MariaDB or MySQL. Errors become the transaction's fate by codes.ts.

import { DatabaseError } from '../../base/errors.ts'
import { offeredBy } from '../../levels/databases.ts'
import type { LevelId } from '../../levels/levels.ts'
import { TransactionFailure } from '../database.ts'
import { type Dialect, lostBefore, type Phase, RegisterConnection } from '../registers.ts'
import { type Answer, insertRows } from '../rows.ts'
import type { MysqlAddress } from './address.ts'
import { codeOf, hangUp, type MysqlClient, query, type ServerError } from './client.ts'
import { fateOf, isHopeless, isLastWord } from './codes.ts'

export const MYSQL_LEVELS = offeredBy('mariadb')

const DIALECT: Dialect = {
  upsert: (insert) => `${insert} ON DUPLICATE KEY UPDATE v = VALUES(v)`,
  same: '<=>',
  concat: (one, other) => `CONCAT(${one}, ${other})`,
  forUpdate: 'FOR UPDATE',
  seeing: 'variable',
  upsertRows: (into, tuples, _key, others) => {
    const set = others.map((name) => `${name} = VALUES(${name})`)
    return `${insertRows(into, tuples)} ON DUPLICATE KEY UPDATE ${set.join(', ')}`
  },
}

/** The statement by which a session asks for a level. */
export function askFor(address: MysqlAddress, level: LevelId): string {
  const own = address.isolation ?? MYSQL_LEVELS.get(level)!
  return `SET SESSION TRANSACTION ISOLATION LEVEL ${own}`
}

export class MysqlConnection extends RegisterConnection {
  private readonly start: string
  private level: LevelId | null = null // that of the session
  private isBegun = false
  private lost = false

  constructor(
    private readonly client: MysqlClient,
    readonly address: MysqlAddress,
    keyCount: () => number,
  ) {
    super(DIALECT, keyCount)
    const snapshot = address.snapshotAtStart ? ' WITH CONSISTENT SNAPSHOT' : ''
    this.start = `START TRANSACTION${snapshot}`
    client.on('error', () => this.cut())
    client.on('end', () => {
      this.lost = true
    })
  }

  /** By which the server knows it. */
  get threadId(): number {
    return this.client.threadId
  }

  get localPort(): number {
    return this.client.stream.localPort ?? 0
  }

  get isLost(): boolean {
    return this.lost
  }

  async begin(level: LevelId): Promise<void> {
    await this.setLevelAlone(level)
    this.isBegun = true
    await this.execute('work', this.start)
  }

  async commit(): Promise<void> {
    this.isBegun = false
    await this.execute('commit', 'COMMIT')
  }

  async rollback(): Promise<void> {
    if (this.isBegun && !this.lost) await this.execute('work', 'ROLLBACK')
    this.isBegun = false
  }

  async close(): Promise<void> {
    if (this.lost) return this.cut()
    this.lost = true
    const timer = setTimeout(() => hangUp(this.client), 1000)
    await new Promise<void>((resolve) => {
      this.client.on('end', resolve)
      this.client.stream.once('close', resolve)
      this.client.end(resolve)
    })
    clearTimeout(timer)
  }

  cut(): void {
    this.lost = true
    this.client.stream.destroy(new Error('the connection was cut'))
  }

  protected async setLevelAlone(level: LevelId): Promise<void> {
    if (this.level === level) return
    await this.execute('work', askFor(this.address, level))
    this.level = level
  }

  protected async execute(phase: Phase, statement: string): Promise<Answer> {
    if (this.lost) throw lostBefore()
    try {
      return await query(this.client, statement)
    } catch (error) {
      throw this.failure(phase, error as ServerError)
    }
  }

  private failure(phase: Phase, error: ServerError): Error {
    const code = codeOf(error)
    if (isLastWord(code)) this.cut()
    if (isHopeless(code)) {
      return new DatabaseError(`the database refuses the workload: ${error.message} (${code})`)
    }
    const shown = code === null ? null : String(code)
    return new TransactionFailure(fateOf(phase, code), error.message, shown)
  }
}
