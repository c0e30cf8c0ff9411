import '../../src/matchers/vitest.ts'
import { expect as jestExpect } from 'expect'
import { describe, expect, it } from 'vitest'
import { check, parseHistory } from '../../src/index.ts'
import { toBeIsolated } from '../../src/matchers/jest.ts'

const LOST_UPDATE = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
const SOUND = 's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)'
const ROOMS = {
  tables: { rooms: { columns: { id: 'integer', free: 'boolean' }, key: ['id'] } },
  transactions: [
    { session: 1, ops: [{ select: 'rooms', where: 'free', rows: [] }], level: 'ser' as const },
  ],
}

async function messageOf(run: Promise<void>): Promise<string> {
  try {
    await run
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

describe('toBeIsolated in Vitest', () => {
  it('passes for a history that satisfies the level', async () => {
    await expect(parseHistory(SOUND)).toBeIsolated('ser')
    await expect(SOUND).toBeIsolated('si')
    await expect(LOST_UPDATE).not.toBeIsolated('si')
    await expect(LOST_UPDATE).toBeIsolated('pc')
    await expect(await check(SOUND)).toBeIsolated('ser')
    await expect([{ session: 1, ops: [{ w: 'x', v: 1 }] }]).toBeIsolated('ser')
  })

  it('judges SQL statements', async () => {
    await expect(ROOMS).toBeIsolated('mixed')
  })

  it('fails with the explained counterexample', async () => {
    const message = await messageOf(expect(LOST_UPDATE).toBeIsolated('si'))
    expect(message).toContain('expected a history that satisfies Snapshot Isolation (si)')
    expect(message).toContain('LostUpdate')
    expect(message).toContain("T1 read the initial x=0, so it did not see T2's x=2")
    expect(message).toContain('s2: r(x,0) w(x,2)')
  })

  it('fails the other way round for a history that satisfies the level', async () => {
    const message = await messageOf(expect(SOUND).not.toBeIsolated('si'))
    expect(message).toContain('expected a history that violates Snapshot Isolation (si)')
  })

  it('takes an unknown verdict for no pass in either direction', async () => {
    expect(await messageOf(expect(SOUND).toBeIsolated('sser'))).toContain('not decided')
    expect(await messageOf(expect(SOUND).not.toBeIsolated('sser'))).toContain('not decided')
  })

  it('reads text in other formats, and says what is wrong with it', async () => {
    await expect('w(1,1,0,0)\nr(1,1,1,1)\n').toBeIsolated('ser', { format: 'plume' })
    const wrong = await messageOf(expect('s1: q(x,1)').toBeIsolated('si'))
    expect(wrong).toContain('unknown operation')
    expect(await messageOf(expect(7).toBeIsolated('si'))).toContain('no history')
    // @ts-expect-error: no such level
    expect(await messageOf(expect(SOUND).toBeIsolated('sii'))).toContain('unknown level "sii"')
  })
})

describe('toBeIsolated in Jest', () => {
  jestExpect.extend({ toBeIsolated: toBeIsolated as never })
  const expectHistory = (history: unknown) =>
    jestExpect(history) as unknown as Record<'toBeIsolated', (level: string) => Promise<void>> & {
      not: { toBeIsolated(level: string): Promise<void> }
    }

  it('passes and fails as in Vitest', async () => {
    await expectHistory(SOUND).toBeIsolated('ser')
    await expectHistory(LOST_UPDATE).not.toBeIsolated('si')
    const message = await messageOf(expectHistory(LOST_UPDATE).toBeIsolated('si'))
    expect(message).toContain('LostUpdate')
  })
})
