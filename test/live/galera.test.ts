// A Galera cluster of MariaDBs, by several addresses in one target: sessions write to all nodes.
// What it gives is less than one node does: docs/found.md.

import { describe, expect, it } from 'vitest'
import { examine } from '../../src/pipeline/conformance.ts'
import type { RunOutcome } from '../../src/pipeline/run.ts'
import { parseTarget } from '../../src/record/targets.ts'
import type { AimName } from '../../src/workload/aims.ts'
import { stage, verdictsOf } from '../record/stage.ts'
import { liveAddress } from './targets.ts'

const address = liveAddress('ISOBAR_TEST_GALERA', 'a Galera cluster')
const alone = process.env['ISOBAR_TEST_MYSQL']

function aimedAt(aim: AimName, dbLevel: string, look: (outcome: RunOutcome) => void) {
  const workload = { shape: 'aimed', aim, transactions: 1500, sessions: 9 } as const
  return stage({ target: address!, dbLevel, workload }, look)
}

function anomaliesOf({ judged }: RunOutcome): string[] {
  return judged!.results.flatMap(({ anomalies }) => anomalies.map(({ name }) => name))
}

describe.skipIf(address === null)('a run on a Galera cluster', () => {
  it('finds lost updates at REPEATABLE READ, as on one node', async () => {
    await aimedAt('lost-update', 'si', (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      expect(outcome.summary.database.name).toMatch(/^MariaDB .* \(3 nodes\)$/)
      expect(verdictsOf(outcome)).toMatchObject({
        rc: 'satisfied',
        psi: 'violated',
        si: 'violated',
      })
      expect(anomaliesOf(outcome)).toContain('LostUpdate')
    })
  })

  it('finds write skew between nodes at SERIALIZABLE, whose locks are those of one node', async () => {
    await aimedAt('write-skew', 'ser', (outcome) => {
      expect(verdictsOf(outcome)).toMatchObject({ rc: 'satisfied', ser: 'violated' })
      expect(anomaliesOf(outcome)).toContain('WriteSkew')
    })
  })

  it('keeps snapshot isolation where the nodes do, while connections to all of them are cut', async () => {
    const target = `${address}?set=innodb_snapshot_isolation=ON`
    const workload = { transactions: 600, sessions: 9 }
    await stage({ target, dbLevel: 'si', fault: 'kill-connection:10%', workload }, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      expect(outcome.summary.connectionsCut).toBeGreaterThan(20)
      expect(verdictsOf(outcome)).toMatchObject({ si: 'satisfied' })
    })
  })

  it('keeps snapshot isolation while a node is cut off from the others, and is back later', async () => {
    const options = { workload: { sessions: 9 }, durationMs: 9000, fault: 'partition:2s' }
    const target = `${address}?set=innodb_snapshot_isolation=ON`
    await stage({ target, dbLevel: 'si', ...options }, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      const marks = outcome.judged!.history.annotations.map(({ text }) => text)
      expect(marks.slice(0, 2)).toEqual(['nodes are cut off from the others', 'the nodes are back'])
      expect(outcome.summary.transactions.committed).toBeGreaterThan(100)
      expect(verdictsOf(outcome)).toMatchObject({ si: 'satisfied' })
    })
  })

  it('shows by schedules, too, that SERIALIZABLE is less than its name says', async () => {
    const target = parseTarget(address!)
    // Whether an answer or the other node's write comes first differs from one time to the next.
    for (let time = 0; time < 10; time++) {
      const found = await examine({ target, levels: ['ser'], patienceMs: 60_000, signal: null })
      expect(found).toMatchObject({ nodeCount: 3, replicaCount: 0 })
      const { isWeaker, outcomes } = found.levels[0]!
      if (!isWeaker) continue
      const broken = outcomes.filter(({ violated }) => violated !== null)
      for (const each of broken) {
        expect(each.violated).toBe('ser')
        expect(each.anomalies.join()).toMatch(/WriteSkew|ReadOnlyAnomaly/)
      }
      return
    }
    expect.unreachable('no schedule showed write skew between nodes')
  })

  it('says which node is not there', async () => {
    const half = address!.replace(/,[^,/]*\//, ',127.0.0.1:1/')
    const run = stage({ target: half, workload: { transactions: 10 } }, () => {})
    await expect(run).rejects.toThrow(/:1\/isobar: .*ECONNREFUSED/)
  })

  it.skipIf(!alone)('refuses a server that is no node of it', async () => {
    const [, other] = /@([^/,]*)/.exec(alone!)!
    const mixed = address!.replace(/,[^,/]*\//, `,${other}/`)
    const run = stage({ target: mixed, workload: { transactions: 10 }, patienceMs: 1000 }, () => {})
    await expect(run).rejects.toThrow('does not show what was written to the first node')
  })
})
