import { describe, expect, it } from 'vitest'
import { DatabaseError } from '../../src/base/errors.ts'
import { Auditor } from '../../src/record/audit.ts'

describe('Auditor', () => {
  it('waits for a server that is away no longer than the run does', async () => {
    let tries = 0
    const open = async () => {
      tries++
      throw new DatabaseError('away')
    }
    const options = { database: { open }, patienceMs: 600_000, isOver: () => tries > 2 }
    const auditor = new Auditor(options as unknown as ConstructorParameters<typeof Auditor>[0])
    auditor.note({ keys: [0], areLists: false })
    await auditor.audit(true)
    expect({ tries, audits: auditor.count }).toEqual({ tries: 3, audits: 0 })
  })
})
