// Runs on a primary and its replicas: what half of the sessions read there is told truly, and a
// cluster that is not snapshot isolated is found not to be.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { check } from '../../src/check/check.ts'
import { WRITE } from '../../src/history/history.ts'
import { PRIMARY_SETTINGS, startReplica } from '../../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { parseFaultPlan } from '../../src/record/faults.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { LONG } from '../long.ts'
import { stage, verdictsOf } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'

const replicated = (count: number) => parseTarget('embedded').withReplicas!(count)

describe('a run on the embedded server with replicas', () => {
  // In every test, found.test.ts brings one about by hand.
  it.runIf(LONG)('finds a long fork, and parallel snapshot isolation kept', async () => {
    const attempt = (seed: number) =>
      stage(
        { target: replicated(1), dbLevel: 'si', workload: { transactions: 12_000, seed } },
        (outcome) => {
          expect(outcome.stoppedBy).toBeNull()
          const { cc, pc, si } = verdictsOf(outcome)
          expect({ cc, si }).toEqual({ cc: 'satisfied', si: pc })
          const names = outcome.judged!.results.flatMap(({ anomalies }) => anomalies)
          if (!names.some(({ name }) => name === 'LongFork')) return false
          expect(check(outcome.judged!.history, 'psi').verdict).toBe('satisfied')
          return true
        },
      )
    // Whether two commits pass each other is up to the machine.
    let isFound = false
    for (let seed = 1; seed <= 4 && !isFound; seed++) isFound = await attempt(seed)
    expect(isFound).toBe(true)
  })

  it.runIf(LONG)('goes on while replicas are cut off, and marks that', async () => {
    const enough = new AbortController()
    const options = {
      target: replicated(1),
      fault: 'partition:0.5s',
      dbLevel: 'si',
      workload: { sessions: 8, keys: 10 },
      durationMs: 60_000,
      enough: enough.signal,
      onProgress: ({ elapsedMs, committed }: { elapsedMs: number; committed: number }) => {
        if (elapsedMs > 3000 && committed > 100) enough.abort()
      },
    }
    await stage(options, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      const marks = outcome.judged!.history.annotations.map(({ text }) => text)
      expect(marks.slice(0, 2)).toEqual(['nodes are cut off from the others', 'the nodes are back'])
      expect(verdictsOf(outcome)).toMatchObject({ cc: 'satisfied' })
    })
  })

  it.runIf(LONG)('can have the connections to each node cut', async () => {
    const faults = parseFaultPlan(['kill-connection:5%'])
    const options = { levels: [], sessions: 4, seed: 1, faults, patienceMs: 30_000 }
    const { database, proxies, close } = await openTarget(replicated(1), options)
    try {
      expect(database.nodes!.map(({ isReader }) => isReader)).toEqual([false, true, false])
      for (const [i, node] of database.nodes!.entries()) {
        const connection = await node.open()
        expect(proxies[i]!.cut(connection.localPort)).toBe(true)
        await connection.begin('si')
        await expect(connection.read(0)).rejects.toThrow()
      }
    } finally {
      await close()
    }
  })

  it('refuses what replicas cannot do', async () => {
    const sql = { target: replicated(1), dbLevel: 'si', workload: { shape: 'twitter' as const } }
    await expect(stage(sql, () => {})).rejects.toThrow(UsageError)
    await expect(stage({ target: replicated(1) }, () => {})).rejects.toThrow('does not offer')
  })
})

describe('several addresses in one target', () => {
  let primary: EmbeddedServer
  let replica: EmbeddedServer
  beforeAll(async () => {
    primary = await EmbeddedServer.start({ settings: PRIMARY_SETTINGS })
    replica = await startReplica(primary)
  })
  afterAll(async () => {
    await replica?.stop()
    await primary?.stop()
  })

  const withPort = (other: number) => {
    const { user, password, database, host, port } = primary
    const nodes = `${host}:${port},${host}:${other}`
    return `postgres://${user}:${password}@${nodes}/${database}?sslmode=disable`
  }

  it('are a primary and a replica, as they say themselves', async () => {
    const target = withPort(replica.port)
    const workload = { transactions: 500, sessions: 6, keys: 10 }
    await stage({ target, dbLevel: 'si', workload }, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      const [one, two] = outcome.summary.database.place.split(', ')
      expect(one).toContain(`:${primary.port}/`)
      expect(two).toContain(`:${replica.port}/`)
      expect(verdictsOf(outcome)).toMatchObject({ cc: 'satisfied' })
      const { txnSession, txnOpStart, opKind } = outcome.judged!.history
      const writers = new Set<number>()
      for (const [txn, session] of txnSession.entries()) {
        const kinds = opKind.subarray(txnOpStart[txn]!, txnOpStart[txn + 1]!)
        if (kinds.some((kind) => kind === WRITE)) writers.add(session)
      }
      expect(writers.size).toBe(3)
    })
    const serial = stage({ target, dbLevel: 'ser', workload }, () => {})
    await expect(serial).rejects.toThrow('do not answer at SERIALIZABLE')
  })

  it('show that a row is gone, on a replica too', async () => {
    const others = [replica.address]
    const database = await PostgresDatabase.open(primary.address, { others })
    await database.addKeys(0, 2)
    const [writer, reader] = await Promise.all(database.nodes.map((node) => node.open()))
    const seen = async () => {
      await reader!.begin('rc')
      const rows = await reader!.read(0)
      await reader!.commit()
      return rows
    }
    await writer!.begin('rc')
    await writer!.write(0, 1)
    await writer!.commit()
    while ((await seen())[0] !== 1);
    await withClient(targetOf(primary), (client) =>
      client.query('DELETE FROM isobar_registers WHERE k = 0'),
    )
    let rows = await seen()
    while (rows[0] === 1) rows = await seen()
    expect(rows).toEqual([])
    for (const connection of [writer, reader]) await connection!.close()
    await database.close()
  })

  it('are refused where they are no cluster, though each has such a table', async () => {
    const stranger = await EmbeddedServer.start()
    try {
      const foreign = await PostgresDatabase.open(stranger.address)
      const opening = { others: [stranger.address], patienceMs: 500 }
      const both = PostgresDatabase.open(primary.address, opening)
      await expect(both).rejects.toThrow('does not show what was written to the first node')
      // What was set up for it is gone again.
      const left = "SELECT to_regclass('isobar_registers') AS it"
      const { rows } = await withClient(targetOf(primary), (client) => client.query(left))
      expect(rows).toEqual([{ it: null }])
      await foreign.close()
    } finally {
      await stranger.stop()
    }
  })

  it('say which one is not there', async () => {
    const half = stage({ target: withPort(1), workload: { transactions: 10 } }, () => {})
    await expect(half).rejects.toThrow(/:1\/postgres: .*ECONNREFUSED/)
  })
})
