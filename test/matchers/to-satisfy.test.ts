import '../../src/matchers/vitest.ts'
import { expect as jestExpect } from 'expect'
import { describe, expect, it } from 'vitest'
import { parseNotation } from '../../src/history/notation.ts'
import { toSatisfy } from '../../src/matchers/jest.ts'

const LOST_UPDATE = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
const SOUND = 's1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)'

function messageOf(run: () => void): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

describe('toSatisfy in Vitest', () => {
  it('passes for a history that satisfies the level', () => {
    expect(parseNotation(SOUND)).toSatisfy('ser')
    expect(SOUND).toSatisfy('si')
    expect(LOST_UPDATE).not.toSatisfy('si')
    expect(LOST_UPDATE).toSatisfy('pc')
  })

  it('fails with the explained counterexample', () => {
    const message = messageOf(() => expect(LOST_UPDATE).toSatisfy('si'))
    expect(message).toContain('expected a history that satisfies Snapshot Isolation (si)')
    expect(message).toContain('LostUpdate')
    expect(message).toContain("T1 read the initial x=0, so it did not see T2's x=2")
    expect(message).toContain('s2: r(x,0) w(x,2)')
  })

  it('fails the other way round for a history that satisfies the level', () => {
    const message = messageOf(() => expect(SOUND).not.toSatisfy('si'))
    expect(message).toContain('expected a history that violates Snapshot Isolation (si)')
  })

  it('takes an unknown verdict for no pass in either direction', () => {
    expect(messageOf(() => expect(SOUND).toSatisfy('sser'))).toContain('not decided')
    expect(messageOf(() => expect(SOUND).not.toSatisfy('sser'))).toContain('not decided')
  })

  it('reads text in other formats, and says what is wrong with it', () => {
    expect('w(1,1,0,0)\nr(1,1,1,1)\n').toSatisfy('ser', { format: 'plume' })
    expect(messageOf(() => expect('s1: q(x,1)').toSatisfy('si'))).toContain('unknown operation')
    expect(messageOf(() => expect(7).toSatisfy('si'))).toContain('a history')
    // @ts-expect-error: no such level
    expect(messageOf(() => expect(SOUND).toSatisfy('sii'))).toContain('unknown level "sii"')
  })

  it('leaves the predicate form of Vitest as it is', () => {
    expect(3).toSatisfy((n: number) => n > 2)
    expect(3).not.toSatisfy((n: number) => n > 3)
    expect(messageOf(() => expect(1).toSatisfy((n: number) => n > 2))).toContain('predicate')
  })
})

describe('toSatisfy in Jest', () => {
  jestExpect.extend({ toSatisfy: toSatisfy as never })
  const expectHistory = (history: unknown) =>
    jestExpect(history) as unknown as Record<'toSatisfy', (level: string) => void> & {
      not: { toSatisfy(level: string): void }
    }

  it('passes and fails as in Vitest', () => {
    expectHistory(SOUND).toSatisfy('ser')
    expectHistory(LOST_UPDATE).not.toSatisfy('si')
    const message = messageOf(() => expectHistory(LOST_UPDATE).toSatisfy('si'))
    expect(message).toContain('LostUpdate')
  })
})
