import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions, PeerCertificate } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { NO_FAULTS, parseFaultPlan } from '../../src/record/faults.ts'
import { parsePostgresAddress, showAddress } from '../../src/record/postgres/address.ts'
import { configOf } from '../../src/record/postgres/client.ts'
import { splitHosts } from '../../src/record/server-url.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { parseTimetable } from '../../src/record/trouble.ts'

/** The text of whatever the call throws, hint included. */
function complaint(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return `${(error as UsageError).message} ${(error as UsageError).hint}`
  }
  throw new Error('nothing was thrown')
}

describe('parseTarget', () => {
  it('shows how a target looks of which only the first word was written', () => {
    const hintOf = (text: string) => {
      try {
        return parseTarget(text)
      } catch (error) {
        return (error as UsageError).hint
      }
    }
    expect(hintOf('sqlite')).toMatch(/^did you mean sqlite:FILE\? there are /)
    expect(hintOf('postgers://h/d')).toMatch(/^did you mean postgres:\/\/user@host\/database\? /)
  })

  it('knows the embedded server, addresses and simulated stores', () => {
    expect(parseTarget('embedded')).toMatchObject({ product: 'PostgreSQL', ownsServer: true })
    expect(parseTarget('postgresql://h/d')).toMatchObject({
      product: 'PostgreSQL',
      ownsServer: false,
      address: { host: 'h', port: 5432, database: 'd' },
    })
    const sim = parseTarget('sim:si+lost-update+write-skew:20%')
    expect(sim).toMatchObject({ usualLevel: 'si', level: 'si', faultShare: 0.2 })
  })

  it('says what there is when it does not know a target, a level or a fault', () => {
    expect(complaint(() => parseTarget('oracle'))).toMatch(/"oracle".*embedded/)
    expect(complaint(() => parseTarget('sim:best'))).toMatch(/"best".*rc, ryw, .*ra, cc/)
    expect(complaint(() => parseTarget('sim:si+evil'))).toMatch(/"evil".*lost-update/)
    expect(complaint(() => parseTarget('sim:si+future-read'))).toMatch(/cannot show.*--inject/)
    expect(complaint(() => parseTarget('sim:si+lost-update:x'))).toMatch(/bad share "x"/)
  })

  it('knows the major versions of the embedded server, and no others', () => {
    expect(parseTarget('embedded:14')).toMatchObject({ product: 'PostgreSQL', ownsServer: true })
    for (const text of ['embedded:9', 'embedded:19', 'embedded:', 'embedded:x']) {
      expect(complaint(() => parseTarget(text))).toMatch(/embedded:10 to embedded:18/)
    }
  })

  it('never repeats a password', () => {
    for (const text of [
      'oracle://me:secret@h/d',
      'mysql://me:secret@h:x/d',
      'firebird://me:secret@h/d?wait=x',
      'postgres://me:secret@h:x/d',
      'me:secret@h',
    ]) {
      expect(complaint(() => parseTarget(text))).not.toContain('secret')
    }
  })
})

