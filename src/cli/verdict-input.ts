// Reads the verdict file that a command works on. Main function: readVerdicts, chooseVerdict.

import { readFileSync } from 'node:fs'
import { InputError, UsageError } from '../base/errors.ts'
import { fileError } from '../formats/open.ts'
import { type FoundVerdict, parseVerdicts } from '../verdict/parse-file.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'

/** Every verdict of a file; `-` is standard input. */
export function readVerdicts(path: string): Promise<FoundVerdict[]> {
  return atPath(path, () => parseVerdicts(readText(path)))
}

/** Errors about a verdict name its file. */
export async function atPath<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InputError && error.code.endsWith('-verdict')) error.path ??= path
    throw error
  }
}

/** The only one, or the one on that line. */
export function chooseVerdict(found: readonly FoundVerdict[], line?: string): VerdictJson {
  const lines = found.map((each) => each.line).join(', ')
  if (line === undefined) {
    if (found.length === 1) return found[0]!.verdict
    throw new UsageError(`the file holds ${found.length} verdicts`, `choose one: --line ${lines}`)
  }
  const chosen = found.find((each) => String(each.line) === line)
  if (chosen) return chosen.verdict
  throw new UsageError(`there is no verdict on line ${line}`, `there are some on ${lines}`)
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const told = fileError(error)
    told.path ??= path
    throw told
  }
}
