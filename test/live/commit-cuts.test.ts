// The word of each driver on a transaction whose connection is lost, tried at every byte: of COMMIT
// on its way to the server, and of the answer on its way back. Whoever got no answer may not say
// that the transaction was aborted; whoever says that it was committed must be right. What became
// of it is then read from the database: nothing, if some of the request was missing; all of it, if
// only the answer was.

import { describe, expect, it } from 'vitest'
import type { LevelId } from '../../src/levels/levels.ts'
import { type Connection, TransactionFailure } from '../../src/record/database.ts'
import type { ByteCut } from '../../src/record/fault-proxy.ts'
import { parseFaultPlan } from '../../src/record/faults.ts'
import { type OpenTarget, openTarget, type Target } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { PUT } from '../../src/workload/plan.ts'
import { LONG } from '../long.ts'
import {
  etcdName,
  firebirdDatabase,
  galeraDatabase,
  mysqlDatabase,
  redisDatabase,
} from './targets.ts'

/** At which transactions on different keys never refuse each other. */
const LEVEL: LevelId = 'rc'
const AT_ONCE = 8
/** Between one byte at which a connection is cut and the next. */
const STEP = LONG ? 1 : 5
/** Keys and values have four digits, so that all messages are of one length. */
const FIRST_KEY = 1000
const END_KEY = 5000

const DATABASES: [name: string, address: string | null][] = [
  ['PostgreSQL', 'embedded'],
  ['MariaDB', await mysqlDatabase('cuts')],
  ['Galera', await galeraDatabase('cuts')], // sessions of this test are at the first node
  ['Firebird', await firebirdDatabase('cuts')],
  ['Redis', redisDatabase(2)],
  ['etcd', etcdName('cuts')],
]

type Way = (connection: Connection, key: number) => Promise<unknown>

/** What makes a value stay, behind all that can be done before. */
const WAYS: Record<string, { before: Way; settle: Way; hasRow: boolean }> = {
  COMMIT: {
    before: async (connection, key) => {
      await connection.begin(LEVEL)
      await connection.write(key, key + 1, PUT)
    },
    settle: (connection) => connection.commit(),
    hasRow: false,
  },
  'compare-and-set': {
    before: (connection, key) => connection.get(key, LEVEL),
    settle: (connection, key) => connection.cas(key, null, key + 1, LEVEL),
    hasRow: true,
  },
}

/** Settles one key on a connection that is cut there; what the driver says of it. */
async function settleOn(
  { database, proxies: [proxy] }: OpenTarget,
  way: (typeof WAYS)[string],
  key: number,
  cut: ByteCut,
): Promise<string> {
  const connection = await database.open()
  try {
    await way.before(connection, key)
    proxy!.arm(connection.localPort, cut)
    await way.settle(connection, key)
    return 'committed'
  } catch (error) {
    if (!(error instanceof TransactionFailure)) throw error
    return error.fate
  } finally {
    connection.cut()
  }
}

/** How long the request and its answer are. */
async function measure(
  { database, proxies: [proxy] }: OpenTarget,
  way: (typeof WAYS)[string],
  key: number,
) {
  const connection = await database.open()
  await way.before(connection, key)
  proxy!.arm(connection.localPort, {})
  await way.settle(connection, key)
  const { request, reply } = proxy!.passed(connection.localPort)
  await connection.close()
  return { request, reply }
}

async function look(connection: Connection, key: number): Promise<unknown> {
  return (await connection.get(key, LEVEL))[0] ?? null
}

async function tryAll(opened: OpenTarget, way: (typeof WAYS)[string], name: string): Promise<void> {
  const { database } = opened
  if (way.hasRow) await database.addKeys(0, END_KEY)
  const { request, reply } = await measure(opened, way, FIRST_KEY)
  expect(request).toBeGreaterThan(5)
  expect(reply).toBeGreaterThan(2)
  const cuts: ByteCut[] = []
  for (let bytes = 0; bytes <= request; bytes += STEP) cuts.push({ request: bytes })
  for (let bytes = 0; bytes <= reply; bytes += STEP) cuts.push({ reply: bytes })
  const said: string[] = []
  for (let from = 0; from < cuts.length; from += AT_ONCE) {
    const some = cuts.slice(from, from + AT_ONCE)
    said.push(
      ...(await Promise.all(
        some.map((cut, i) => settleOn(opened, way, FIRST_KEY + 1 + from + i, cut)),
      )),
    )
  }
  const witness = await database.open()
  for (const [i, cut] of cuts.entries()) {
    const key = FIRST_KEY + 1 + i
    const told = `${JSON.stringify(cut)} of ${request} and ${reply} bytes: ${said[i]}`
    // Several messages, of which the last is COMMIT: who knows that it was not sent may say so.
    if (name === 'Firebird' && way.hasRow) {
      const sure = { aborted: null, committed: key + 1 }[said[i]!]
      if (sure !== undefined) expect([told, await look(witness, key)]).toEqual([told, sure])
      continue
    }
    // Of a whole answer the driver may have had enough, in time or not.
    if (cut.reply === undefined || cut.reply < reply - 1) expect(told).toMatch(/: indeterminate$/)
    else expect(told).toMatch(/: (indeterminate|committed)$/)
    // What was sent as a whole, and then cut, may or may not have been carried out; PostgreSQL does
    // so before it has the last five bytes, which ask for the answer.
    if (cut.request !== undefined && cut.request >= request - 5) continue
    const there = cut.request === undefined ? key + 1 : null
    expect([told, await look(witness, key)]).toEqual([told, there])
  }
  await witness.close()
}

describe.each(DATABASES)('%s', (database, address) => {
  it.skipIf(address === null).each(Object.keys(WAYS))(
    `is cut at every ${LONG ? '' : 'fifth '}byte of %s, and its driver tells the truth`,
    async (name) => {
      const target: Target = parseTarget(address!)
      const faults = parseFaultPlan(['latency:0ms'])
      const options = { levels: [], sessions: 1, seed: 1, faults, patienceMs: 10_000 }
      const opened = await openTarget(target, options)
      try {
        await tryAll(opened, WAYS[name]!, database)
      } finally {
        await opened.close()
      }
    },
  )
})
