// Versions in files: read, written, refused where a format has no place for them, and where they
// are no order.

import { describe, expect, it } from 'vitest'
import { check, profile } from '../../../src/check/check.ts'
import { judge } from '../../../src/check/judge.ts'
import { FORMATS, findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { check as checkAny } from '../../../src/library/check.ts'
import { buildCore } from '../../../src/report/core-history.ts'
import { describeVerdict } from '../../../src/report/describe-verdict.ts'
import { Example } from '../../../src/report/example.ts'
import { subHistory } from '../../history/sub-history.ts'
import { refusal } from '../errors.ts'

const TEXT = [
  '{"isobar":1,"initial":0,"version":"of the recorder"}',
  '{"session":0,"ops":[["w","x",1,{"version":3}],["r","y",0]]}',
  '{"pending":"late","session":1,"ops":[["w","x",2],["w","y",1,{"version":1}]]}',
  '{"session":2,"ops":[["r","x",1,{"version":3}]]}',
  '{"session":2,"ops":[["r","x",2],["r","y",1,{"version":1}]]}',
  '{"outcome":"late","status":"committed","version":900719925474099300001}',
  '',
].join('\n')

function write(text: string, id: string): string {
  const chunks: Uint8Array[] = []
  findFormat(id)!.write(parseHistory(text), (bytes) => chunks.push(bytes.slice()))
  return Buffer.concat(chunks).toString()
}

const textsOf = (text: string) => {
  const history = parseHistory(text)
  return Array.from(history.opKind, (_, op) => history.versions!.text(op))
}

describe('versions in the native format', () => {
  it('stand behind values, or beside operations for all that is written', () => {
    const long = '900719925474099300001'
    expect(textsOf(TEXT)).toEqual(['3', null, long, '1', '3', null, '1'])
    expect(parseHistory('{"isobar":1,"version":2}\n{"session":0,"ops":[]}').versions).toBeNull()
  })

  it('may be LSNs, which come back as PostgreSQL writes them', () => {
    const lsn = (first: string, second: string) =>
      `{"session":0,"version":"${first}","ops":[["w","x",1]]}\n{"session":1,"version":"${second}","ops":[["w","x",2]]}\n{"session":2,"ops":[["r","x",1]]}\n{"session":2,"ops":[["r","x",2]]}`
    expect(textsOf(lsn('F/ffffffff', '10/0'))).toEqual(['F/FFFFFFFF', '10/0', null, null])
    expect(check(parseHistory(lsn('F/ffffffff', '10/0')), 'ser').verdict).toBe('satisfied')
    expect(check(parseHistory(lsn('10/0', 'F/ffffffff')), 'ser').verdict).toBe('violated')
    expect(write(lsn('F/ffffffff', '10/0'), 'native')).toContain('{"version":"F/FFFFFFFF"}')
  })

  it('are compared exactly, whatever their number of digits', () => {
    const order = (first: string, second: string) =>
      parseNotation(`s1: w(x,1)@${first}\ns2: w(x,2)@${second}\ns3: r(x,1) | r(x,2)`)
    expect(check(order('9007199254740992', '9007199254740993'), 'cc').verdict).toBe('satisfied')
    expect(check(order('9007199254740993', '9007199254740992'), 'cc').verdict).toBe('violated')
    expect(check(order('1e3', '1000.5'), 'cc').verdict).toBe('satisfied')
  })

  it.each([
    [
      '{"session":0,"ops":[["w","x",1,{"version":1}]]}\n{"session":1,"ops":[["w","x",2,{"version":1.0}]]}',
      '2:21 bad-version: version 1 of key "x" is given to two writes, by T1 and by T2',
    ],
    [
      '{"session":0,"ops":[["w","x",1,{"version":1}]]}\n{"session":1,"ops":[["w","x",2]]}',
      '2:21 bad-version: key "x" has versions, but the write by T2 has none, and no read tells it',
    ],
    [
      '{"session":0,"ops":[["w","x",1,{"version":1}]]}\n{"session":1,"ops":[["w","x",2,{"version":"0/1"}]]}',
      '2:32 bad-version: versions are numbers here and LSNs there',
    ],
    [
      '{"session":0,"ops":[["w","x",1,{"version":"yesterday"}]]}',
      '1:43 bad-version: the version "yesterday" has no order',
    ],
    ['{"session":0,"ops":[["w","x",1,{"version":null}]]}', /^1:43 malformed: expected a version/],
    [
      '{"session":0,"ops":[["w","x",1,2]]}',
      /^1:32 malformed: the operation has one value too many/,
    ],
    ['{"session":0,"ops":[["w","x",1,{"at":2}]]}', /^1:32 malformed: only "version" may stand/],
    [
      '{"session":0,"ops":[["append","x",1,{"version":2}]]}',
      /^1:37 malformed: only reads and writes of registers have versions/,
    ],
    ['{"session":0,"ops":[["r","x",[1],{"version":2}]]}', /only reads and writes of registers/],
    [
      '{"session":1,"version":2,"ops":[["append","x",1]]}\n{"session":2,"version":1,"ops":[["append","x",2]]}\n{"session":3,"ops":[["r","x",[1,2]]]}',
      '1:33 bad-version: transaction T1 has a version and appends to a list',
    ],
    [
      '{"session":1,"version":1,"ops":[["w","y",1],["inc","x",1]]}\n{"session":3,"ops":[["r","x",2]]}',
      '1:45 bad-version: transaction T1 has a version and adds to a counter or a set',
    ],
    [
      '{"session":0,"ops":[["inc","x",1,{"version":2}]]}',
      /^1:34 malformed: only reads and writes of registers have versions/,
    ],
    [
      '{"session":0,"ops":[["cas","x",1,3,{"version":2}]]}',
      /^1:36 malformed: only reads and writes of registers have versions/,
    ],
    [
      '{"session":0,"ops":[["insert","x",1,{"version":2}]]}',
      /^1:37 malformed: only reads and writes of registers have versions/,
    ],
    [
      '{"session":0,"ops":[["range",1,2,[],{"version":2}]]}',
      /^1:37 malformed: only reads and writes of registers have versions/,
    ],
    [
      '{"session":0,"ops":[["w","x",null,{"version":7}]]}\n{"session":1,"ops":[["w","x",2,{"version":1}]]}',
      '1:21 bad-version: version 7 of the initial state of "x" does not come before version 1, by T2',
    ],
  ])('refuses %s', (text, message) => {
    expect(refusal(text, 'native')).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
  })

  it.each([
    ['s1: append(x,1)@2', 'lists show the order'],
    ['s1: r(x,[1])@2', 'lists show the order'],
    ['s1: inc(x,1)@1', 'increments commute'],
    ['s1: cas(x,1,3)@3', 'of the transaction'],
    ['s1: insert(x,1,?)@3', 'of the transaction'],
    ['s1: range(1,2,[])@3', 'leave it out'],
    ['s1: rows(x,[])@3', 'leave it out'],
  ])('refuses %s in the notation', (text, hint) => {
    expect(() => parseNotation(text)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('only reads and writes of registers have versions'),
        hint: expect.stringContaining(hint),
        place: expect.objectContaining({ line: 1 }),
      }),
    )
  })

  it('takes no notice of the versions of those that took no effect', () => {
    const text =
      's1: w(x,1)@1\ns2: w(x,2)@1 [aborted]\ns3: w(x,3) [indeterminate]\ns4: w(x,4)@7 w(x,5)@2'
    expect(textsOf(text)).toEqual(['1', '1', null, '2', '2'])
    expect(check(parseNotation(text), 'ser').verdict).toBe('satisfied')
  })

  it('come back from the native format and the notation', () => {
    const once = write(TEXT, 'native')
    expect(write(once, 'native')).toBe(once)
    const notation = write(TEXT, 'notation')
    expect(notation).toContain('w(x,2)@900719925474099300001')
    expect(write(notation, 'notation')).toBe(notation)
  })

  it('stay with lightweight operations, as versions of their transactions', () => {
    const text =
      '{"session":0,"version":2,"ops":[["insert","x",1]]}\n{"session":1,"version":3,"ops":[["cas","x",1,2]]}'
    const once = write(text, 'native')
    expect(once).toContain('{"session":1,"version":3,"ops":[["cas","x",1,2]]}')
    const timed = text.replaceAll('"session":', '"start":1,"finish":2,"session":')
    expect(check(parseHistory(timed), 'lin').verdict).toBe('satisfied')
    const turned = check(parseHistory(timed.replace('"version":2', '"version":9')), 'lin')
    expect(turned.verdict).toBe('violated')
    expect(turned.certificate?.verified).toBe(true)
  })

  it('are refused by every other format', () => {
    const history = parseHistory(TEXT)
    for (const { id, misfits } of FORMATS) {
      const holds = id === 'native' || id === 'notation'
      const expected = expect.arrayContaining([expect.stringContaining('versions of reads')])
      expect(misfits(history)).toEqual(holds ? [] : expected)
    }
  })

  it('are refused by mixed levels', async () => {
    await expect(judge(parseHistory(TEXT), ['mixed'])).rejects.toThrow(/judged without versions/)
  })
})

