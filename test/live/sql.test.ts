// SQL transactions on a real PostgreSQL: what it promises is found to hold; three things that it
// does not promise are shown to happen, by hand and with as few statements as they take.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { judge } from '../../src/check/judge.ts'
import { readLevelsFile } from '../../src/cli/levels-file.ts'
import { readHistory } from '../../src/formats/open.ts'
import { COMMITTED, INDETERMINATE } from '../../src/history/history.ts'
import type { SqlTable } from '../../src/history/sql-events.ts'
import { LEVELS, type LevelId } from '../../src/levels/levels.ts'
import { readLevel } from '../../src/levels/words.ts'
import type { RunOutcome } from '../../src/pipeline/run.ts'
import type { Connection } from '../../src/record/database.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import type { PostgresTarget } from '../../src/record/postgres/target.ts'
import { OpenTransaction, Recorder } from '../../src/record/recorder.ts'
import {
  add,
  deleteFrom,
  insert,
  type SqlStatement,
  select,
  update,
} from '../../src/sql/statement.ts'
import type { SqlRow } from '../../src/sql/value.ts'
import { sample } from '../long.ts'
import { inDirectory, stage, verdictsOf } from '../record/stage.ts'
import { liveServers, withClient } from './postgres.ts'

/** What was recorded is a whole history, each transaction at a level that was asked for. */
function expectWhole({ judged, summary, stoppedBy }: RunOutcome, levels: string): void {
  const { history, results } = judged!
  expect(stoppedBy).toBeNull()
  expect(history.txnCount).toBe(summary.transactions.recorded + summary.audits)
  expect(history.txnStatus.filter((status) => status === COMMITTED).length).toBeGreaterThan(20)
  expect(history.sql!.eventCount).toBeGreaterThan(history.txnCount / 2)
  const asked = levels === 'mixed' ? ['rc', 'si', 'ser'] : levels.split('+')
  const ran = new Set(Array.from(history.txnLevel!, (level) => LEVELS[level]!.id as string))
  expect([...ran].sort()).toEqual(asked.sort())
  for (const { verdict, certificate } of results) {
    expect(verdict === 'unknown' || certificate!.verified).toBe(true)
  }
}