describe('parsePostgresAddress', () => {
  it('takes the password from the address, the environment, or a file, the last first', () => {
    const environment = { PGPASSWORD: 'env', PGUSER: 'u', PGHOST: 'e', PGPORT: '77' }
    expect(parsePostgresAddress('postgres://me:url%40@h/d', environment).password).toBe('url@')
    expect(parsePostgresAddress('postgres://me@h/d', environment).password).toBe('env')
    expect(parsePostgresAddress('postgres://me:url@h/d', {}, 'file').password).toBe('file')
    const bare = parsePostgresAddress('postgres:///', environment)
    expect(bare).toMatchObject({ host: 'e', port: 77, user: 'u', database: 'u' })
  })

  it('takes a user or a port without a host, as libpq does', () => {
    const socket = parsePostgresAddress('postgres://me:own@/d?host=/run/pg&port=77', {})
    expect(socket).toMatchObject({ host: '/run/pg', port: 77, user: 'me', password: 'own' })
    const byEnvironment = { PGHOST: 'e' }
    expect(parsePostgresAddress('postgres://me@/d', byEnvironment)).toMatchObject({
      ...{ host: 'e', user: 'me', database: 'd' },
    })
    expect(parsePostgresAddress('postgresql://:78/d', byEnvironment)).toMatchObject({
      ...{ host: 'e', port: 78, database: 'd' },
    })
    expect(parsePostgresAddress('postgres://me@h/d', byEnvironment).host).toBe('h')
  })

  it('looks into the password file by the address itself, as libpq does', () => {
    const directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    const path = join(directory, 'pgpass')
    const lines = ['# h:*:*:*:no', 'h:1:d:me:other', 'h:5432:*:me:a\\:b\\\\c', '*:*:*:*:last', '']
    writeFileSync(path, lines.join('\n'), { mode: 0o600 })
    const passwordFor = (text: string) => parsePostgresAddress(text, { PGPASSFILE: path }).password
    expect(passwordFor('postgres://me@h/d')).toBe('a:b\\c')
    expect(passwordFor('postgres://me@h:1/d')).toBe('other')
    expect(passwordFor('postgres://you@h/d')).toBe('last')
    expect(passwordFor('postgres://me:own@h/d')).toBe('own')
    expect(passwordFor('postgres://me@%2Ftmp/d')).toBe('last')
    // Not if others may read it.
    chmodSync(path, 0o644)
    expect(passwordFor('postgres://me@h/d')).toBeUndefined()
    rmSync(directory, { recursive: true })
  })

  it('tries encryption as libpq does, and verifies the host that was named', () => {
    const modes = (text: string) =>
      parsePostgresAddress(text, {}).encryptions.map((each) =>
        each === false ? 'plain' : each.rejectUnauthorized ? 'verified' : 'encrypted',
      )
    expect(modes('postgres://h/d')).toEqual(['encrypted', 'plain'])
    expect(modes('postgres://h/d?sslmode=allow')).toEqual(['plain', 'encrypted'])
    expect(modes('postgres://h/d?sslmode=disable')).toEqual(['plain'])
    expect(modes('postgres://h/d?sslmode=require')).toEqual(['encrypted'])
    expect(modes('postgres://h/d?sslmode=verify-ca')).toEqual(['verified'])
    expect(modes('postgres:///d?host=/run/pg&sslmode=verify-full')).toEqual(['plain'])
    const address = parsePostgresAddress('postgres://h/d?sslmode=verify-full', {})
    const full = configOf(address, address.encryptions[0]!).ssl as ConnectionOptions
    expect(full).toMatchObject({ servername: 'h', rejectUnauthorized: true })
    const isFor = (subject: string) =>
      full.checkServerIdentity!('127.0.0.1', {
        subject: { CN: subject },
        subjectaltname: `DNS:${subject}`,
      } as unknown as PeerCertificate)
    expect(isFor('h')).toBeUndefined()
    expect(isFor('elsewhere')).toBeInstanceOf(Error)
  })

  it('understands what libpq understands, and refuses what it would ignore', () => {
    const text = 'postgres://%2Frun%2Fpg:99/?dbname=d&user=u&connect_timeout=3&options=-c%20a%3Db'
    expect(parsePostgresAddress(text, {})).toMatchObject({
      ...{ host: '/run/pg', port: 99, user: 'u', database: 'd' },
      ...{ connectTimeoutMs: 3000, options: '-c a=b', encryptions: [false] },
    })
    const environment = { PGCONNECT_TIMEOUT: '7', PGOPTIONS: '-c x=y', PGSSLMODE: 'disable' }
    expect(parsePostgresAddress('postgres://h/d', environment)).toMatchObject({
      ...{ connectTimeoutMs: 7000, options: '-c x=y', encryptions: [false] },
    })
    expect(complaint(() => parsePostgresAddress('postgres://h/d?sslmode=maybe', {}))).toMatch(
      /"maybe".*verify-full/,
    )
    expect(complaint(() => parsePostgresAddress('postgres://h/d?opt=x', {}))).toMatch(
      /"opt".*options/,
    )
    const missing = 'postgres://h/d?sslrootcert=/nowhere/ca.pem'
    expect(complaint(() => parsePostgresAddress(missing, {}))).toMatch(/sslrootcert.*ENOENT/)
    expect(complaint(() => parsePostgresAddress('postgres://h:99999/d', {}))).not.toContain('99999')
  })

  it('is shown without the password', () => {
    const address = parsePostgresAddress('postgres://me:secret@[::1]:9/d', {})
    expect(showAddress(address)).toBe('postgres://me@[::1]:9/d')
  })
})

describe('splitHosts', () => {
  it('makes an address of each host, and leaves one alone', () => {
    expect(splitHosts('postgres://me:a,b@one:1,two,[::1]:3/d?sslmode=disable')).toEqual([
      'postgres://me:a,b@one:1/d?sslmode=disable',
      'postgres://me:a,b@two/d?sslmode=disable',
      'postgres://me:a,b@[::1]:3/d?sslmode=disable',
    ])
    for (const text of ['postgres://h/d,e', 'postgres://h', 'postgres:h', 'postgres:///d']) {
      expect(splitHosts(text)).toEqual([text])
    }
  })
})

