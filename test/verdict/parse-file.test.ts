import { describe, expect, it } from 'vitest'
import { InputError } from '../../src/base/errors.ts'
import { stringify } from '../../src/base/json.ts'
import { profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import { CASE_SPLIT, GALLERY, judge } from '../report/gallery.ts'

function errorOf(text: string): InputError {
  try {
    parseVerdicts(text)
  } catch (error) {
    expect(error).toBeInstanceOf(InputError)
    return error as InputError
  }
  throw new Error('nothing was thrown')
}

const good = judge(GALLERY.find(({ name }) => name === 'LostUpdate')!.notation)

describe('parseVerdicts', () => {
  it('reads back what check --json writes', () => {
    const notations = [CASE_SPLIT, ...GALLERY.map(({ notation }) => notation)]
    for (const notation of notations) {
      const verdict = judge(notation)
      expect(parseVerdicts(stringify(verdict))).toEqual([{ line: 1, verdict }])
    }
  })

  it('keeps integers beyond 2^53, and strings that look like them', () => {
    const big = '18446744073709551615'
    const history = parseNotation(`s1: w(x,${big}) w("${big}",7) [aborted]\ns2: r(x,${big})`)
    const context = { path: '\u0001\u0002"\\', format: 'notation', parseMs: 0 }
    const text = stringify(describeVerdict(history, profile(history), context))
    const { verdict } = parseVerdicts(text)[0]!
    expect(verdict.path).toBe('\u0001\u0002"\\')
    const { ops } = verdict.transactions[0]!
    expect(ops).toEqual([
      ['w', 'x', 2n ** 64n - 1n],
      ['w', big, 7],
    ])
    expect(stringify(verdict)).toBe(text)
  })

  it('reads one verdict over many lines, and many on a line each', () => {
    expect(parseVerdicts(JSON.stringify(good, null, 2))).toHaveLength(1)
    const summary = '{"isobar":2,"summary":{"histories":2}}'
    const text = `${stringify(good)}\n\n${stringify(good)}\n${summary}\n`
    expect(parseVerdicts(text).map(({ line }) => line)).toEqual([1, 3])
  })

  it('turns away what is no verdict', () => {
    expect(errorOf('').message).toBe('the file is empty')
    expect(errorOf('<html>').message).toContain('not JSON')
    expect(errorOf('[1,2]').message).toContain('not a verdict')
    expect(errorOf('{"name":"isobar"}').message).toContain('not a verdict')
    expect(errorOf('{"isobar":1,"initial":null}\n{"session":0,"ops":[]}').message).toContain(
      'not a verdict',
    )
    expect(errorOf('{"isobar":3,"results":[]}').message).toContain('version 3')
    expect(errorOf('{"isobar":2,"taps":[]}').message).toContain('patterns')
    expect(errorOf('{"isobar":2,"path":"h","error":{"message":"torn"}}').message).toContain('torn')
    expect(errorOf('{"isobar":2,"summary":{}}').message).toContain('no verdict')
    expect(errorOf('{"isobar":2,'.repeat(3)).place).toEqual({ line: 1, column: 1 })
  })

  it('says what to do with files of version 1', () => {
    const command = 'isobar check h.txt --level si'
    const verdict = errorOf(`{"isobar":1,"path":"h.txt","command":"${command}","results":[]}`)
    expect(verdict.message).toBe(
      'this verdict has version 1, of an earlier isobar: this isobar reads version 2',
    )
    expect(verdict.hint).toBe(`make it anew: ${command} --json`)
    const certificate = errorOf('{"isobarCertificate":1,"history":{},"results":[]}')
    expect(certificate.message).toContain('a certificate of an earlier isobar')
    expect(certificate.hint).toMatch(/^make it anew: isobar check HISTORY --certificate FILE/)
  })

  it('says what to do with files that tell one strongest level', () => {
    const command = 'isobar check h.txt --level si'
    for (const summary of [
      { strongest: null, weakestViolated: 'si' },
      { strongest: 'si', weakestViolated: null },
      { strongest: null, weakestViolated: null },
    ]) {
      const { message, hint } = errorOf(JSON.stringify({ ...good, command, ...summary }))
      expect(message).toContain('a verdict of an earlier isobar')
      expect(hint).toBe(`make it anew: ${command} --json`)
    }
  })

  it('says where a verdict is damaged, whatever is damaged', () => {
    const text = JSON.stringify(good)
    expect(errorOf(text.slice(0, text.length / 2)).message).toContain('cut short')
    let found = 0
    // Each value replaced by one of no type that may stand there, one at a time.
    const places = [...text.matchAll(/"(\w+)":(?=["\d[{tfn])/g)]
    for (const place of places) {
      for (const each of spoil(JSON.parse(text), place[1]!)) {
        const error = errorOf(JSON.stringify(each))
        expect(error.code).toBe('not-a-verdict')
        found++
      }
    }
    expect(found).toBeGreaterThan(100)
  })
})

/** Copies of the verdict with the first field of that name, at each depth, made an odd value. */
function* spoil(verdict: Record<string, unknown>, name: string): Generator<unknown> {
  const pending: Record<string, unknown>[] = [verdict]
  for (const part of pending) {
    for (const [field, value] of Object.entries(part)) {
      if (field === name && !('parse' in part)) {
        part[field] = { odd: 'x' }
        yield verdict
        part[field] = value
        return
      }
      if (typeof value === 'object' && value !== null) {
        pending.push(value as Record<string, unknown>)
      }
    }
  }
}