describe.each(liveServers())('SQL transactions on %s', (_, target) => {
  const runs = [
    ['tpcc', 'ser'],
    ['tpcc', 'si'],
    ['twitter', 'si+rc'],
    ['tpcc', 'rc'],
    ['tpcc-pc', 'ser'],
    ['tpcc', 'si+rc'],
    ['tpcc-pc', 'rc'],
    ['twitter', 'ser'],
    ['twitter', 'si'],
    ['sql', 'ser'],
    ['twitter', 'rc'],
  ] as const
  it.each(sample(runs, 3))('keep their levels: %s at %s', async (shape, dbLevel) => {
    const workload = { shape, sessions: 6, transactions: 60, seed: 1 }
    await stage({ target: target(), dbLevel, workload, retries: 2 }, (outcome) => {
      expectWhole(outcome, dbLevel)
      expect(verdictsOf(outcome)).toEqual({ mixed: 'satisfied' })
    })
  })

  it.each(['ser+rc', 'mixed'])('are recorded whole and judged at %s', async (dbLevel) => {
    const workload = { shape: 'tpcc' as const, sessions: 6, transactions: 60, seed: 2 }
    await stage({ target: target(), dbLevel, workload }, (outcome) => {
      expectWhole(outcome, dbLevel)
      expect(verdictsOf(outcome)['mixed']).not.toBe('unknown')
    })
  })

  it('run at the levels that a file gives their types', async () => {
    const shape = 'tpcc' as const
    const file = '{"new order": "ser", "payment": "si", "*": "rc"}'
    await inDirectory(async (directory) => {
      const path = join(directory, 'levels.json')
      writeFileSync(path, file)
      const dbLevel = readLevelsFile(path, shape, (word) => readLevel(word).level)
      const workload = { shape, sessions: 6, transactions: 60, seed: 3 }
      await stage({ target: target(), dbLevel, workload, retries: 2 }, (outcome) => {
        const { history, results } = outcome.judged!
        const ran = new Set(Array.from(history.txnLevel!, (level) => LEVELS[level]!.id as string))
        expect([...ran].sort()).toEqual(['rc', 'ser', 'si'])
        expect(results[0]!.certificate!.verified).toBe(true)
        expect(outcome.summary.level.asked).toBe('new order=ser,payment=si,*=rc')
      })
    })
  })

  it('are not serializable at READ COMMITTED', async () => {
    const verdicts: string[] = []
    for (let seed = 1; seed <= 3 && !verdicts.includes('violated'); seed++) {
      const workload = { shape: 'tpcc' as const, sessions: 8, transactions: 64, seed }
      const levels = ['ser', 'mixed'] as const
      await stage({ target: target(), dbLevel: 'rc', levels, workload }, (outcome) => {
        const { ser, mixed } = verdictsOf(outcome)
        expect(mixed).toBe('satisfied')
        verdicts.push(ser!)
      })
    }
    expect(verdicts).toContain('violated')
  })

  it('lose no answer and make no false alarm when connections are cut', async () => {
    const workload = { shape: 'twitter' as const, sessions: 6, transactions: 200, keys: 5, seed: 3 }
    const fault = 'kill-connection:30%'
    await stage({ target: target(), dbLevel: 'ser', workload, fault }, (outcome) => {
      expectWhole(outcome, 'ser')
      expect(outcome.summary.connectionsCut).toBeGreaterThan(30)
      const { txnStatus } = outcome.judged!.history
      const open = txnStatus.filter((status) => status === INDETERMINATE).length
      expect(open).toBe(outcome.summary.transactions.indeterminate)
      expect(open).toBeGreaterThan(10)
      expect(verdictsOf(outcome)).toEqual({ mixed: 'satisfied' })
    })
  })

  it('leave alone a table that is not ours, and nothing behind', async () => {
    const workload = { shape: 'twitter' as const, sessions: 2, transactions: 10 }
    await withClient(target(), async (client) => {
      await client.query('CREATE TABLE isobar_users (precious int)')
      try {
        const run = stage({ target: target(), workload }, () => {})
        await expect(run).rejects.toThrow(/isobar_users.*isobar did not make/)
      } finally {
        await client.query('DROP TABLE isobar_users')
      }
      await stage({ target: target(), workload }, ({ summary }) => {
        expect(summary.transactions.recorded).toBe(10)
      })
      const left = await client.query(`SELECT 1 FROM pg_tables WHERE tablename LIKE 'isobar%'`)
      expect(left.rowCount).toBe(0)
    })
  })
})

const PAGES: SqlTable = {
  name: 'pages',
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'hits', type: 'integer' },
  ],
  keyColumns: [0],
}

/** A session whose statements are given one by one, recorded as those of a run are. */
class Hand {
  private readonly txn = new OpenTransaction()
  private static lastWrite = 0

  constructor(
    private readonly recorder: Recorder,
    private readonly session: number,
    private readonly connection: Connection,
  ) {}

  async begin(level: LevelId): Promise<void> {
    this.recorder.begin(this.txn, this.session, level)
    await this.connection.begin(level)
  }

  /** Returns the rows as text, such as `1,9`. */
  async run(statement: SqlStatement): Promise<string[]> {
    const write = ++Hand.lastWrite
    const answer = await this.connection.run(PAGES, statement, write)
    this.txn.addStatement(PAGES, statement, write, answer)
    return answer.rows.map(String).sort()
  }

  async commit(): Promise<void> {
    this.recorder.pending(this.txn)
    await this.connection.commit()
    this.recorder.outcome(this.txn, 'committed')
  }
}

/** Plays a scene with three sessions on the rows given, and judges what they saw. */
async function play(
  target: PostgresTarget,
  rows: readonly SqlRow[],
  scene: (hands: readonly [Hand, Hand, Hand], watch: Client) => Promise<void>,
): Promise<string> {
  const database = await PostgresDatabase.open(target.address)
  try {
    await database.addTables([PAGES], [rows])
    const open = [await database.open(), await database.open(), await database.open()] as const
    return await inDirectory(async (directory) => {
      const path = join(directory, 'history.jsonl')
      const recorder = new Recorder(path, {}, { tables: [PAGES], rows: [rows] })
      const [a, b, c] = open.map((connection, i) => new Hand(recorder, i, connection))
      await withClient(target, (watch) => scene([a!, b!, c!], watch))
      recorder.close()
      await Promise.all(open.map((connection) => connection.close()))
      const [result] = await judge((await readHistory(path)).history, ['mixed'])
      return [result!.verdict, ...result!.anomalies.map(({ name }) => name)].join(' ')
    })
  } finally {
    await database.close()
  }
}

