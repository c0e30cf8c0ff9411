// What a driver says of a transaction whose statement failed: `aborted` only if it is certain.

import { describe, expect, it } from 'vitest'
import {
  fateOf as fateInDuckdb,
  isHopeless as isHopelessInDuckdb,
} from '../../src/record/duckdb/kinds.ts'
import { fateOf as fateInEtcd } from '../../src/record/etcd/connection.ts'
import { fateOf as fateInRedis } from '../../src/record/redis/connection.ts'
import { fateOf as fateInSqlite, isBusy, isHopeless } from '../../src/record/sqlite/codes.ts'
import {
  fateOf as fateInTurso,
  isHopeless as isHopelessInTurso,
} from '../../src/record/turso/messages.ts'

describe('the fate of a transaction', () => {
  it('of SQLite is known if COMMIT was refused as busy, and open after any other failure', () => {
    expect(fateInSqlite('work', 'SQLITE_IOERR_FSYNC')).toBe('aborted')
    expect(fateInSqlite('commit', 'SQLITE_BUSY')).toBe('aborted')
    for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_FULL', null]) {
      expect(fateInSqlite('commit', code)).toBe('indeterminate')
    }
    expect(fateInSqlite('alone', 'SQLITE_CONSTRAINT_PRIMARYKEY')).toBe('aborted')
    expect(fateInSqlite('alone', 'SQLITE_IOERR')).toBe('indeterminate')
    expect(['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', null].map(isBusy)).toEqual([true, false, false])
    expect([isHopeless('SQLITE_READONLY_DBMOVED'), isHopeless('SQLITE_BUSY')]).toEqual([
      true,
      false,
    ])
  })

  it('of DuckDB is known if the transaction itself was refused', () => {
    expect(fateInDuckdb('work', 'IO')).toBe('aborted')
    expect(fateInDuckdb('commit', 'TransactionContext')).toBe('aborted')
    for (const kind of ['IO', 'FATAL', 'Constraint', null]) {
      expect(fateInDuckdb('commit', kind)).toBe('indeterminate')
    }
    expect(fateInDuckdb('alone', 'Constraint')).toBe('aborted')
    expect(['Parser', 'FATAL', 'TransactionContext', null].map(isHopelessInDuckdb)).toEqual([
      ...[true, true, false, false],
    ])
  })

  it('of Turso is known if it was refused by a conflict, or found another in its way', () => {
    expect(fateInTurso('work', 'step failed: I/O error')).toBe('aborted')
    for (const words of ['step failed: Write-write conflict', 'database is locked']) {
      expect(fateInTurso('commit', words)).toBe('aborted')
    }
    const failed = 'step failed: Runtime error: UNIQUE constraint failed: t.k (19)'
    for (const words of ['step failed: I/O error', failed, '']) {
      expect(fateInTurso('commit', words)).toBe('indeterminate')
    }
    expect(fateInTurso('alone', failed)).toBe('aborted')
    const syntax = 'prepare failed: near "selec": syntax error'
    expect([syntax, 'database is locked', failed].map(isHopelessInTurso)).toEqual([
      ...[true, false, false],
    ])
  })

  it('of Redis and etcd is known if the request was turned away', () => {
    expect(fateInRedis('work', null)).toBe('aborted')
    expect(fateInRedis('commit', 'EXECABORT')).toBe('aborted')
    for (const code of ['ERR', 'READONLY', null]) {
      expect(fateInRedis('commit', code)).toBe('indeterminate')
    }
    expect(fateInRedis('alone', 'OOM')).toBe('aborted')
    expect(fateInEtcd('work', null)).toBe('aborted')
    expect([3, 8].map((code) => fateInEtcd('commit', code))).toEqual(['aborted', 'aborted'])
    for (const code of [2, 4, 14, null]) expect(fateInEtcd('commit', code)).toBe('indeterminate')
  })
})
