import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { NO_FAULTS, parseFaultPlan } from '../../src/record/faults.ts'
import { parsePostgresAddress, showAddress } from '../../src/record/postgres/address.ts'
import { openTarget, parseTarget } from '../../src/record/target.ts'

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
  it('knows the embedded server, addresses and simulated stores', () => {
    expect(parseTarget('embedded')).toEqual({ kind: 'embedded' })
    expect(parseTarget('postgresql://h/d')).toMatchObject({
      kind: 'postgres',
      address: { host: 'h', port: 5432, database: 'd' },
    })
    const sim = parseTarget('sim:si+lost-update+write-skew:20%')
    expect(sim).toMatchObject({ kind: 'sim', level: 'si', faultShare: 0.2 })
  })

  it('says what there is when it does not know a target, a level or a fault', () => {
    expect(complaint(() => parseTarget('oracle'))).toMatch(/"oracle".*embedded/)
    expect(complaint(() => parseTarget('sim:best'))).toMatch(/"best".*rc, ra, cc/)
    expect(complaint(() => parseTarget('sim:si+evil'))).toMatch(/"evil".*lost-update/)
    expect(complaint(() => parseTarget('sim:si+future-read'))).toMatch(/cannot show.*--inject/)
    expect(complaint(() => parseTarget('sim:si+lost-update:x'))).toMatch(/bad share "x"/)
  })

  it('never repeats a password', () => {
    for (const text of ['mysql://me:secret@h/d', 'postgres://me:secret@h:x/d', 'me:secret@h']) {
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
    expect(bare).toMatchObject({ host: 'e', port: 77, user: 'u', database: undefined })
  })

  it('understands sslmode and host, and refuses what it would ignore', () => {
    const address = parsePostgresAddress('postgres:///d?host=/run/pg&sslmode=require', {})
    expect(address).toMatchObject({ host: '/run/pg', ssl: { rejectUnauthorized: false } })
    expect(complaint(() => parsePostgresAddress('postgres://h/d?sslmode=maybe', {}))).toMatch(
      /"maybe".*verify-full/,
    )
    expect(complaint(() => parsePostgresAddress('postgres://h/d?options=x', {}))).toMatch(
      /"options"/,
    )
  })

  it('is shown without the password', () => {
    const address = parsePostgresAddress('postgres://me:secret@[::1]:9/d', {})
    expect(showAddress(address)).toBe('postgres://me@[::1]:9/d')
  })
})

describe('parseFaultPlan', () => {
  it('reads shares, ranges and times', () => {
    expect(parseFaultPlan(['kill-connection:5%,latency:1-20ms', 'restart-server:2s'])).toEqual({
      killShare: 0.05,
      latencyMs: [1, 20],
      restartEveryMs: 2000,
    })
    expect(parseFaultPlan(['latency:7ms']).latencyMs).toEqual([7, 7])
    expect(parseFaultPlan([])).toEqual(NO_FAULTS)
  })

  it.each(['kill-connection:5', 'kill-connection:200%', 'latency', 'latency:9-2ms', 'fire'])(
    'refuses %s and shows how to write it',
    (text) => {
      expect(complaint(() => parseFaultPlan([text]))).toMatch(/5%|latency:10ms/)
    },
  )
})

describe('openTarget', () => {
  const options = { levels: ['ser' as LevelId], sessions: 2, seed: 1, faults: NO_FAULTS }

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
    await expect(openTarget(foreign, crash)).rejects.toThrow(/embedded server/)
  })
})
