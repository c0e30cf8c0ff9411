// Redis and etcd: names that are not ours, what killed runs left, runs at the same time.

import { describe, expect, it } from 'vitest'
import { EtcdClient, parseEtcdAddress } from '../../src/record/etcd/client.ts'
import { prefixOf } from '../../src/record/etcd/database.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { connectClient, parseRedisAddress } from '../../src/record/redis/client.ts'
import { PREFIX } from '../../src/record/redis/connection.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { midway, stage, verdictsOf } from '../record/stage.ts'
import { etcdName, redisDatabase } from './targets.ts'

const redis = redisDatabase(3)
const etcd = etcdName('own')
const small = { transactions: 40, sessions: 3, keys: 5 }
const open = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 5000 }
const given = { environment: {}, password: undefined }

describe.skipIf(redis === null)('a run on Redis', () => {
  const ask = async (...commands: [string, ...string[]][]) => {
    const client = await connectClient(parseRedisAddress(redis!, given))
    let last: unknown = null
    for (const command of commands) last = await client.call(...command)
    client.disconnect()
    return last
  }

  it('deletes what it made and what a killed run left, and nothing else', async () => {
    await ask(['SET', 'mine', '7'], ['SET', `${PREFIX}lock`, 'dead'], ['SET', `${PREFIX}3`, '999'])
    await stage({ target: redis!, workload: small }, (outcome) => {
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
    expect(await ask(['KEYS', '*'])).toEqual(['mine'])
    await ask(['DEL', 'mine'])
  })

  it('has the database for itself', async () => {
    const first = await openTarget(parseTarget(redis!), open)
    const run = stage({ target: redis!, workload: small }, () => {})
    await expect(run).rejects.toThrow(/another run uses this database/)
    await first.close()
  })

  it('finds out that data were lost', async () => {
    const flush = midway(100, () => ask(['FLUSHDB']))
    const options = { target: redis!, workload: { sessions: 5, keys: 20 }, durationMs: 60_000 }
    await stage({ ...options, ...flush.options }, async (outcome) => {
      await flush.done()
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'violated' })
    })
  })

  it('says which password is wrong, and shows none', async () => {
    const wrong = stage({ target: parseTarget(redis!, {}, 'secret'), workload: small }, () => {})
    await expect(wrong).rejects.toMatchObject({ name: 'DatabaseError', hint: /REDISCLI_AUTH/ })
    await expect(wrong).rejects.not.toThrow(/secret/)
  })
})

describe.skipIf(etcd === null)('a run on etcd', () => {
  it('deletes what it made and what a killed run left, and nothing else', async () => {
    const address = parseEtcdAddress(etcd!)
    const client = new EtcdClient(address)
    const left = `${prefixOf(address)}key/3`
    await client.putIf([], [['isobar-test-mine', '7']])
    await client.putIf([], [[left, '999']])
    await stage({ target: etcd!, workload: small }, (outcome) => {
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
    expect((await client.find(left)).value).toBeNull()
    expect((await client.find('isobar-test-mine')).value).toBe('7')
    await client.deletePrefix('isobar-test-mine')
    client.cut()
  })

  it('has its name for itself', async () => {
    const first = await openTarget(parseTarget(etcd!), open)
    const run = stage({ target: etcd!, workload: small }, () => {})
    await expect(run).rejects.toThrow(/another run uses this database/)
    await first.close()
    await (await openTarget(parseTarget(etcd!), open)).close()
  })
})