async function untilSomebodyWaits(watch: Client): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
  while ((await watch.query(text)).rowCount === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe.each(liveServers())('%s', (_, target) => {
  const nineAndTen = [
    [1n, 9n],
    [2n, 10n],
  ]

  it('at READ COMMITTED shows a statement two states at once, after it waited', async () => {
    const verdict = await play(target(), nineAndTen, async ([a, b], watch) => {
      await a.begin('rc')
      await b.begin('rc')
      expect(await a.run(update('pages', { hits: add(1n) }))).toEqual(['1,10', '2,11'])
      // Row 1 has 9 hits in its snapshot; row 2 has 11 once the lock is free.
      const waiting = b.run(deleteFrom('pages', 'hits = 10'))
      await untilSomebodyWaits(watch)
      await a.commit()
      expect(await waiting).toEqual([])
      await b.commit()
    })
    expect(verdict).toBe('violated Phantom')
  })

  it('at READ COMMITTED shows one state to a statement that finds its row by key', async () => {
    const verdict = await play(target(), nineAndTen, async ([a, b], watch) => {
      await a.begin('rc')
      await b.begin('rc')
      await a.run(update('pages', { hits: add(1n) }))
      const waiting = b.run(deleteFrom('pages', 'id = 2'))
      await untilSomebodyWaits(watch)
      await a.commit()
      expect(await waiting).toEqual(['2,11'])
      await b.commit()
    })
    expect(verdict).toBe('satisfied')
  })

  it('at REPEATABLE READ lets a row be inserted that was deleted behind its back', async () => {
    const verdict = await play(target(), nineAndTen, async ([a, b]) => {
      await a.begin('si')
      expect(await a.run(select('pages', 'id = 1'))).toEqual(['1,9'])
      await b.begin('si')
      await b.run(deleteFrom('pages', 'id = 1'))
      await b.commit()
      await a.run(insert('pages', [1n, 0n]))
      expect(await a.run(select('pages', 'id = 1'))).toEqual(['1,0', '1,9'])
      await a.commit()
    })
    expect(verdict).toBe('violated DuplicateRow LostUpdate')
  })

  it('at REPEATABLE READ lets no row be inserted or updated that was updated', async () => {
    const database = await PostgresDatabase.open(target().address)
    try {
      await database.addTables([PAGES], [nineAndTen])
      const [a, b] = [await database.open(), await database.open()]
      const write = insert('pages', [1n, 0n])
      for (const statement of [write, update('pages', { hits: add(1n) }, 'id = 1')]) {
        await a.begin('si')
        await a.run(PAGES, select('pages'), 1)
        await b.run(PAGES, update('pages', { hits: add(1n) }, 'id = 1'), 2)
        const refused = a.run(PAGES, statement, 3)
        await expect(refused).rejects.toMatchObject({ fate: 'aborted', code: '40001' })
        await a.rollback()
      }
      await Promise.all([a.close(), b.close()])
    } finally {
      await database.close()
    }
  })

  it.each([
    ['rc', 'violated'],
    ['ser', 'refused'],
  ] as const)('is serializable only among serializable transactions: %s', async (level, end) => {
    let outcome = ''
    const verdict = play(target(), nineAndTen, async ([a, b, c]) => {
      await a.begin('ser')
      await a.run(select('pages', 'id = 1'))
      await b.begin(level)
      await b.run(update('pages', { hits: add(1n) }, 'id = 1'))
      await b.commit()
      await c.begin('ser')
      expect(await c.run(select('pages', 'id = 1'))).toEqual(['1,10'])
      expect(await c.run(select('pages', 'id = 2'))).toEqual(['2,10'])
      await c.commit()
      await a.run(update('pages', { hits: add(1n) }, 'id = 2'))
      await a.commit()
    })
    outcome = await verdict.catch(({ code }) => (code === '40001' ? 'refused' : code))
    expect(outcome.split(' ')[0]).toBe(end)
  })
})
