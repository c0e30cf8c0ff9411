import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  loadTransactionFunction,
  type Operations,
  OwnWork,
  PlannedWork,
  type Work,
} from '../../src/record/work.ts'
import { planWorkload } from '../../src/workload/workload.ts'

/** Collects what a session would do in up to `limit` transactions, e.g. `r3 w3`. */
async function follow(work: Work, session: number, limit = 100): Promise<string[]> {
  const done: string[] = []
  for (let i = 0; i < limit && work.next(session); i++) {
    const ops: string[] = []
    const note = (verb: string) => async (key: number) => {
      ops.push(`${verb}${key}`)
      return null as never
    }
    const operations: Operations = {
      read: note('r'),
      write: note('w'),
      readList: note('R'),
      append: note('a'),
      rest: async () => {
        ops.push('.')
      },
      run: () => Promise.reject(new Error('no statements here')),
    }
    await work.perform(session, operations)
    done.push(ops.join(' '))
  }
  return done
}

describe('PlannedWork', () => {
  it('follows the plan of each session to its end', async () => {
    const plan = planWorkload({ shape: 'mini', sessions: 3, transactions: 10, keys: 5 })
    const work = new PlannedWork(plan)
    const all = [await follow(work, 0), await follow(work, 1), await follow(work, 2)]
    expect(all.map((own) => own.length)).toEqual([4, 3, 3])
    expect(await follow(work, 0)).toEqual([])
    expect(work.beginFinal()).toBe(false)
    const again = new PlannedWork(plan)
    expect(await follow(again, 2)).toEqual(all[2])
  })

  it('begins again where it repeats, on new keys if it works on lists', async () => {
    const registers = planWorkload({ shape: 'mini', sessions: 2, transactions: 4, keys: 5 })
    const repeated = await follow(new PlannedWork(registers, true), 0, 4)
    expect(repeated.slice(2)).toEqual(repeated.slice(0, 2))

    const lists = planWorkload({ shape: 'append', sessions: 2, transactions: 4, keys: 2 })
    const work = new PlannedWork(lists, true)
    const first = await follow(work, 0, 2)
    expect(work.keysNeeded(0)).toBe(lists.keyCount)
    const second = await follow(work, 0, 2)
    expect(work.keysNeeded(0)).toBe(2 * lists.keyCount)
    const shifted = first.map((ops) =>
      ops.replace(/\d+/g, (key) => String(Number(key) + lists.keyCount)),
    )
    expect(second).toEqual(shifted)
  })

  it('reads in the end what was appended to, and nothing else', async () => {
    const plan = planWorkload({ shape: 'append', sessions: 2, transactions: 4000, keys: 3 })
    const work = new PlannedWork(plan, true)
    const begun = await follow(work, 0, 3)
    const appended = new Set(
      begun
        .join(' ')
        .match(/a\d+/g)!
        .map((word) => word.slice(1)),
    )
    expect(work.beginFinal()).toBe(true)
    const last = [...(await follow(work, 0)), ...(await follow(work, 1))].join(' ')
    expect(new Set(last.match(/\d+/g))).toEqual(appended)
    expect(plan.keyCount).toBeGreaterThan(appended.size)
  })

  it('needs no rows to begin with where rows come and go, and takes new keys again', async () => {
    const plan = planWorkload({ shape: 'churn', sessions: 2, transactions: 4, keys: 3 })
    const work = new PlannedWork(plan, true)
    const first = await follow(work, 0, 2)
    const second = await follow(work, 0, 2)
    expect(work.keysNeeded(0)).toBe(0)
    const shifted = first.map((ops) =>
      ops.replace(/\d+/g, (key) => String(Number(key) + plan.keyCount)),
    )
    expect(second).toEqual(shifted)
  })

  it('reads every list once more at the end, and only then', async () => {
    const plan = planWorkload({ shape: 'append', sessions: 2, transactions: 20, keys: 3 })
    const work = new PlannedWork(plan)
    await follow(work, 0)
    await follow(work, 1)
    expect(work.beginFinal()).toBe(true)
    const last = [...(await follow(work, 0)), ...(await follow(work, 1))]
    const keys = last.flatMap((ops) => ops.split(' '))
    expect(new Set(keys).size).toBe(plan.keyCount)
    expect(keys.every((op) => op.startsWith('R'))).toBe(true)
    expect(work.beginFinal()).toBe(false)
  })
})

describe('OwnWork', () => {
  const about = { seed: 5, sessionCount: 2, transactions: 5, keyCount: 10 }

  it('deals the transactions and gives each session randomness of its own', async () => {
    const make = () =>
      new OwnWork(async (session, random, transaction) => {
        await transaction.read(random.below(10))
        await transaction.write(session)
      }, about)
    const work = make()
    const [first, second] = [await follow(work, 0), await follow(work, 1)]
    expect([first.length, second.length]).toEqual([3, 2])
    expect(first.every((ops) => /^r\d w0$/.test(ops))).toBe(true)
    expect(await follow(make(), 1)).toEqual(second)
  })

  it('says that the workload failed if it did', async () => {
    const work = new OwnWork(() => Promise.reject(new Error('oops')), about)
    await expect(follow(work, 0)).rejects.toThrow('the workload itself failed: oops')
  })
})

describe('loadTransactionFunction', () => {
  it('loads a module, and says what is missing in one that does not fit', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    try {
      const path = (name: string, text: string) => {
        writeFileSync(join(directory, name), text)
        return join(directory, name)
      }
      const good = path(
        'good.mjs',
        'export async function transaction(s, r, t) { await t.read(1) }',
      )
      expect(await loadTransactionFunction(good)).toBeTypeOf('function')
      const empty = path('empty.mjs', 'export const x = 1')
      await expect(loadTransactionFunction(empty)).rejects.toThrow(/exports no function/)
      const broken = path('broken.mjs', 'export const = 1')
      await expect(loadTransactionFunction(broken)).rejects.toThrow(/cannot load/)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
