// Two workers that share nothing but the queue: each has a user, a directory, a network, processes
// and a name of its own. Only root can make such; the machine's own files must be readable by all.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { awaitEnd } from '../../src/fleet/coordinate.ts'
import { findServer } from '../../src/fleet/data-directory.ts'
import { isobar } from '../cli/command.ts'
import { makeHome, openIn } from './stage.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const PROGRAM = resolve(import.meta.dirname, 'apart-worker.mjs')
const APART = ['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--mount-proc']
const USERS = [20_001, 20_002]

const asUser = (user: number) =>
  `exec setpriv --reuid ${user} --regid ${user} --clear-groups --no-new-privs "$@"`
const set = (user: number) => `hostname w${user} && ip link set lo up && ${asUser(user)}`
const canBeApart =
  spawnSync('unshare', [...APART, 'sh', '-c', set(USERS[0]!), 'sh', process.execPath, BIN, '-V'])
    .status === 0
if (!canBeApart)
  process.stderr.write(
    'skipped: workers apart: needs root, unshare, and a checkout that every user can read\n',
  )

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

function start(program: string, args: readonly string[], options: object = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  started.push(child)
  let said = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (bytes) => {
      said += bytes
    })
  }
  return once(child, 'close').then(([code]) => ({ code, said }))
}

const variableOf = (user: number) => `TARGET_${user}`

/** A worker that knows what its own variable stands for, and no other. */
function startApart(user: number, home: string, socket: string, queue: string) {
  const variable = variableOf(user)
  const own = join(home, `user-${user}`)
  mkdirSync(own, { mode: 0o700 })
  chownSync(own, user, user)
  const work = ['fleet', 'work', '--until-done', '--queue', queue, '--lease', '1s', '--jobs', '1']
  const command = [PROGRAM, socket, new URL(queue).port, BIN, ...work, '--allow', `env:${variable}`]
  const args = [...APART, 'sh', '-c', set(user), 'sh', process.execPath, ...command]
  const env = { PATH: process.env['PATH'], HOME: own, TMPDIR: own, [variable]: 'sim:ser' }
  return start('unshare', args, { cwd: own, env })
}

/** A socket that leads to the port. */
async function lead(path: string, port: number): Promise<() => void> {
  const server = createServer((near) => {
    const far = createConnection({ port, host: '127.0.0.1' })
    near.pipe(far).pipe(near)
    for (const end of [near, far]) end.on('error', () => near.destroy())
    far.on('close', () => near.destroy())
    near.on('close', () => far.destroy())
  })
  server.listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o777)
  return () => server.close()
}

describe.skipIf(!canBeApart)('workers', () => {
  it('do a night together that share nothing but the queue', async () => {
    const home = makeHome()
    const data = join(home, 'data')
    const plan = join(home, 'plan.yaml')
    const secret = join(home, 'only-mine')
    mkdirSync(secret, { mode: 0o700 })
    for (const i of [1, 2, 3]) writeFileSync(join(secret, `${i}.txt`), `s1: w(x,${i})\n`)
    writeFileSync(
      plan,
      `targets: [${USERS.map((user) => `env:${variableOf(user)}`).join(', ')}]\nhistories: only-mine\nlevels: [ser]\nparameters: {sessions: 2, transactions: 5}\nseeds: 1..4\n`,
    )
    const { store, queue, close } = await openIn(data)
    expect(isobar(['fleet', 'submit', plan, '--data', data])).toMatchObject({ code: 0 })
    const address = findServer(data)
    const socket = join(home, 'queue.socket')
    const hangUp = await lead(socket, Number(new URL(address).port))
    const workers = USERS.map((user) => startApart(user, home, socket, address))
    await awaitEnd(store, queue, 1, new AbortController().signal, () => {})
    for (const { code, said } of await Promise.all(workers)) expect([code, said]).toEqual([0, said])
    expect(await store.count(1)).toMatchObject({ done: 11, satisfied: 11 })
    const done = await store.connection.ask<{ target: string; host: string }>(
      `select distinct spec->>'target' as target, split_part(worker, ':', 1) as host
       from isobar_fleet.result join isobar_fleet.job using (night, number)
       where spec->>'target' is not null order by 1`,
    )
    hangUp()
    await close()
    expect(done).toEqual(
      USERS.map((user) => ({ target: `env:${variableOf(user)}`, host: `w${user}` })),
    )
  }, 300_000)
})
