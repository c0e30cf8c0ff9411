import { describe, expect, it } from 'vitest'
import { fateOf, isBusy, isHopeless } from '../../../src/record/sqlite/codes.ts'

describe('fateOf', () => {
  it('is certain if COMMIT was refused as busy, and open after any other failure of it', () => {
    expect(fateOf('work', 'SQLITE_IOERR_FSYNC')).toBe('aborted')
    expect(fateOf('commit', 'SQLITE_BUSY')).toBe('aborted')
    for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_FULL', null]) {
      expect(fateOf('commit', code)).toBe('indeterminate')
    }
    expect(fateOf('alone', 'SQLITE_CONSTRAINT_PRIMARYKEY')).toBe('aborted')
    expect(fateOf('alone', 'SQLITE_IOERR')).toBe('indeterminate')
    expect(['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', null].map(isBusy)).toEqual([true, false, false])
    expect([isHopeless('SQLITE_READONLY_DBMOVED'), isHopeless('SQLITE_BUSY')]).toEqual([
      true,
      false,
    ])
  })
})
