import { describe, expect, it } from 'vitest'
import { fateOf, isHopeless } from '../../../src/record/postgres/sqlstate.ts'

// One code of every class that PostgreSQL documents, and what an ERROR with it says at COMMIT.
const AT_COMMIT: [code: string, fate: string, hopeless: boolean][] = [
  ['08006', 'indeterminate', false], // connection failure
  ['0A000', 'indeterminate', true], // feature not supported
  ['21000', 'indeterminate', false], // cardinality violation
  ['22003', 'indeterminate', false], // numeric value out of range
  ['23505', 'aborted', false], // unique violation
  ['23503', 'aborted', false], // foreign key violation (deferred)
  ['25P02', 'aborted', false], // in failed transaction
  ['25006', 'aborted', true], // read-only transaction
  ['26000', 'indeterminate', true], // prepared statement gone
  ['28P01', 'indeterminate', true], // wrong password
  ['3D000', 'indeterminate', true], // no such database
  ['40000', 'aborted', false], // transaction rollback
  ['40001', 'aborted', false], // serialization failure
  ['40002', 'aborted', false], // integrity constraint violation at commit
  ['40003', 'indeterminate', false], // statement completion unknown
  ['40P01', 'aborted', false], // deadlock
  ['42P01', 'indeterminate', true], // no such table
  ['42501', 'indeterminate', true], // no permission
  ['53100', 'indeterminate', false], // disk full
  ['53300', 'indeterminate', false], // too many connections
  ['54000', 'indeterminate', false], // limit exceeded
  ['55P03', 'indeterminate', false], // lock not available
  ['57014', 'indeterminate', false], // cancelled
  ['57P01', 'indeterminate', false], // told to stop
  ['57P02', 'indeterminate', false], // crash of another backend
  ['58030', 'indeterminate', false], // input/output error
  ['P0001', 'indeterminate', false], // raised by a trigger
  ['XX000', 'indeterminate', false], // internal error
]

describe('fateOf', () => {
  it.each(AT_COMMIT)('takes %s at COMMIT for %s', (code, fate) => {
    expect(fateOf('commit', code, 'ERROR')).toBe(fate)
  })

  it.each(AT_COMMIT)('never takes a fatal %s at COMMIT for the server’s word', (code) => {
    expect(fateOf('commit', code, 'FATAL')).toBe('indeterminate')
    expect(fateOf('commit', code, 'PANIC')).toBe('indeterminate')
    expect(fateOf('commit', code, null)).toBe('indeterminate')
  })

  it.each(AT_COMMIT)('takes %s before COMMIT for aborted', (code) => {
    expect(fateOf('work', code, 'ERROR')).toBe('aborted')
    expect(fateOf('work', code, 'FATAL')).toBe('aborted')
  })

  it('takes silence at COMMIT for indeterminate, silence before it for aborted', () => {
    expect(fateOf('commit', null, null)).toBe('indeterminate')
    expect(fateOf('work', null, null)).toBe('aborted')
  })
})

describe('isHopeless', () => {
  it.each(AT_COMMIT)('tells whether %s is about one transaction', (code, _, hopeless) => {
    expect(isHopeless(code)).toBe(hopeless)
  })
})
