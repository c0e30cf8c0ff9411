// A change to how an application uses the database, made from outside for a race or two: every
// transaction at SERIALIZABLE, tried again when it is refused, or FOR UPDATE behind a SELECT. What
// was changed on the pool is put back. Main functions: serializable, forUpdate.

import type { Hooks } from '../observe/hooks.ts'
import { wordsOf } from '../observe/words.ts'
import { codesOf } from './error-code.ts'
import type { Actor } from './play.ts'
import { type QueryClient, type RacePool, withAll } from './pool.ts'

export interface Treatment {
  /** In the words of a report. */
  readonly name: string
  /** How often an actor was run again because the database refused it. */
  readonly retries: () => number
  /** How often an actor was told that what it wanted is taken. */
  readonly refusals: () => number
  readonly actor: (actor: Actor, name: string) => Actor
  /** Changes the pool; what it returns puts it back. */
  readonly begin: (pool: RacePool) => Promise<() => Promise<void>>
  /** What is asked for in place of a statement. */
  readonly rewrite: Hooks['rewrite'] | null
  /** Whether actors roll back what they began, and nobody goes by what was read there. */
  readonly dropsAttempts: boolean
  /** Hears what became of each statement. */
  readonly after: Hooks['after'] | null
}

const REFUSALS = new Set(['40001', '40P01'])
/** Nobody is refused more often than that by others who come to an end. */
const MAX_RETRIES = 20

/**
 * Runs an actor again, as a whole, as long as the database refuses it.
 * @param isLate whether it must be run again, however it ended
 */
export function retrying(own: Actor, isLate: () => boolean, count: () => void = () => {}): Actor {
  return async () => {
    for (let tries = 0; ; tries++) {
      try {
        const result = await own()
        if (tries === MAX_RETRIES || !isLate()) return result
      } catch (error) {
        const isRefused = isLate() || codesOf(error).some((code) => REFUSALS.has(code))
        if (tries === MAX_RETRIES || !isRefused) throw error
      }
      count()
    }
  }
}

export function serializable(): Treatment {
  let retries = 0
  return {
    name: 'SERIALIZABLE, and trying again when the database refuses',
    retries: () => retries,
    refusals: () => 0,
    actor: (own) =>
      retrying(
        own,
        () => false,
        () => retries++,
      ),
    begin: async (pool) => {
      const levels = new Map<QueryClient, string>() // connection -> what it had before
      const set = (client: QueryClient, level: string) =>
        client.query(`SET default_transaction_isolation = '${level}'`)
      const setLater = (client: QueryClient) => {
        set(client, 'serializable').catch(() => {}) // the statement behind it fails, and says why
      }
      pool.on('connect', setLater)
      await withAll(pool, async (client) => {
        const { rows } = await client.query('SHOW default_transaction_isolation')
        levels.set(client, String(rows[0]!['default_transaction_isolation']))
        await set(client, 'serializable')
      })
      return async () => {
        pool.removeListener('connect', setLater)
        await withAll(pool, (client) => {
          const level = levels.get(client)
          if (level !== undefined) return set(client, level)
          return client.query('RESET default_transaction_isolation')
        })
      }
    },
    rewrite: null,
    after: null,
    dropsAttempts: false,
  }
}

/** @param statement a SELECT of the application's */
export function forUpdate(statement: string): Treatment {
  // Before a semicolon, and not inside of a comment.
  const last = wordsOf(statement)?.findLast(({ value }) => value !== ';')
  const locked = `${statement.slice(0, last?.end)} FOR UPDATE`
  return {
    name: `FOR UPDATE behind ${statement.replace(/\s+/g, ' ').trim()}`,
    retries: () => 0,
    refusals: () => 0,
    actor: (own) => own,
    begin: async () => async () => {},
    rewrite: (text) => (text === statement ? locked : text),
    after: null,
    dropsAttempts: false,
  }
}
