// Databases that live in a file and run in this process: `sqlite:FILE?parameter=value`. A file that
// a run has made goes when the run ends; one that was there stays, without the run's table.

import { existsSync, rmSync, statSync } from 'node:fs'
import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'

export interface FilePlace {
  readonly path: string
  readonly parameters: URLSearchParams
}

/** @param form how such a target is written, for errors */
export function parseFilePlace(
  text: string,
  form: string,
  known: Readonly<Record<string, readonly string[]>>,
): FilePlace {
  const [, path = '', query = ''] = /^\w+:(?:\/\/(?=\/))?([^?]*)\??(.*)$/s.exec(text) ?? []
  if (path === '') throw new UsageError('the target names no file', `write it as ${form}`)
  const parameters = new URLSearchParams(query)
  for (const [name, value] of parameters) {
    const values = known[name]
    if (values === undefined) {
      const names = Object.keys(known)
      const hint = names.length === 0 ? `write it as ${form}` : hintFor(name, names)
      throw new UsageError(`"${name}" is not understood behind the name of a file`, hint)
    }
    if (!values.includes(value)) {
      throw new UsageError(`unknown ${name} "${value}"`, hintFor(value, values))
    }
  }
  return { path, parameters }
}

/** Whether there is something in the file, that is, whether it is not ours to remove. */
export function holdsSomething(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0
}

/** Removes a database's file with those that stand beside it. */
export function removeFiles(path: string, endings: readonly string[]): void {
  for (const ending of ['', ...endings]) rmSync(path + ending, { force: true })
}

/** Where in its file a database is, to be shown. */
export function showFile(scheme: string, path: string): string {
  return `${scheme}:${path}`
}