describe('check of a history with versions', () => {
  const verdictsOf = (text: string) =>
    Object.fromEntries(profile(parseNotation(text)).map(({ level, verdict }) => [level, verdict]))

  it('holds levels to the order that the store gave', () => {
    const text = (one: number, other: number) =>
      `s1: w(x,1)@${one}\ns2: w(x,2)@${other}\ns3: r(x,2) | r(x,1)`
    expect(verdictsOf(text(2, 1))).toMatchObject({ cc: 'satisfied', ser: 'satisfied' })
    expect(verdictsOf(text(1, 2))).toMatchObject({ ra: 'satisfied', cc: 'violated' })
  })

  it('tells a version order by its numbers', async () => {
    const text = 's1: w(x,1)@2 w(y,1)@1\ns2: w(x,2)@1 w(y,2)@2'
    const result = await checkAny(text, 'rc')
    expect(result.results[0]!.anomalies[0]!.name).toBe('G0')
    expect(JSON.stringify(result)).toContain("T2's x=2 is version 1, and T1's x=1 is version 2")
  })

  it('names a read that reports another version, at every level', async () => {
    const text = 's1: w(x,1)@1\ns2: w(x,2)@2\ns3: r(x,1)@2'
    const result = await checkAny(text, ['ci', 'rc', 'ser'])
    for (const { verdict, anomalies, certificate } of result.results) {
      expect(verdict).toBe('violated')
      expect(anomalies.map(({ name }) => name)).toEqual(['WrongVersion'])
      expect(certificate?.verified).toBe(true)
    }
    expect(JSON.stringify(result)).toContain(
      "T3 read x=1 as version 2, but what T1 wrote is version 1: the store's own order is wrong",
    )
    const right = await checkAny(text.replace('r(x,1)@2', 'r(x,1)@1'), 'ser')
    expect(right.results[0]!.verdict).toBe('satisfied')
  })

  it.each([
    ['two versions of the initial state', 's1: r(x,0)@1\ns2: r(x,0)@2', 'violated'],
    ['an initial state that is newer', 's1: w(x,1)@1\ns2: r(x,0)@3', 'violated'],
    ['an initial state that comes first', 's1: w(x,1)@1\ns2: r(x,0)@0', 'satisfied'],
    ['two reads that differ on a write', 's1: w(x,1)\ns2: r(x,1)@4\ns3: r(x,1)@5', 'violated'],
    ['own reads, numbered provisionally', 's1: w(x,1)@4 r(x,1)@9', 'satisfied'],
  ])('judges %s', (_, text, verdict) => {
    expect(check(parseNotation(text), 'ser').verdict).toBe(verdict)
  })

  it('keeps versions in parts and cores', () => {
    const history = parseNotation('s1: w(x,1)\ns2: w(x,2)@1 w(y,1)@1\ns3: r(x,1)@2 | r(x,2)')
    const part = subHistory(history, [0, 1, 2])
    expect(renderNotation(part)).toBe('s1: w(x,1)@2\ns2: w(x,2)@1 w(y,1)@1\n')
    const context = { path: 'h', format: 'notation', parseMs: 0 }
    const verdict = describeVerdict(history, [check(history, 'cc')], context)
    const core = buildCore(new Example(verdict, verdict.results[0]!.anomalies[0]!), 0).history
    expect(renderNotation(core)).toContain('w(x,1)@2')
    expect(check(core, 'cc').verdict).toBe('violated')
  })

  it('takes plain objects with versions', async () => {
    const told = (version: number) => [
      { session: 1, version, ops: [{ w: 'x', v: 1 }] },
      { session: 2, ops: [{ w: 'x', v: 2, version: 5 }] },
      { session: 3, ops: [{ r: 'x', v: 1 }] },
      { session: 3, ops: [{ r: 'x', v: 2, version: 5 }] },
    ]
    expect((await checkAny(told(3), 'ser')).results[0]!.verdict).toBe('satisfied')
    expect((await checkAny(told(7), 'ser')).results[0]!.verdict).toBe('violated')
  })
})
