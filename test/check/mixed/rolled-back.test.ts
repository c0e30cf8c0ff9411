// What a transaction read that its own program rolled back is judged at its level; its writes take
// no part (docs/levels.md).

import { describe, expect, it } from 'vitest'
import { checkMixed } from '../../../src/check/mixed/check-mixed.ts'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { describeTxn } from '../../../src/report/describe-txn.ts'
import { renderText } from '../../../src/report/text.ts'
import { certifyMixed } from '../../../src/verdict/certify-mixed.ts'
import { resolveResults } from '../../../src/verdict/resolve-file.ts'
import { save } from '../../formats/storage.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'
import { readFile, writeFile } from '../../verdict/through-file.ts'

const FRACTURED = `
  init: x=0 y=0
  s1: [ser] insert as w1 x=1 y=1
  s2: [ra rolled-back] select(id = 'y') y@0 ; select(id = 'x') x@w1`

const LEARNED = `
  init: x=0
  s1: [rc] insert as w1 x=1
  s2: [rc rolled-back] select(true) x@w1 | [cc] select(true) x@0`

const LOST = `
  init: x=0
  s1: [si] update(true) as w1 x@0=1
  s2: [si rolled-back] update(true) as w2 x@0=2 ; select(true) x@w2`

const OUTCOMES: readonly (readonly [string, string, string, string])[] = [
  ['half of a transaction at ra', FRACTURED, 'violated', 'satisfied'],
  ['half of a transaction at rc', FRACTURED.replace('[ra', '[rc'), 'satisfied', 'satisfied'],
  ['half of one, aborted by the database', FRACTURED.replace('rolled-back', 'aborted'), '', ''],
  ['what the next of its session must know', LEARNED, 'violated', 'satisfied'],
  ['what the next need not know at rc', LEARNED.replace('[cc]', '[rc]'), 'satisfied', 'satisfied'],
  ['what another replaced, and its own write', LOST, 'satisfied', 'satisfied'],
  ['a version before its own write', LOST.replace('x@w2', 'x@0'), 'violated', 'satisfied'],
  [
    'nothing, but another read its write',
    `${LOST}\n  s3: [rc] select(v = 2) x@w2`,
    'violated',
    'violated',
  ],
  [
    'an indeterminate transaction, whose other write is then there',
    `
  init: x=0 y=0
  s1: [rc indeterminate] insert as w1 x=1 y=1
  s2: [ser rolled-back] select(id = 'x') x@w1 | [ser] select(id = 'y') y@0`,
    'violated',
    'satisfied',
  ],
]

describe('a transaction that was rolled back on purpose', () => {
  for (const [what, text, judged, ignored] of OUTCOMES) {
    it(`read ${what}: ${judged || 'not judged'}`, () => {
      const history = historyOfSql(parseSql(text))
      for (const algorithm of ['solve', 'search'] as const) {
        const [strict] = checkMixed(history, ['mixed'], { algorithm })
        const [lax] = checkMixed(history, ['mixed'], { algorithm, abortedReads: 'ignore' })
        expect([strict!.verdict, lax!.verdict]).toEqual([
          judged || 'satisfied',
          ignored || 'satisfied',
        ])
        expect(strict).not.toHaveProperty('abortedReads')
        expect(lax!.abortedReads).toBe(judged ? 'ignore' : undefined)
      }
    })
  }

  it('is told apart in reports and in files', () => {
    const history = historyOfSql(parseSql(FRACTURED))
    const text = renderText(history, checkMixed(history, ['mixed']))
    expect(text).toContain('Rolled back, but judged for what it read (--aborted-reads): T2.')
    expect(text).toContain('s2: T2 (ran at ra, rolled back)')
    expect(describeTxn(history, 1)).toMatchObject({ status: 'aborted', rolledBack: true })
    const bytes = save(findFormat('native')!, history).get('')!
    expect(Buffer.from(bytes).toString()).toContain('{"abort":true}]}')
    const back = parseHistory(bytes)
    expect(Array.from(back.sql!.txnRolledBack)).toEqual([0, 1])
    expect(checkMixed(back, ['mixed'])[0]!.verdict).toBe('violated')
  })

  it('is ignored by a certificate only if that says so', () => {
    const history = historyOfSql(parseSql(FRACTURED))
    const lax = checkMixed(history, ['mixed'], { abortedReads: 'ignore' })
    const written = writeFile(history, lax)
    const verify = (text: string) =>
      certifyMixed(history, resolveResults(history, readFile(text))[0]!).problems
    expect(verify(written)).toEqual([])
    expect(verify(written.replace('"abortedReads":"ignore",', ''))).not.toEqual([])
    const strict = writeFile(history, checkMixed(history, ['mixed']))
    expect(verify(strict)).toEqual([])
    expect(verify(strict.replace('"verdict"', '"abortedReads":"ignore","verdict"'))).not.toEqual([])
  })
})
