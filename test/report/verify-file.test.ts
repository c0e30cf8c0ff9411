// Verdict files against their histories: true ones are believed, and no word can be changed.

import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { check, profile } from '../../src/check/check.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { verifyFile } from '../../src/report/verify-file.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'
import { LONG } from '../long.ts'
import { readFile, writeFile } from '../verdict/through-file.ts'
import { CASE_SPLIT, GALLERY } from './gallery.ts'
import { SQL_GALLERY } from './sql-gallery.ts'

async function problemsOf(history: History, file: VerdictJson): Promise<string[]> {
  try {
    return (await verifyFile(history, file)).flatMap(({ problems }) => problems)
  } catch (error) {
    if (error instanceof InputError) return [error.message]
    throw error
  }
}

/** Of the words of a file, every how many are changed. */
const EVERY = LONG ? 1 : 3

/** How a verdict came about: nobody can verify that. */
const ABOUT = new Set([
  ...['isobar', 'path', 'format', 'asked', 'command', 'warnings', 'run'],
  ...['reason', 'impliedBy', 'algorithm', 'elapsedMs', 'stages', 'certificate'],
])

/** The file with each text, number and truth of it changed in turn, and each thing left out. */
function* changed(text: string): Generator<{ path: string; file: VerdictJson }> {
  const file = JSON.parse(text)
  const pending: [parts: Record<string, unknown>, path: string][] = [[file, '']]
  for (const [parts, at] of pending) {
    for (const [name, value] of Object.entries(parts)) {
      if (ABOUT.has(name) && (at === '' || /^\.results\.\d+$/.test(at))) continue
      const path = `${at}.${name}`
      // How often single reads offend is verified (certify-counts.ts), how many cycles there are
      // not; and another read may show the same.
      if (/anomalies\.\d+\.count$|ops\.\d+\.index$/.test(path)) continue
      if (typeof value === 'object' && value !== null) pending.push([value as typeof parts, path])
      else {
        parts[name] =
          typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}s` : 'T1'
        yield { path, file: structuredClone(file) }
        parts[name] = value
      }
    }
  }
}

function subjects(): [string, History, LevelResult[]][] {
  const plain = [...GALLERY, { name: 'cases', notation: CASE_SPLIT, level: undefined }].map(
    ({ name, notation, level }): [string, History, LevelResult[]] => {
      const history = parseNotation(notation)
      return [name, history, level ? [check(history, level)] : profile(history)]
    },
  )
  const sql = SQL_GALLERY.map(({ name, text, level }): [string, History, LevelResult[]] => {
    const history = parseHistory(text)
    return [name, history, checkMixed(history, [level, 'rc'])]
  })
  return [...plain, ...sql]
}

describe('verifyFile', () => {
  it.each(subjects())(
    'believes what is true of %s, and no word that was changed',
    async (_, history, results) => {
      const text = writeFile(history, results)
      const verified = await verifyFile(history, readFile(text))
      expect(verified.map(({ result }) => result.level)).toEqual(results.map(({ level }) => level))
      expect(verified.flatMap(({ problems }) => problems)).toEqual([])
      let tried = 0
      let number = 0
      for (const { path, file } of changed(text)) {
        if (number++ % EVERY !== 0) continue
        // Files of a shape that is not theirs were turned away when they were read.
        let found: VerdictJson
        try {
          found = readFile(JSON.stringify(file))
        } catch {
          continue
        }
        tried++
        expect(await problemsOf(history, found), path).not.toEqual([])
      }
      expect(tried).toBeGreaterThan(10)
    },
  )

  it('tells a shared proof once', async () => {
    const history = parseNotation('s1: w(x,1)\ns2: r(x,1)')
    const file = readFile(writeFile(history, profile(history)))
    const proofs = file.results.map(({ proof }) => proof)
    expect(proofs.slice(0, 3)).toEqual([
      { kind: 'none' },
      { kind: 'commit-order', order: [0, 1] },
      { kind: 'commit-order', sameAs: 1 },
    ])
    file.results[1]!.proof = { kind: 'commit-order', sameAs: 2 }
    expect(await problemsOf(history, file)).toEqual([expect.stringContaining('to share')])
  })

  it('follows reasons to any depth, without a stack that overflows', async () => {
    const history = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    const file = readFile(writeFile(history, [check(history, 'si')]))
    let [edge] = file.results[0]!.anomalies[0]!.edges
    for (let i = 0; i < 100_000; i++) edge = { ...edge!, premises: [edge!] }
    file.results[0]!.anomalies[0]!.edges = [edge!]
    expect(await problemsOf(history, file)).not.toEqual([])
  })
})
