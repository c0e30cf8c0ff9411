// The account the server runs under. PostgreSQL refuses to run as root; there it gets the account
// `nobody`. Anyone else runs it as themselves.

import { execFileSync } from 'node:child_process'
import { chownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseError } from '../../base/errors.ts'
import { OTHER_TARGETS } from './binaries.ts'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Whose account the server must take, or null for that of this process. */
export function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null
  const idOf = (flag: string) =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8', stdio: 'pipe' }).trim())
  try {
    return { uid: idOf('-u'), gid: idOf('-g') }
  } catch {
    throw new DatabaseError(
      'the embedded server does not run as root, and there is no account "nobody" for it',
      `run isobar as another user, or ${OTHER_TARGETS}`,
    )
  }
}

export function giveTo(account: Account | null, path: string): void {
  if (account) chownSync(path, account.uid, account.gid)
}

/** As giveTo, with everything below the directory. */
export function giveAllTo(account: Account | null, directory: string): void {
  if (!account) return
  giveTo(account, directory)
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    giveTo(account, join(directory, name))
  }
}
