// MariaDB (or MySQL): tables that are not ours, runs at the same time, refusals.

import { describe, expect, it } from 'vitest'
import { examine } from '../../src/pipeline/conformance.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { parseMysqlAddress } from '../../src/record/mysql/address.ts'
import { connectClient, query, scalar } from '../../src/record/mysql/client.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { SCHEDULES } from '../../src/workload/schedules.ts'
import { midway, stage, verdictsOf } from '../record/stage.ts'
import { mysqlDatabase } from './targets.ts'

const address = await mysqlDatabase('own')
const small = { transactions: 40, sessions: 3, keys: 5 }
const open = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 5000 }

async function ask(...statements: string[]): Promise<unknown> {
  const given = { environment: {}, password: undefined }
  const client = await connectClient(parseMysqlAddress(address!, given))
  try {
    let last: unknown = null
    for (const statement of statements) last = await scalar(client, statement)
    return last
  } finally {
    client.destroy()
  }
}

describe.skipIf(address === null)('a run on MariaDB', () => {
  it('leaves nothing behind, and a table of its name that is not ours alone', async () => {
    await stage({ target: address!, workload: small }, () => {})
    expect(await ask(`SHOW TABLES LIKE 'isobar%'`)).toBeNull()
    await ask('CREATE TABLE isobar_registers (k INT)', 'INSERT INTO isobar_registers VALUES (7)')
    try {
      const run = stage({ target: address!, workload: small }, () => {})
      await expect(run).rejects.toThrow(/isobar did not make; nothing was changed/)
      expect(await ask('SELECT k FROM isobar_registers')).toBe(7)
    } finally {
      await ask('DROP TABLE isobar_registers')
    }
  })

  it('drops what a killed run left', async () => {
    const mark = 'made by isobar for one run; safe to drop (0123)'
    await ask(`CREATE TABLE isobar_registers (k INT) COMMENT = '${mark}'`)
    await stage({ target: address!, workload: small }, (outcome) => {
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
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

  it('takes its lock again when the server has ended its connections', async () => {
    const others = `SELECT GROUP_CONCAT(ID) FROM information_schema.PROCESSLIST
      WHERE ID <> CONNECTION_ID() AND DB = DATABASE()`
    const given = { environment: {}, password: undefined }
    const killAll = async () => {
      const client = await connectClient(parseMysqlAddress(address!, given))
      const ids = String((await scalar(client, others)) ?? '').split(',')
      for (const id of ids) await query(client, `KILL ${id}`).catch(() => {})
      client.destroy()
    }
    const kill = midway(100, killAll, 2)
    const options = { target: address!, workload: { sessions: 5 }, durationMs: 60_000 }
    await stage({ ...options, ...kill.options }, async (outcome) => {
      expect(await kill.done()).toBe(2)
      expect(outcome.stoppedBy).toBeNull()
      expect(outcome.summary.transactions.failures).not.toEqual({})
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
    expect(await ask(`SHOW TABLES LIKE 'isobar%'`)).toBeNull()
  })

  it('gets what the address says, whatever is asked for, and is promised what that is', () => {
    const levels = (text: string) => {
      const { levels: offered, usualLevel } = parseTarget(`${address}${text}`)
      return [new Set(offered.values()), usualLevel]
    }
    expect(levels('?isolation=read-uncommitted')).toEqual([new Set(['READ UNCOMMITTED']), 'rc'])
    expect(levels('?isolation=repeatable-read')).toEqual([new Set(['REPEATABLE READ']), 'pc'])
    expect(levels('')[1]).toBe('ser')
  })

  it('says what keeps it from writing', async () => {
    const target = `${address}?set=tx_read_only=ON`
    const run = stage({ target, workload: small }, () => {})
    await expect(run).rejects.toMatchObject({ name: 'DatabaseError', hint: /it is read-only/ })
  })

  it('says which password or database is wrong, and shows no password', async () => {
    const wrong = stage({ target: parseTarget(address!, {}, 'secret'), workload: small }, () => {})
    await expect(wrong).rejects.toMatchObject({ name: 'DatabaseError', hint: /MYSQL_PWD/ })
    await expect(wrong).rejects.not.toThrow(/secret/)
    const elsewhere = address!.replace(/\/[^/]*$/, '/nowhere')
    await expect(stage({ target: elsewhere, workload: small }, () => {})).rejects.toThrow(/nowhere/)
    const foreign = stage({ target: `${address}?set=nonsense=1`, workload: small }, () => {})
    await expect(foreign).rejects.toThrow(/nonsense/)
  })

  it('plays no schedules where it may not ask who waits, and says what to grant', async () => {
    const plain = address!.replace('//isobar:', '//isobar_plain:')
    const p4 = SCHEDULES.filter(({ id }) => id === 'p4')
    const options = { levels: null, patienceMs: 5000, signal: null, schedules: p4 }
    const played = examine({ target: parseTarget(plain), ...options })
    const hint = 'GRANT PROCESS ON *.* TO isobar_plain'
    await expect(played).rejects.toMatchObject({ name: 'DatabaseError', hint })
  })
})
