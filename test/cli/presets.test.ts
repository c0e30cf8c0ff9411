import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { PRESETS, withPreset } from '../../src/cli/presets.ts'
import { parseFaultPlan } from '../../src/record/faults.ts'

describe('withPreset', () => {
  it('sets what was not given, and leaves what was', () => {
    const flags = withPreset({ keys: '7', fault: [] }, 'long-transactions')
    expect(flags).toMatchObject({ keys: '7', sessions: '40', aim: 'write-skew', duration: '100s' })
    expect(flags.fault).toEqual(['pause:10%:3s'])
    expect(withPreset({ fault: ['latency:1ms'] }, 'long-transactions').fault).toEqual([
      'latency:1ms',
    ])
    const counted = withPreset(
      { fault: [], transactions: '5', workload: 'mini' },
      'long-transactions',
    )
    expect(counted).not.toHaveProperty('duration')
    expect(counted).not.toHaveProperty('aim')
    const shaped = withPreset({ fault: [], shape: 'mini' }, 'long-transactions')
    expect(shaped).not.toHaveProperty('aim')
    const aimed = withPreset({ fault: [], aim: 'lost-update' }, 'long-transactions')
    expect(aimed).toMatchObject({ aim: 'lost-update', keys: '30000' })
    expect(withPreset({ fault: [] }, undefined)).toEqual({ fault: [] })
  })

  it('refuses a name that it does not know', () => {
    expect(() => withPreset({ fault: [] }, 'long-transaction')).toThrow(UsageError)
  })

  it('has only faults that there are', () => {
    for (const { flags } of Object.values(PRESETS)) parseFaultPlan(flags.fault ?? [])
  })
})
