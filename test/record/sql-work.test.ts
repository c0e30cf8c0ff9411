import { describe, expect, it } from 'vitest'
import { SqlWork } from '../../src/record/sql-work.ts'
import type { Operations } from '../../src/record/work.ts'
import type { SqlRow } from '../../src/sql/value.ts'
import { planSql } from '../../src/workload/sql/workload.ts'

/** What a session does in up to `limit` transactions if every statement returns `rows`. */
async function follow(work: SqlWork, session: number, rows: readonly SqlRow[], limit = 50) {
  const done: string[] = []
  for (let i = 0; i < limit && work.next(session); i++) {
    const statements: string[] = []
    const operations = {
      run: async (table, statement) => {
        statements.push(`${statement.kind} ${table.name}`)
        return rows
      },
    } as Partial<Operations> as Operations
    const ending = await work.perform(session, operations)
    done.push(`${work.level(session)}: ${statements.join(', ')}; ${ending}`)
  }
  return done
}

describe('SqlWork', () => {
  const plan = planSql({ shape: 'twitter', sessions: 3, transactions: 40, levels: 'ser+rc' })

  it('runs the programs of each session, each at its level', async () => {
    const work = new SqlWork(plan)
    const row = [1n, 1n, 1n]
    const all = [await follow(work, 0, [row]), await follow(work, 1, [row])]
    expect(all.map((own) => own.length)).toEqual([14, 13])
    expect(work.next(0)).toBe(false)
    const publish = 'ser: select users, insert tweets, update users; commit'
    expect(all.flat()).toContain(publish)
    expect(all.flat().filter((each) => each.startsWith('ser')).length).toBeLessThan(14)
  })

  it('lets a program decide by what it was shown', async () => {
    const shown = await follow(new SqlWork(plan), 0, [])
    expect(shown).toContain('ser: select users; abort')
  })

  it('does the same when it is tried again, and begins again where it repeats', async () => {
    const twice = new SqlWork(plan)
    twice.next(2)
    const [first] = await follow(new SqlWork(plan), 2, [], 1)
    const operations = { run: async () => [] } as Partial<Operations> as Operations
    expect(await twice.perform(2, operations)).toBe(first!.split('; ')[1])
    expect(await twice.perform(2, operations)).toBe(first!.split('; ')[1])
    const repeated = await follow(new SqlWork(plan, true), 2, [], 26)
    expect(repeated.slice(13)).toEqual(repeated.slice(0, 13))
  })
})