describe('parseFaultPlan', () => {
  it('reads shares, ranges and times', () => {
    expect(parseFaultPlan(['kill-connection:5%,latency:1-20ms', 'restart-server:2s'])).toEqual({
      killShare: 0.05,
      latencyMs: [1, 20],
      pause: null,
      events: [{ event: { kind: 'restart' }, firstMs: 2000, everyMs: 2000 }],
    })
    const { events } = parseFaultPlan(['kill-server', 'stop-server:2s', 'connection-storm:7'])
    expect(events).toEqual([
      { event: { kind: 'kill' }, firstMs: 5000, everyMs: 5000 },
      { event: { kind: 'stop', ms: 2000 }, firstMs: 2000, everyMs: 2000 },
      { event: { kind: 'storm', connections: 7 }, firstMs: 2000, everyMs: 2000 },
    ])
    expect(parseFaultPlan(['pause:25%:0.5s']).pause).toEqual({ share: 0.25, ms: 500 })
    expect(parseFaultPlan(['latency:7ms']).latencyMs).toEqual([7, 7])
    expect(parseFaultPlan([])).toEqual(NO_FAULTS)
  })

  it.each([
    'kill-connection:5',
    'kill-connection:200%',
    'latency',
    'latency:9-2ms',
    'pause:5',
    'pause:5%:99s',
    'stop-server:99s',
    'kill-server:0.1s',
    'partition:5',
    'connection-storm:0',
    'clock:2',
    'clock:0s',
    'fire',
  ])('refuses %s and shows how to write it', (text) => {
    const example = /5%|latency:10ms|pause:10%:3s|server:[35]s|partition:5s|storm:100|clock:±2s/
    expect(complaint(() => parseFaultPlan([text]))).toMatch(example)
  })

  it('reads how far a clock is set', () => {
    const ahead = (text: string) => parseFaultPlan([text]).events.map(({ event }) => event)
    for (const text of ['clock', 'clock:2s', 'clock:±2s']) {
      expect(ahead(text)).toEqual([{ kind: 'clock', aheadMs: [2000, -2000] }])
    }
    expect(ahead('clock:+0.5s')).toEqual([{ kind: 'clock', aheadMs: [500] }])
    expect(ahead('clock:-3s')).toEqual([{ kind: 'clock', aheadMs: [-3000] }])
  })
})

describe('parseTimetable', () => {
  it('reads what happens when, with comments', () => {
    const text = '# twice\n1.5s kill-server\n\n3s stop-server:1s # and on\r\n'
    expect(parseTimetable(text, 'table')).toEqual([
      { event: { kind: 'kill' }, firstMs: 1500, everyMs: null },
      { event: { kind: 'stop', ms: 1000 }, firstMs: 3000, everyMs: null },
    ])
  })

  it.each(['kill-server', '5 kill-server', '5s latency:3ms', '5s', '5s kill-server now'])(
    'refuses "%s" and names the line',
    (line) => {
      expect(complaint(() => parseTimetable(`# first\n${line}`, 'table'))).toMatch(/table:2: /)
    },
  )

  it('refuses what would come again, which its lines do not', () => {
    const refused = () => parseTimetable('12s kill-server:5s', 'table')
    expect(complaint(refused)).toMatch(/table:1: .* once.*write 12s kill-server,/s)
  })
})

describe('openTarget', () => {
  const options = {
    levels: ['ser' as LevelId],
    sessions: 2,
    seed: 1,
    faults: NO_FAULTS,
    patienceMs: 1000,
  }

  it('lists the levels a database offers when asked for another', async () => {
    const wrong = openTarget(parseTarget('embedded'), { ...options, levels: ['ser', 'cc'] })
    await expect(wrong).rejects.toMatchObject({
      name: 'UsageError',
      hint: 'it offers rc (READ COMMITTED), si (REPEATABLE READ), ser (SERIALIZABLE)',
    })
    await expect(openTarget(parseTarget('sim:rc'), options)).rejects.toThrow(UsageError)
  })

  it('refuses faults that the target cannot have', async () => {
    const cut = { ...options, faults: parseFaultPlan(['kill-connection']) }
    await expect(openTarget(parseTarget('sim:ser'), cut)).rejects.toThrow(/no connections/)
    const crash = { ...options, faults: parseFaultPlan(['restart-server']) }
    const foreign = parseTarget('postgres://127.0.0.1:1/x')
    for (const fault of ['kill-server', 'stop-server', 'clock']) {
      const event = { ...options, faults: parseFaultPlan([fault]) }
      await expect(openTarget(foreign, event)).rejects.toThrow(`${fault} is for the embedded`)
    }
    const apart = { ...options, faults: parseFaultPlan(['partition']) }
    await expect(openTarget(parseTarget('embedded'), apart)).rejects.toThrow(/no replicas/)
    const storm = { ...options, faults: parseFaultPlan(['connection-storm']) }
    await expect(openTarget(parseTarget('sim:ser'), storm)).rejects.toThrow(/no connections/)
    await expect(openTarget(foreign, crash)).rejects.toThrow(/embedded server/)
    const tuned = { ...options, serverSettings: { work_mem: '1MB' } }
    await expect(openTarget(foreign, tuned)).rejects.toThrow(/--server-setting/)
  })
})
