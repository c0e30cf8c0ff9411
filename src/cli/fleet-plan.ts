// A plan from its file, with the histories that it names, held to what is possible before anything
// is started. Main function: loadPlan.

import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import { InputError } from '../base/errors.ts'
import type { NightPlan } from '../fleet/plan.ts'
import { expectPossiblePlan } from '../fleet/possible.ts'
import { readPlan } from '../fleet/read-plan.ts'
import { fileError } from '../formats/open.ts'
import { findHistories } from './paths.ts'

/** Throws InputError. */
export function loadPlan(path: string): { plan: NightPlan; files: string[] } {
  return atPath(path, () => {
    const name = basename(path, extname(path))
    const plan = readPlan(readText(path), name)
    expectPossiblePlan(plan)
    return {
      plan,
      files: plan.histories.flatMap(({ value, place }) => filesOf(path, value, place)),
    }
  })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fileError(error)
  }
}

function filesOf(plan: string, named: string, place: InputError['place']): string[] {
  const root = resolve(dirname(plan), named)
  const files: string[] = []
  for (const { path, error } of findHistories([root])) {
    if (error || !statSync(path, { throwIfNoEntry: false })?.isFile()) {
      const what = error?.message ?? 'no file, and a history of several files is not for a fleet'
      throw new InputError('bad-plan', `${path}: ${what}`, place, 'isobar convert makes one of it')
    }
    files.push(path)
  }
  if (files.length > 0) return files
  throw new InputError('bad-plan', `there are no histories in ${named}`, place)
}

function atPath<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof InputError) error.path ??= path
    throw error
  }
}
