// The table of targets, which `run`, `doctor`, help and documentation share. Main function:
// parseTarget.

import { UsageError } from '../base/errors.ts'
import { findMeant } from '../base/slips.ts'
import { DUCKDB } from './duckdb/target.ts'
import { EMBEDDED } from './embedded/target.ts'
import { ETCD } from './etcd/target.ts'
import { FIREBIRD } from './firebird/target.ts'
import { MYSQL } from './mysql/target.ts'
import { POSTGRES } from './postgres/target.ts'
import { REDIS } from './redis/target.ts'
import { SIM } from './sim/target.ts'
import { SQLITE } from './sqlite/target.ts'
import type { Target, TargetKind } from './target.ts'
import { TURSO } from './turso/target.ts'

export const TARGETS: readonly TargetKind[] = [
  EMBEDDED,
  POSTGRES,
  MYSQL,
  FIREBIRD,
  REDIS,
  ETCD,
  SQLITE,
  TURSO,
  DUCKDB,
  SIM,
]

/** Parses a target; nothing is opened yet. Throws UsageError. */
export function parseTarget(
  text: string,
  environment: Record<string, string | undefined> = {},
  password?: string,
): Target {
  const kind = TARGETS.find(({ pattern }) => pattern.test(text))
  if (kind) return kind.parse(text, { environment, password })
  // Shown only if it cannot hold a password.
  const shown = /^[\w.+-]{1,40}$/.test(text) ? ` "${text}"` : ''
  const forms = TARGETS.map(({ form }) => form)
  const begun = (form: string) => /^[a-z]+/.exec(form)?.[0] ?? ''
  const word = findMeant(begun(text.toLowerCase()), forms.map(begun))
  // Whole: who wrote the word right has left out what comes behind it.
  const meant = word && forms.find((form) => begun(form) === word)!
  const known = `there are ${forms.join(', ')}`
  const hint = meant === null ? known : `did you mean ${meant}? ${known}`
  throw new UsageError(`unknown target${shown}`, hint)
}
