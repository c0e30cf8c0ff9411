import { describe, expect, it } from 'vitest'
import { parseMysqlAddress, showAddress } from '../../../src/record/mysql/address.ts'

const parse = (text: string, environment: Record<string, string> = {}, password?: string) =>
  parseMysqlAddress(text, { environment, password })

describe('parseMysqlAddress', () => {
  it('reads address, environment and parameters', () => {
    expect(parse('mysql://me:a%40b@h:77/d')).toMatchObject({
      ...{ host: 'h', port: 77, user: 'me', password: 'a@b', database: 'd' },
      ...{ ssl: 'disable', isolation: null, snapshotAtStart: false, variables: [] },
    })
    const environment = { MYSQL_PWD: 'env', MYSQL_TCP_PORT: '78' }
    expect(parse('mariadb://me@h/d', environment)).toMatchObject({ port: 78, password: 'env' })
    expect(parse('mysql://me:url@h/d', environment, 'file').password).toBe('file')
    const more = 'mysql://h/d?isolation=read-uncommitted&snapshot=start&set=a=1&set=b=ON&ssl=verify'
    expect(parse(more)).toMatchObject({
      ...{ isolation: 'READ UNCOMMITTED', snapshotAtStart: true, ssl: 'verify' },
      variables: [
        ['a', '1'],
        ['b', 'ON'],
      ],
    })
  })

  it('refuses what it does not understand, and shows no password', () => {
    expect(() => parse('mysql://h/d?sett=a')).toThrow(/"sett" is not understood/)
    expect(() => parse('mysql://h/d?set=a=1;DROP')).toThrow(/variable/)
    expect(() => parse('mysql://h/d?isolation=none')).toThrow(/unknown isolation "none"/)
    expect(() => parse('mysql://h')).toThrow(/names no database/)
    expect(() => parse('mysql://me:p/w@h/d')).toThrow(/cannot be understood/)
    expect(showAddress(parse('mysql://me:secret@h/d'))).toBe('mysql://me@h:3306/d')
  })
})
