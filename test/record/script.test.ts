// Playing schedules on a database that answers when the test says so.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Connection, Database } from '../../src/record/database.ts'
import { playSchedule } from '../../src/record/script.ts'
import type { Schedule } from '../../src/workload/schedules.ts'
import { inDirectory } from './stage.ts'

/** Reads of keys in `held` are answered by `answer`, all else at once. */
class Puppet {
  readonly sent: string[] = []
  private readonly answers = new Map<string, () => void>()

  constructor(
    private readonly held: readonly string[],
    private readonly isBlocked: (txn: number, puppet: Puppet) => boolean,
  ) {}

  answer(step: string): void {
    this.answers.get(step)?.()
  }

  get database(): Database {
    let opened = 0
    const waiting = new Map<Connection, number>()
    const open = async () => {
      const connection = this.connection(++opened)
      waiting.set(connection, opened)
      return connection
    }
    const isBlocked = async (connection: Connection) =>
      this.isBlocked(waiting.get(connection)!, this)
    return { name: 'puppet', open, script: { isBlocked } } as unknown as Database
  }

  private connection(txn: number): Connection {
    const nothing = async () => {}
    const read = async (key: number) => {
      const step = `T${txn} r ${key}`
      this.sent.push(step)
      if (this.held.includes(step)) {
        await new Promise<void>((resolve) => this.answers.set(step, resolve))
      }
      return [null]
    }
    const sendBegin = async () => {
      this.sent.push(`T${txn} begin`)
    }
    const commit = async () => {
      this.sent.push(`T${txn} commit`)
    }
    const own = { isLost: false, begin: nothing, sendBegin, read }
    const ends = { commit, rollback: nothing, cut: () => {} }
    return { ...own, ...ends } as unknown as Connection
  }
}

function play(puppet: Puppet, steps: readonly string[], patienceMs: number) {
  const schedule: Schedule = { id: 'x', name: 'x', about: 'x', on: 'keys', steps }
  return inDirectory((directory) =>
    playSchedule(schedule, {
      database: puppet.database,
      level: 'ser',
      path: join(directory, 'history.jsonl'),
      firstKey: 0,
      connections: [],
      patienceMs,
    }),
  )
}

describe('playSchedule', () => {
  it('gives up on a step that is never answered, though nobody is in its way', async () => {
    const puppet = new Puppet(['T1 r 0'], () => false)
    const played = play(puppet, ['T1 r x', 'T1 commit'], 50)
    await expect(played).rejects.toThrow('got no answer, though nobody was in its way')
  })

  it('sends BEGIN by itself where a schedule says so', async () => {
    const puppet = new Puppet([], () => false)
    const steps = ['T1 begin', 'T2 r x', 'T2 commit', 'T1 r x', 'T1 commit']
    const { ends } = await play(puppet, steps, 20_000)
    expect(ends).toEqual(['committed', 'committed'])
    expect(puppet.sent).toEqual(['T1 begin', 'T2 r 0', 'T2 commit', 'T1 r 0', 'T1 commit'])
  })

  it('keeps the steps of a transaction in order when its answer comes late', async () => {
    let hasEnded = false
    // The first is answered while the server is asked about the second, after the third has ended.
    const puppet = new Puppet(['T1 r 0', 'T2 r 1'], (txn, own) => {
      hasEnded ||= own.sent.includes('T3 commit')
      if (txn === 2 && hasEnded) own.answer('T1 r 0')
      if (own.sent.includes('T1 commit')) own.answer('T2 r 1')
      return true
    })
    const steps = 'T1 r x,T2 r y,T3 r z,T3 commit,T1 r y,T2 r x,T1 commit,T2 commit'.split(',')
    const { ends } = await play(puppet, steps, 20_000)
    expect(ends).toEqual(['committed', 'committed', 'committed'])
    const own = puppet.sent.filter((step) => step.startsWith('T1'))
    expect(own).toEqual(['T1 r 0', 'T1 r 1', 'T1 commit'])
  })
})
