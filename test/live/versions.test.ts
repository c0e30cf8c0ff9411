// Servers and drivers of the wrong version are refused, by what they say of themselves.

import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { loadDriver } from '../../src/record/driver.ts'
import { expectVersion, isOlder } from '../../src/record/least-version.ts'
import { TARGETS } from '../../src/record/targets.ts'
import { startCli } from '../record/stage.ts'

describe('expectVersion', () => {
  it.each(['PostgreSQL 9.4.26', 'MariaDB 10.1.48 (3 nodes)', 'MySQL 5.7.44', 'Redis 3.2.12'])(
    'refuses %s, and says what it lacks',
    (name) => {
      const product = name.split(' ')[0]!
      expect(() => expectVersion(name, 'here')).toThrow(
        new RegExp(`^here: ${product} \\S+ is too old: .* came with \\d`),
      )
    },
  )

  it.each(['PostgreSQL 9.5', 'MariaDB 10.11.19', 'MySQL 8.0.17', 'Redis (version unknown)'])(
    'lets %s be',
    (name) => expect(() => expectVersion(name, 'here')).not.toThrow(),
  )

  it('says nothing of products that it does not know', () => {
    expect(() => expectVersion('CockroachDB 1.0', 'here')).not.toThrow()
  })
})

describe('isOlder', () => {
  it('compares numbers, not digits, as far as they go', () => {
    expect(isOlder('9.5', '10')).toBe(true)
    expect(isOlder('10', '9.5')).toBe(false)
    expect(isOlder('8.0.9', '8.0.17')).toBe(true)
    expect(isOlder('3', '3.0')).toBe(false)
    expect(isOlder('1.5.5-r.5', '1.5.5')).toBe(false)
  })
})

describe('loadDriver', () => {
  it('refuses one that is too old, and names the line that replaces it', async () => {
    const old = loadDriver({ name: 'ioredis', version: '99.1.0', least: '99' })
    await expect(old).rejects.toMatchObject({
      name: 'DatabaseError',
      message: expect.stringMatching(/^the driver ioredis is too old: \d+\.\S+, and 99 or later/),
      hint: 'npm install ioredis@99.1.0 replaces it',
    })
  })

  it('refuses what npm would warn of', () => {
    const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    for (const { driver } of TARGETS) {
      if (driver?.least === undefined) continue
      expect(peerDependencies[driver.name].replace(/-0$/, '')).toBe(`>=${driver.least}`)
    }
  })
})

/** A server that answers as Redis does, as far as a run asks before it knows the version. */
function answer(socket: Socket): void {
  const info = 'redis_version:3.2.12\r\n'
  const answers: Record<string, string> = {
    info: `$${info.length}\r\n${info}\r\n`,
    get: '$-1\r\n',
    eval: ':1\r\n',
  }
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    for (const [, name] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
      socket.write(answers[name!.toLowerCase()] ?? '+OK\r\n')
    }
  })
}

describe('isobar run', () => {
  const server = createServer(answer)
  afterAll(() => server.close())

  it('ends with 4 on a server that is too old', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { code, errors } = await startCli(['run', `redis://127.0.0.1:${port}/0`]).ended
    expect(errors).toMatch(/Redis 3\.2\.12 is too old: UNLINK came with 4\.0/)
    expect(code).toBe(4)
  })
})
