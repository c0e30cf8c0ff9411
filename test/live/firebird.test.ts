// Firebird: tables that are not ours, runs at the same time, refusals.

import { describe, expect, it } from 'vitest'
import type { Connection, TransactionFailure } from '../../src/record/database.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { parseFirebirdAddress } from '../../src/record/firebird/address.ts'
import { connectClient, hangUp, scalar } from '../../src/record/firebird/client.ts'
import { MARK } from '../../src/record/registers.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { LONG } from '../long.ts'
import { stage, verdictsOf } from '../record/stage.ts'
import { firebirdDatabase } from './targets.ts'

const address = await firebirdDatabase('own')
const small = { transactions: 40, sessions: 3, keys: 5 }
const open = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 5000 }
const OURS = "SELECT rdb$relation_name FROM rdb$relations WHERE rdb$relation_name LIKE 'ISOBAR%'"

async function ask(...statements: string[]): Promise<unknown> {
  const given = { environment: {}, password: undefined }
  const client = await connectClient(parseFirebirdAddress(address!, given))
  try {
    let last: unknown = null
    for (const statement of statements) last = await scalar(client, statement)
    return last
  } finally {
    hangUp(client)
  }
}

describe.skipIf(address === null)('a run on Firebird', () => {
  it('leaves nothing behind, and a table of its name that is not ours alone', async () => {
    await stage({ target: address!, workload: small }, () => {})
    expect(await ask(OURS)).toBeNull()
    await ask('CREATE TABLE isobar_registers (k INT)', 'INSERT INTO isobar_registers VALUES (7)')
    try {
      const run = stage({ target: address!, workload: small }, () => {})
      await expect(run).rejects.toThrow(/isobar did not make; nothing was changed/)
      expect(await ask('SELECT k FROM isobar_registers')).toBe(7)
    } finally {
      await ask('DROP TABLE isobar_registers')
    }
  })

  it('drops what a killed run left, but not what may be in use', async () => {
    const mark = (user: string) =>
      `COMMENT ON TABLE isobar_registers IS '${MARK} (0123, attachment 999999, user ${user})'`
    await ask('CREATE TABLE isobar_registers (k INT)', mark('SOMEBODY'))
    const run = stage({ target: address!, workload: small }, () => {})
    await expect(run).rejects.toThrow(/another run uses this database/)
    await ask(mark('SYSDBA'))
    await stage({ target: address!, workload: small }, (outcome) => {
      expect(verdictsOf(outcome)).toMatchObject({ si: 'satisfied' })
    })
    expect(await ask(OURS)).toBeNull()
  })

  it('has the database for itself', async () => {
    const first = await openTarget(parseTarget(address!), open)
    try {
      const run = stage({ target: address!, workload: small }, () => {})
      await expect(run).rejects.toThrow(/another run uses this database/)
    } finally {
      await first.close()
    }
  })

  /** What becomes of two transactions that each read both keys and write one of them. */
  async function skew(lateReadsFirst: boolean): Promise<string> {
    const { database, close } = await openTarget(parseTarget(address!), open)
    try {
      await database.addKeys(0, 2)
      const [late, early] = [await database.open(), await database.open()]
      const look = async (session: Connection) =>
        [await session.read(0), await session.read(1)].flat()
      await late.begin('ser')
      if (lateReadsFirst) await look(late)
      try {
        await early.begin('ser')
        expect(await look(early)).toEqual([null, null])
        await early.write(0, 1)
        await early.commit()
        expect(await look(late)).toEqual([null, null])
        await late.write(1, 2)
        await late.commit()
        return 'write skew'
      } catch (error) {
        return `refused ${(error as TransactionFailure).code}`
      } finally {
        for (const session of [late, early]) session.cut()
      }
    } finally {
      await close()
    }
  }

  // docs/found.md
  it('skews writes at SNAPSHOT TABLE STABILITY where one has begun and read nothing yet', async () => {
    expect(await skew(false)).toBe('write skew')
  })

  it('refuses that once both have read', async () => {
    expect(await skew(true)).toBe('refused 335544345')
  })

  it('takes its tables over when the server has ended its connection', async () => {
    const { database, close } = await openTarget(parseTarget(address!), open)
    const comment = `SELECT CAST(rdb$description AS VARCHAR(200)) FROM rdb$relations
      WHERE rdb$relation_name = 'ISOBAR_REGISTERS'`
    try {
      const before = await ask(comment)
      await ask('DELETE FROM mon$attachments WHERE mon$attachment_id <> current_connection')
      await database.addKeys(0, 3)
      expect(await ask(comment)).not.toBe(before)
      expect(database.gone!.aborted).toBe(false)
      const run = stage({ target: address!, workload: small }, () => {})
      await expect(run).rejects.toThrow(/another run uses this database/)
    } finally {
      await close()
    }
    expect(await ask(OURS)).toBeNull()
  })

  it.runIf(LONG)('finds two rows under one key at READ COMMITTED', async () => {
    const found = new Set<string>()
    for (let seed = 1; seed <= 8 && !found.has('DuplicateRow'); seed++) {
      const workload = { transactions: 5000, seed }
      const options = {
        target: address!,
        dbLevel: 'rc' as const,
        levels: ['rc' as const],
        workload,
      }
      await stage(options, (outcome) => {
        for (const { name } of outcome.judged!.results[0]!.anomalies) found.add(name)
      })
    }
    expect([...found]).toContain('DuplicateRow')
  })

  it('says what is wrong with an address, a password, or a level', async () => {
    const stageAt = (target: string) => stage({ target, workload: small }, () => {})
    await expect(stageAt(address!.replace(/:[^:@/]+@/, ':wrong@'))).rejects.toMatchObject({
      name: 'DatabaseError',
      hint: expect.stringContaining('ISC_PASSWORD'),
    })
    await expect(stageAt(address!.replace(/[^/]*$/, 'none.fdb'))).rejects.toMatchObject({
      name: 'DatabaseError',
      hint: expect.stringContaining('name of the database'),
    })
    const weak = stage({ target: address!, dbLevel: 'cc', workload: small }, () => {})
    await expect(weak).rejects.toThrow(/Firebird does not offer/)
  })
})
