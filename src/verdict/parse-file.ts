// Reads verdict files. Whatever is damaged, of another kind or of another version is turned away
// here, with the place that is wrong and what to do. Main function: parseVerdicts.

import { InputError } from '../base/errors.ts'
import { parseExact } from '../base/json.ts'
import { FILE_VERSION } from './file-version.ts'
import { describe, findProblem, isObject } from './shape.ts'
import { VERDICT, type VerdictJson } from './verdict-file.ts'

/** A verdict, and the line of the file it stands on. */
export interface FoundVerdict {
  line: number
  verdict: VerdictJson
}

const HINT = 'isobar check HISTORY --json > verdict.json writes one'

/** The verdicts in a text that `check --json` wrote: one a line, or one over all lines. */
export function parseVerdicts(text: string): FoundVerdict[] {
  const whole = text.trim()
  if (whole === '') throw new InputError('not-a-verdict', 'the file is empty', null, HINT)
  const found: FoundVerdict[] = []
  const lines = whole.startsWith('{') && !isObjectPerLine(whole) ? [text] : text.split('\n')
  lines.forEach((line, i) => {
    if (line.trim() === '') return
    const verdict = readVerdict(line, i + 1)
    if (verdict) found.push({ line: i + 1, verdict })
  })
  if (found.length === 0) {
    throw new InputError('not-a-verdict', 'the file holds no verdict of a history', null, HINT)
  }
  return found
}

/** Told by the first line: a whole object on it means that every line holds one. */
function isObjectPerLine(text: string): boolean {
  const end = text.indexOf('\n')
  return end < 0 || text.slice(0, end).trimEnd().endsWith('}')
}

/** The verdict on one line; null for the closing line about a directory. */
function readVerdict(text: string, line: number): VerdictJson | null {
  const fail = (message: string, hint: string | null = HINT): never => {
    throw new InputError('not-a-verdict', message, { line, column: 1 }, hint)
  }
  let value: unknown
  try {
    value = parseExact(text)
  } catch {
    return fail('this is not JSON, or it is cut short')
  }
  if (isObject(value) && 'isobarCertificate' in value) {
    return fail(
      'this is a certificate of an earlier isobar: today the verdict file is the certificate',
      'make it anew: isobar check HISTORY --certificate FILE, with the levels that it was made for',
    )
  }
  if (!isObject(value) || !('isobar' in value)) return fail('this is not a verdict of isobar')
  const isVerdict = ['results', 'summary', 'error', 'taps'].some((name) => name in value)
  if (!isVerdict || 'ops' in value) return fail('this is not a verdict of isobar')
  const version = value['isobar']
  if (version !== FILE_VERSION) {
    const command = value['command']
    const isEarlier = version === 1
    return fail(
      `this verdict has version ${describe(version)}${isEarlier ? ', of an earlier isobar' : ''}: this isobar reads version ${FILE_VERSION}`,
      isEarlier
        ? `make it anew: ${typeof command === 'string' ? command : 'isobar check HISTORY'} --json`
        : 'use the isobar that wrote it, or a later one',
    )
  }
  if ('summary' in value) return null
  if (isObject(value['error'])) {
    return fail(
      `no verdict: the history was bad input: ${describe(value['error']['message'])}`,
      null,
    )
  }
  if ('taps' in value) return fail('this judges patterns, not levels', 'use check without --tap')
  if (['strongest', 'weakestViolated'].some((name) => isOneLevel(value[name]))) {
    const command = typeof value['command'] === 'string' ? value['command'] : 'isobar check HISTORY'
    return fail(
      'this is a verdict of an earlier isobar, which told one strongest level: today there may be several',
      `make it anew: ${command} --json`,
    )
  }
  const problem = findProblem(value, VERDICT)
  return problem === null ? (value as unknown as VerdictJson) : fail(`damaged verdict: ${problem}`)
}

/** A level, or null for none. */
function isOneLevel(told: unknown): boolean {
  return told === null || typeof told === 'string'
}
