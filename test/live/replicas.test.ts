// Runs on a primary and its replicas: what half of the sessions read there is told truly, and a
// cluster that is not snapshot isolated is found not to be.

import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { WRITE } from '../../src/history/history.ts'
import { PRIMARY_SETTINGS, startReplica } from '../../src/record/embedded/replica.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { stage, verdictsOf } from '../record/stage.ts'

const replicated = (count: number) => parseTarget('embedded').withReplicas!(count)

describe('a run on the embedded server with replicas', () => {
  it('finds a long fork, and causal consistency kept', async () => {
    const attempt = (seed: number) =>
      stage(
        { target: replicated(1), dbLevel: 'si', workload: { transactions: 12_000, seed } },
        (outcome) => {
          expect(outcome.stoppedBy).toBeNull()
          const { cc, pc, si } = verdictsOf(outcome)
          expect({ cc, si }).toEqual({ cc: 'satisfied', si: pc })
          const names = outcome.judged!.results.flatMap(({ anomalies }) => anomalies)
          return names.some(({ name }) => name === 'LongFork')
        },
      )
    // Whether two commits pass each other is up to the machine.
    let isFound = false
    for (let seed = 1; seed <= 4 && !isFound; seed++) isFound = await attempt(seed)
    expect(isFound).toBe(true)
  })

  it('goes on while replicas are cut off, and marks that', async () => {
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
      expect(marks.slice(0, 2)).toEqual(['the replicas are cut off', 'the replicas are back'])
      expect(verdictsOf(outcome)).toMatchObject({ cc: 'satisfied' })
    })
  })

  it('refuses what replicas cannot do', async () => {
    const sql = { target: replicated(1), dbLevel: 'si', workload: { shape: 'twitter' as const } }
    await expect(stage(sql, () => {})).rejects.toThrow(UsageError)
    await expect(stage({ target: replicated(1) }, () => {})).rejects.toThrow('does not offer')
  })
})

describe('several addresses in one target', () => {
  it('are a primary and a replica, as they say themselves', async () => {
    const primary = await EmbeddedServer.start({ settings: PRIMARY_SETTINGS })
    let replica: EmbeddedServer | null = null
    try {
      replica = await startReplica(primary)
      const { user, password, database, host, port } = primary
      const nodes = `${host}:${port},${host}:${replica.port}`
      const target = `postgres://${user}:${password}@${nodes}/${database}?sslmode=disable`
      const workload = { transactions: 500, sessions: 6, keys: 10 }
      await stage({ target, dbLevel: 'si', workload }, (outcome) => {
        expect(outcome.stoppedBy).toBeNull()
        const [one, two] = outcome.summary.database.place.split(', ')
        expect(one).toContain(`:${port}/`)
        expect(two).toContain(`:${replica!.port}/`)
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
    } finally {
      await replica?.stop()
      await primary.stop()
    }
  })

  it('say which one is not there', async () => {
    const server = await EmbeddedServer.start()
    try {
      const { user, password, database, host, port } = server
      const target = `postgres://${user}:${password}@${host}:${port},${host}:1/${database}?sslmode=disable`
      const half = stage({ target, workload: { transactions: 10 } }, () => {})
      await expect(half).rejects.toThrow(/:1\/postgres: .*ECONNREFUSED/)
    } finally {
      await server.stop()
    }
  })
})
