import { describe, expect, it } from 'vitest'
import { Rest } from '../../src/record/rest.ts'

const settled = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('Rest', () => {
  it('comes when those who are in have left, and lets nobody in until all go on', async () => {
    const rest = new Rest()
    const log: string[] = []
    expect([rest.enter(), rest.enter()]).toEqual([true, true])
    const come = rest.come().then(() => log.push('at rest'))
    expect(rest.enter()).toBe(false)
    const entered = rest.enterLater().then(() => log.push('entered'))
    rest.leave()
    await settled()
    expect(log).toEqual([])
    rest.leave()
    await come
    await settled()
    expect(log).toEqual(['at rest'])
    rest.goOn()
    await entered
    expect(log).toEqual(['at rest', 'entered'])
    expect(rest.enter()).toBe(true)
  })

  it('comes at once where nobody is in, and again', async () => {
    const rest = new Rest()
    for (let i = 0; i < 2; i++) {
      await rest.come()
      expect(rest.enter()).toBe(false)
      rest.goOn()
      expect(rest.enter()).toBe(true)
      rest.leave()
    }
  })
})
