import { describe, expect, it } from 'vitest'
import { parsePostgresAddress } from '../../../src/record/postgres/address.ts'
import { asDatabaseError } from '../../../src/record/postgres/failure.ts'

describe('asDatabaseError', () => {
  const address = parsePostgresAddress('postgres://me:own@h/d', {})

  it('says that a password is missing, where the driver speaks of types', () => {
    const said = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'
    const { message, hint } = asDatabaseError(new Error(said), address)
    expect(message).toBe(
      'postgres://me@h:5432/d: the server asks for a password, and none is given',
    )
    expect(hint).toContain('PGPASSWORD')
  })

  it('leaves alone what the server says of a wrong one', () => {
    const error = Object.assign(new Error('password authentication failed'), { code: '28P01' })
    const { message, hint } = asDatabaseError(error, address)
    expect(message).toBe('postgres://me@h:5432/d: password authentication failed')
    expect(hint).toContain('PGPASSWORD')
  })
})
