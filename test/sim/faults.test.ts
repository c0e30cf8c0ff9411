import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderFaults } from '../../scripts/faults.ts'
import { FAULTS, findFault, parseFaults } from '../../src/sim/faults.ts'

describe('parseFaults', () => {
  test('reads names and how often each strikes', () => {
    const requests = parseFaults('lost-update:3, long-fork')
    expect(requests.map(({ fault, count }) => [fault.name, count])).toEqual([
      ['lost-update', 3],
      ['long-fork', 1],
    ])
  })

  test('refuses what is no fault, and says which there are', () => {
    expect(() => findFault('lost')).toThrow('unknown fault "lost"')
    for (const bad of ['lost-update:', 'lost-update:0', 'lost-update:-1', 'lost-update:1:2']) {
      expect(() => parseFaults(bad)).toThrow('bad fault')
    }
    expect(() => parseFaults('')).toThrow('unknown fault ""')
  })
})

describe('docs/faults.md', () => {
  test('says what the table says and what is measured', () => {
    const path = new URL('../../docs/faults.md', import.meta.url)
    // The formatter pads tables.
    const plain = (text: string) => text.replace(/ *\| */g, '|').replace(/:?-+:?/g, '-')
    const stale = 'run node --import tsx scripts/faults.ts && npm run format'
    expect(plain(readFileSync(path, 'utf8')), stale).toBe(plain(renderFaults()))
    expect(FAULTS.length).toBe(20)
  })
})
