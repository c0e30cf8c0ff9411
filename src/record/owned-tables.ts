// Tables in a file whose definitions say that they are ours, and of which process, for databases
// that have no comments on tables: by a constraint that always holds. What a killed run left, the
// next one drops; what is not ours is left alone. Main functions: ownMark, tablesLeft.

import { DatabaseError } from '../base/errors.ts'
import { MARK, TABLE } from './registers.ts'

/** Names and definitions of tables that may be ours. */
export const OWNED_TABLES =
  "SELECT name, sql FROM sqlite_master WHERE name LIKE 'isobar!_%' ESCAPE '!' AND type = 'table'"

/** What stands behind the columns of a table of ours. */
export function ownMark(): string {
  return `, CHECK ('${MARK}, by process ${process.pid}' <> '')`
}

/**
 * Which of these tables runs have left behind that were killed. Throws DatabaseError if another run
 * goes on, or there is a table of our name that is not ours.
 * @param found what OWNED_TABLES returned
 */
export function tablesLeft(found: readonly (readonly unknown[])[]): string[] {
  const left: string[] = []
  for (const [name, definition] of found) {
    const owner = Number(new RegExp(`${MARK}, by process (\\d+)`).exec(String(definition))?.[1])
    if (Number.isNaN(owner) && name !== TABLE) continue
    if (Number.isNaN(owner)) {
      throw new DatabaseError(
        `there is a table ${TABLE} already that isobar did not make; nothing was changed`,
        'rename it, or name another file',
      )
    }
    if (isRunning(owner)) {
      throw new DatabaseError(
        'another run uses this database',
        'wait for its end, or give each run a file of its own',
      )
    }
    left.push(String(name))
  }
  return left
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}
